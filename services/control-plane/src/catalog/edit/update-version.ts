import {
  adminBasemapVersionSchema,
  OVERRIDABLE,
  type VersionOverrides,
  versionPatchSchema,
} from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { rowOrderOf } from '@gateway/contracts/version-overrides.js'
import { insertAudit } from '@gateway/store/audit.js'
import {
  asScanned,
  readBasemap,
  type StoredBasemap,
  type StoredVersion,
  setVersionOverrides,
  setVersionWithdrawn,
} from '@gateway/store/basemaps.js'
import { toAdminVersion } from '@gateway/store/catalog/basemap.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_VERSION, sendRefusal } from '../../platform/http/refusal.js'
import {
  byVersion,
  type CatalogChange,
  CONFIRMED,
  commitItem,
  readVersion,
  versionOf,
  WITHDRAWN,
} from './route-parts.js'

type Patch = z.output<typeof versionPatchSchema>
const HELD = refuse('conflict', coded('version_held'))

/** Withdraws and restores a version, and sets values in place of the scan's. */
export function updateVersionRoute(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.patch(
    '/api/v1/admin/basemaps/:code/versions/:version',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'updateBasemapVersion',
        summary: 'Withdraw or restore a version of a basemap, or override what the scan found',
        description:
          `Omitted fields keep their values. ${WITHDRAWN} While the default version is withdrawn, \`current\` means the highest version that is ` +
          'available and not withdrawn. Every other field overrides the value that the scan found, and `null` returns the field to that value. ' +
          'Overrides survive scans, `overrides` lists them, and `scanned` has the values of the scan. The revision of the version increases, ' +
          'so caches keep no tile of the old place. No file of the tile set changes. `storage` says how rows are counted in a folder or an ' +
          'MBTiles archive: `xyz` from the north, `tms` from the south. An MBTiles archive keeps the storage `mbtiles` in the response. Bounds ' +
          `that the scan computed from tiles move with \`storage\` and \`tile_matrix_set\`; bounds from metadata do not. ${CONFIRMED}`,
        params: byVersion,
        body: versionPatchSchema,
        response: { 200: adminBasemapVersionSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code, version }, body, admin }, reply) => {
      const change = async (tx: Transaction): Promise<CatalogChange> => {
        const basemap = await readBasemap(tx, code)
        const before = versionOf(basemap, version)
        const refused =
          before === null ? NO_SUCH_VERSION : await update(tx, basemap as StoredBasemap, before, body, admin)
        return refused ?? { ok: true, changes: [{ kind: 'basemap', key: code }] }
      }
      const outcome = await commitItem(ctx, edges, change, (tx) => readVersion(tx, code, version), toAdminVersion)
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
}

/** Returns null on success. */
async function update(
  tx: Transaction,
  { code, name }: StoredBasemap,
  stored: StoredVersion,
  { withdrawn, ...patch }: Patch,
  admin: AdminIdentity,
): Promise<Refusal | null> {
  const { version } = stored
  if (withdrawn !== undefined && (stored.review ?? null) !== null) return HELD
  const audit = (action: string, before: object, after: object) =>
    insertAudit(tx, { ...admin, action, subject: code, detail: { name, version, before, after } })
  if (Object.values(patch).some((value) => value !== undefined)) {
    const overrides = patched(stored.overrides, patch)
    const refused = conflictIn(asScanned(stored), overrides)
    if (refused !== null) return refused
    await setVersionOverrides(tx, code, version, overrides)
    await audit('version.override', { overrides: stored.overrides }, { overrides })
  }
  if (withdrawn !== undefined) {
    await setVersionWithdrawn(tx, code, version, withdrawn)
    await audit(withdrawn ? 'version.withdraw' : 'version.restore', { withdrawn: stored.withdrawn }, { withdrawn })
  }
  return null
}

function patched(known: VersionOverrides, patch: Omit<Patch, 'withdrawn'>): VersionOverrides {
  const fields = OVERRIDABLE.flatMap((field) => {
    const value = patch[field] === undefined ? known[field] : patch[field]
    return value === null || value === undefined ? [] : [[field, value]]
  })
  return Object.fromEntries(fields)
}

/** Returns the reason why overrides cannot be applied to the values of the scan, or null. */
function conflictIn(scanned: StoredVersion, overrides: VersionOverrides): Refusal | null {
  if (overrides.storage !== undefined && rowOrderOf(scanned) === null) {
    return refuse('invalid_parameters', coded('archive_without_row_order', { storage: scanned.storage }))
  }
  const min = overrides.min_zoom ?? scanned.minZoom
  const max = overrides.max_zoom ?? scanned.maxZoom
  if (min <= max) return null
  const from = (isSet: boolean) => (isSet ? '' : ' (as scanned)')
  const which = `min_zoom ${min}${from(overrides.min_zoom !== undefined)} is above max_zoom ${max}${from(overrides.max_zoom !== undefined)}`
  return refuse('invalid_parameters', coded('fields_set_both', { fields: which }))
}
