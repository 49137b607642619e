import { healthCheckSchema } from '@gateway/contracts/health.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { FindCaller } from '../platform/admin-gate/caller.js'
import type { ControlContext } from '../platform/context.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { App } from '../platform/http/app-type.js'
import type { ServiceGate } from '../platform/service-access/token-gate.js'
import { changesRoute } from './changes/routes.js'
import { compareRoutes } from './compare/routes.js'
import { defaultSwitchRoutes } from './edit/default-switch-routes.js'
import { defaultVersionRoute } from './edit/default-version.js'
import { forgetRoutes } from './edit/forget-routes.js'
import { refreshRoutes } from './edit/refresh-version.js'
import { reviewRoutes } from './edit/review-version.js'
import { updateBasemapRoute } from './edit/update-basemap.js'
import { updateVectorRoute } from './edit/update-vector.js'
import { updateVersionRoute } from './edit/update-version.js'
import { checkHealth, HEALTH_CHECK } from './health/check-catalog.js'
import { importRoutes } from './imports/routes.js'
import { uploadRoutes } from './imports/upload-routes.js'
import { adminListRoutes } from './listing/admin-routes.js'
import { registerOpenCors } from './listing/cors.js'
import { detailRoutes } from './listing/detail-routes.js'
import { readerRoutes } from './listing/reader-routes.js'
import { scanRoutes } from './scans/routes.js'
import { sourceRoutes } from './sources/routes.js'
import { storageRoute } from './sources/storage-route.js'
import { styleRoutes } from './styles/routes.js'

interface Wiring {
  readonly edges: KnownEdges
  readonly gate: ServiceGate
  readonly findCaller: FindCaller
}

export async function catalogRoutes(app: App, ctx: ControlContext, { edges, gate, findCaller }: Wiring): Promise<void> {
  registerOpenCors(app)
  readerRoutes(app, ctx, gate)
  changesRoute(app, ctx, gate)
  adminListRoutes(app, ctx, edges)
  detailRoutes(app, ctx)
  compareRoutes(app, ctx)
  sourceRoutes(app, ctx, edges)
  storageRoute(app, ctx)
  scanRoutes(app, ctx)
  defaultVersionRoute(app, ctx)
  defaultSwitchRoutes(app, ctx)
  updateVersionRoute(app, ctx, edges)
  reviewRoutes(app, ctx, edges)
  refreshRoutes(app, ctx, edges)
  updateBasemapRoute(app, ctx, edges)
  updateVectorRoute(app, ctx, edges)
  forgetRoutes(app, ctx, edges)
  healthRoutes(app, ctx)
  await styleRoutes(app, ctx, edges)
  await importRoutes(app, ctx, findCaller)
  await uploadRoutes(app, ctx)
}

function healthRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/health/check',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'runHealthCheck',
        summary: 'Check now that everything in the catalog is where it was found',
        description:
          'The check reads the directory and one tile of each archive, one tile of each folder, and the head of each vector. Missing or ' +
          'damaged items become unavailable, and items that are back become available. An item that cannot be read now (permissions, a mount ' +
          'that hangs) counts as missing, but its state does not change. The audit and the log name each missing item and the reason.',
        response: { 200: healthCheckSchema },
      },
    },
    async ({ admin }) => {
      const { result, missing } = await checkHealth(ctx)
      const detail = { ...result, missing }
      await ctx.sql.begin((tx) => insertAudit(tx, { ...admin, action: HEALTH_CHECK, subject: 'catalog', detail }))
      return result
    },
  )
}
