import { adminBasemapSchema, basemapPatchSchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, setBasemapNotes, setCachePolicy } from '@gateway/store/basemaps.js'
import { toAdminBasemap } from '@gateway/store/catalog/basemap.js'
import type { Transaction } from '@gateway/store/connect.js'
import { setWithdrawn } from '@gateway/store/sql.js'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, sendRefusal } from '../../platform/http/refusal.js'
import { byCode, type CatalogChange, CONFIRMED, commitItem, WITHDRAWN } from './route-parts.js'

type Patch = z.output<typeof basemapPatchSchema>

/** Withdraws and restores a basemap, and sets its cache policy and the notes of operators. */
export function updateBasemapRoute(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.patch(
    '/api/v1/admin/basemaps/:code',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'updateBasemap',
        summary: 'Withdraw, restore or describe a basemap, or set how caches may keep its tiles',
        description:
          `Omitted fields keep their values. ${WITHDRAWN} \`cache_policy\` sets the \`Cache-Control\` of the tiles. \`interface\` uses the defaults ` +
          'of the interface, TILE_CACHE_CONTROL and CURRENT_CACHE_CONTROL. `private` means `private, max-age=31536000, immutable`, or ' +
          '`private, no-cache` if the address names no fixed version. `shared` needs `s_maxage` and means `public, max-age=31536000, ' +
          's-maxage=..., immutable`, or `public, max-age=0, s-maxage=..., must-revalidate` if the address names no fixed version. Tiles that ' +
          'caches hold already stay there, unless a target of kind `purge` removes them. `name` replaces the name that scans find, and scans ' +
          'do not change it; `null` returns to the name of the scan. `description`, `tags` and `owner` are for operators: the admin list ' +
          `searches and filters by them, and readers do not see them. ${CONFIRMED}`,
        params: byCode,
        body: basemapPatchSchema,
        response: { 200: adminBasemapSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code }, body, admin }, reply) => {
      const change = (tx: Transaction) => updateBasemap(tx, code, body, admin)
      const outcome = await commitItem(ctx, edges, change, (tx) => readBasemap(tx, code), toAdminBasemap)
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
}

/** Changes one basemap within a transaction, with its audit entries. */
export async function updateBasemap(
  tx: Transaction,
  code: string,
  patch: Patch,
  admin: AdminIdentity,
): Promise<CatalogChange> {
  const basemap = await readBasemap(tx, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  await update(tx, basemap, patch, admin)
  return { ok: true, changes: [{ kind: 'basemap', key: code }] }
}

async function update(
  tx: Transaction,
  stored: StoredBasemap,
  { withdrawn, cache_policy, s_maxage, ...written }: Patch,
  admin: AdminIdentity,
): Promise<void> {
  const { code, name, cachePolicy, sharedMaxAge, withdrawn: wasWithdrawn } = stored
  const audit = (action: string, detail: Record<string, unknown>) =>
    insertAudit(tx, { ...admin, action, subject: code, detail: { name, ...detail } })
  if (cache_policy !== undefined) {
    await setCachePolicy(tx, code, cache_policy, s_maxage ?? null)
    const before = { cache_policy: cachePolicy, s_maxage: sharedMaxAge }
    await audit('basemap.cache-policy', { before, after: { cache_policy, s_maxage } })
  }
  if (Object.values(written).some((value) => value !== undefined)) {
    const before = { name: stored.setName, description: stored.description, tags: stored.tags, owner: stored.owner }
    const after = { ...before, ...onlySet(written) }
    await setBasemapNotes(tx, code, after)
    await audit('basemap.describe', { before, after })
  }
  if (withdrawn !== undefined) {
    await setWithdrawn(tx, 'basemaps', code, withdrawn)
    await audit(withdrawn ? 'basemap.withdraw' : 'basemap.restore', {
      before: { withdrawn: wasWithdrawn },
      after: { withdrawn },
    })
  }
}

function onlySet<T extends object>(fields: T): { [F in keyof T]?: Exclude<T[F], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
