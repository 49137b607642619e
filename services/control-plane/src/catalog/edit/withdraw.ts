import { toAdminVersion } from '@gateway/catalog/basemap.js'
import { adminBasemapVersionSchema, withdrawBodySchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, setVersionWithdrawn } from '@gateway/store/basemaps.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { byVersion, CONFIRMED, WITHDRAWN } from './route-parts.js'

/** Withdraws versions from their readers, and restores them. */
export function withdrawRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.patch(
    '/api/v1/admin/basemaps/:code/versions/:version',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'setVersionWithdrawn',
        summary: 'Withdraw or restore a version of a basemap',
        description:
          `${WITHDRAWN} ${CONFIRMED} While the default version is withdrawn, \`current\` means the highest version that is available and ` +
          'not withdrawn.',
        params: byVersion,
        body: withdrawBodySchema,
        response: { 200: adminBasemapVersionSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code, version }, body: { withdrawn }, admin }, reply) => {
      const { result, ...acknowledged } = await commitAndConfirm(ctx, edges, async (tx) => {
        if (!(await setVersionWithdrawn(tx, code, version, withdrawn))) return { result: null, changes: [] }
        const basemap = await readBasemap(tx, code)
        const action = withdrawn ? 'version.withdraw' : 'version.restore'
        await insertAudit(tx, { ...admin, action, subject: code, detail: { name: basemap?.name, version } })
        const stored = basemap?.versions.find((one) => one.version === version) ?? null
        return { result: stored, changes: [{ kind: 'basemap', key: code }] }
      })
      if (result === null) return sendRefusal(reply, refuse('not_found', 'no such version'))
      return { ...toAdminVersion(result), ...acknowledged }
    },
  )
}
