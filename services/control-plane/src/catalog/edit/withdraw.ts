import { toAdminVersion } from '@gateway/catalog/basemap.js'
import { adminBasemapVersionSchema, withdrawBodySchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, type StoredVersion, setVersionWithdrawn } from '@gateway/store/basemaps.js'
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
        const before = versionOf(await readBasemap(tx, code), version)
        if (before === null || !(await setVersionWithdrawn(tx, code, version, withdrawn)))
          return { result: null, changes: [] }
        const basemap = await readBasemap(tx, code)
        const change = { before: { withdrawn: before.withdrawn }, after: { withdrawn } }
        const action = withdrawn ? 'version.withdraw' : 'version.restore'
        await insertAudit(tx, { ...admin, action, subject: code, detail: { name: basemap?.name, version, ...change } })
        return { result: versionOf(basemap, version), changes: [{ kind: 'basemap', key: code }] }
      })
      if (result === null) return sendRefusal(reply, refuse('not_found', 'no such version'))
      return { ...toAdminVersion(result), ...acknowledged }
    },
  )
}

function versionOf(basemap: StoredBasemap | null, version: string): StoredVersion | null {
  return basemap?.versions.find((one) => one.version === version) ?? null
}
