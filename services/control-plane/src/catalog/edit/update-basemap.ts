import { toAdminBasemap } from '@gateway/catalog/basemap.js'
import { adminBasemapSchema, basemapPatchSchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, setBasemapWithdrawn, setCachePolicy } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import { commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { byCode, CONFIRMED, WITHDRAWN } from './route-parts.js'

/** Withdraws and restores a basemap, and sets who may keep its tiles. */
export function updateBasemapRoute(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.patch(
    '/api/v1/admin/basemaps/:code',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'updateBasemap',
        summary: 'Withdraw or restore a basemap, or set how caches may keep its tiles',
        description:
          `Fields that are left out stay. ${WITHDRAWN} \`cache_policy\` is the \`Cache-Control\` of its tiles: \`interface\` (what the interface, ` +
          'TILE_CACHE_CONTROL and CURRENT_CACHE_CONTROL say), `private` (`private, max-age=31536000, immutable`; `private, no-cache` where the ' +
          'address names no fixed version) or `shared` with `s_maxage` (`public, max-age=31536000, s-maxage=..., immutable`; ' +
          '`public, max-age=0, s-maxage=..., must-revalidate` where it names none). What caches have kept before stays there, unless a target of ' +
          `kind \`purge\` makes them forget it. ${CONFIRMED}`,
        params: byCode,
        body: basemapPatchSchema,
        response: { 200: adminBasemapSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code }, body, admin }, reply) => {
      const { result, ...acknowledged } = await commitAndConfirm(ctx, edges, async (tx) => {
        const basemap = await readBasemap(tx, code)
        if (basemap === null) return { result: null, changes: [] }
        await update(tx, basemap, body, admin)
        return { result: await readBasemap(tx, code), changes: [{ kind: 'basemap', key: code }] }
      })
      if (result === null) return sendRefusal(reply, refuse('not_found', 'no such basemap'))
      return { ...toAdminBasemap(result), ...acknowledged }
    },
  )
}

async function update(
  tx: Transaction,
  { code, name, cachePolicy, sharedMaxAge, withdrawn: wasWithdrawn }: StoredBasemap,
  { withdrawn, cache_policy, s_maxage }: z.output<typeof basemapPatchSchema>,
  admin: AdminIdentity,
): Promise<void> {
  const audit = (action: string, detail: Record<string, unknown>) =>
    insertAudit(tx, { ...admin, action, subject: code, detail: { name, ...detail } })
  if (cache_policy !== undefined) {
    await setCachePolicy(tx, code, cache_policy, s_maxage ?? null)
    const before = { cache_policy: cachePolicy, s_maxage: sharedMaxAge }
    await audit('basemap.cache-policy', { before, after: { cache_policy, s_maxage } })
  }
  if (withdrawn !== undefined) {
    await setBasemapWithdrawn(tx, code, withdrawn)
    await audit(withdrawn ? 'basemap.withdraw' : 'basemap.restore', {
      before: { withdrawn: wasWithdrawn },
      after: { withdrawn },
    })
  }
}
