import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { adminVectorSchema, vectorPatchBodySchema } from '@gateway/contracts/vector.js'
import { WITH_ENCODING } from '@gateway/contracts/without-schemas.js'
import { insertAudit } from '@gateway/store/audit.js'
import { toAdminVector } from '@gateway/store/catalog/vector.js'
import type { Transaction } from '@gateway/store/connect.js'
import { setWithdrawn } from '@gateway/store/sql.js'
import { endBuild, setTileWishes } from '@gateway/store/vector-builds.js'
import { readVector, type StoredVector, setVectorEncoding } from '@gateway/store/vectors.js'
import { knownEncoding } from '@gateway/vectors/formats/encoding.js'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_VECTOR, sendRefusal } from '../../platform/http/refusal.js'
import { byCode, type CatalogChange, CONFIRMED, commitItem, WITHDRAWN } from './route-parts.js'

const OWN_ENCODING = refuse('invalid_parameters', coded('encoding_only_of_shapefile'))
const ZOOMS_CROSSED = refuse('invalid_parameters', coded('vector_zooms_crossed'))
const UNKNOWN_ENCODING = refuse('invalid_parameters', coded('encoding_unknown'))

type Patch = z.output<typeof vectorPatchBodySchema>

/** Withdraws and restores a vector, and sets the encoding of its texts. */
export function updateVectorRoute(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.patch(
    '/api/v1/admin/vectors/:code',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'updateVector',
        summary: 'Withdraw or restore a vector, or set its encoding or its tiles',
        description:
          `Omitted fields keep their values. ${WITHDRAWN} The \`encoding\` decides how the gateway reads texts and names. ` +
          'For a shapefile it also replaces the content of the `.cpg` in the zip download; the stored files do not change. `tile_min_zoom`, `tile_max_zoom`, ' +
          '`tile_fields` and `tiles` decide which vector tiles are built. The present tiles are served until the next ones are ready. ' +
          `${CONFIRMED}`,
        params: byCode,
        body: vectorPatchBodySchema,
        response: { 200: adminVectorSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code }, body, admin }, reply) => {
      const change = (tx: Transaction) => updateVector(tx, code, body, admin)
      const show = (vector: StoredVector) => toAdminVector(vector, ctx.settings.vectorPublicBaseUrl)
      const outcome = await commitItem(ctx, edges, change, (tx) => readVector(tx, code), show)
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
}

/** Changes one vector within a transaction, with its audit entries. */
export async function updateVector(
  tx: Transaction,
  code: string,
  patch: Patch,
  admin: AdminIdentity,
): Promise<CatalogChange> {
  const vector = await readVector(tx, code)
  const refused = vector === null ? NO_SUCH_VECTOR : await update(tx, vector, patch, admin)
  return refused ?? { ok: true, changes: [{ kind: 'vector', key: code }] }
}

/** Returns null on success. */
async function update(
  tx: Transaction,
  { code, name, kind, setEncoding, withdrawn: wasWithdrawn, tiles: before }: StoredVector,
  { withdrawn, encoding: named, tiles, tile_min_zoom: setMin, tile_max_zoom: setMax, tile_fields: setFields }: Patch,
  admin: AdminIdentity,
): Promise<Refusal | null> {
  const audit = (action: string, detail: Record<string, unknown>) =>
    insertAudit(tx, { ...admin, action, subject: code, detail: { name, ...detail } })
  const encoding = named === undefined || named === '' ? null : knownEncoding(named)
  const minZoom = setMin === undefined ? before.setMinZoom : setMin
  const maxZoom = setMax === undefined ? before.setMaxZoom : setMax
  // All checks come before the first write, since a refusal does not roll back the transaction.
  if (named !== undefined && !WITH_ENCODING.has(kind)) return OWN_ENCODING
  if (named !== undefined && named !== '' && encoding === null) return UNKNOWN_ENCODING
  if ((setMin !== undefined || setMax !== undefined) && minZoom !== null && maxZoom !== null && minZoom > maxZoom)
    return ZOOMS_CROSSED
  if (named !== undefined) {
    await setVectorEncoding(tx, code, encoding)
    await audit('vector.encoding', { before: { encoding: setEncoding }, after: { encoding } })
  }
  if (tiles !== undefined || setMin !== undefined || setMax !== undefined || setFields !== undefined) {
    const fields = setFields === undefined ? before.fields : setFields
    await setTileWishes(tx, code, { wanted: tiles, minZoom, maxZoom, fields })
    await audit('vector.tiles', {
      before: {
        tiles: before.wanted,
        tile_min_zoom: before.setMinZoom,
        tile_max_zoom: before.setMaxZoom,
        tile_fields: before.fields,
      },
      after: { tiles: tiles ?? before.wanted, tile_min_zoom: minZoom, tile_max_zoom: maxZoom, tile_fields: fields },
    })
  }
  if (withdrawn !== undefined) {
    await setWithdrawn(tx, 'vectors', code, withdrawn)
    if (withdrawn) await endBuild(tx, code)
    await audit(withdrawn ? 'vector.withdraw' : 'vector.restore', {
      before: { withdrawn: wasWithdrawn },
      after: { withdrawn },
    })
  }
  return null
}
