import { adminBasemapVersionSchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { refreshBodySchema } from '@gateway/contracts/service.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, refreshVersion } from '@gateway/store/basemaps.js'
import { toAdminVersion } from '@gateway/store/catalog/basemap.js'
import type { Transaction } from '@gateway/store/connect.js'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_VERSION, sendRefusal } from '../../platform/http/refusal.js'
import { byVersion, type CatalogChange, CONFIRMED, commitItem, readVersion, versionOf } from './route-parts.js'

/** Lets an operator have the tiles of a service asked for again before their time. */
export function refreshRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.post(
    '/api/v1/admin/basemaps/:code/versions/:version/refresh',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'refreshBasemapVersion',
        summary: 'Ask the service of a version for its tiles again',
        description:
          'Only for versions with `storage: upstream`. A tile of the version that edges have kept, within `bounds` and the zooms if they are given, is old ' +
          `from now on: the next request for a tile asks the service whether it has changed. The revision of the version increases. ${CONFIRMED}`,
        params: byVersion,
        body: refreshBodySchema,
        response: { 200: adminBasemapVersionSchema.extend(acknowledgementFields) },
      },
    },
    async ({ params: { code, version }, body, admin }, reply) => {
      const change = async (tx: Transaction): Promise<CatalogChange> => {
        const basemap = await readBasemap(tx, code)
        if (basemap === null || versionOf(basemap, version) === null) return NO_SUCH_VERSION
        const { bounds = null, min_zoom: minZoom = null, max_zoom: maxZoom = null } = body
        if (!(await refreshVersion(tx, code, version, { bounds, minZoom, maxZoom })))
          return refuse('invalid_parameters', coded('not_of_service', { name: code, version }))
        await insertAudit(tx, {
          ...admin,
          action: 'version.refresh',
          subject: `${code}/${version}`,
          detail: { ...body },
        })
        return { ok: true, changes: [{ kind: 'basemap', key: code }] }
      }
      const outcome = await commitItem(ctx, edges, change, (tx) => readVersion(tx, code, version), toAdminVersion)
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
}
