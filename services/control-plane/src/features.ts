import { readLayerSources } from '@gateway/store/layer-sources.js'
import { auditRoutes } from './audit/routes.js'
import type { BackgroundLoop } from './background.js'
import { basemapRoutes } from './basemaps/routes.js'
import { registerOpenCors } from './catalog/cors.js'
import { catalogRoutes } from './catalog/routes.js'
import { registerConsole } from './console/routes.js'
import type { ControlContext } from './context.js'
import { dashboardRoutes } from './dashboard/routes.js'
import type { DashboardProviders } from './dashboard/sections.js'
import { deliveryLoops } from './deliveries/background.js'
import { KnownEdges } from './edges/known-edges.js'
import { edgeRoutes } from './edges/routes.js'
import { eventRoutes } from './events/routes.js'
import { healthRoutes } from './health/routes.js'
import { housekeeping } from './housekeeping/background.js'
import type { App } from './http/app-type.js'
import { importRoutes } from './imports/routes.js'
import { registerOpenApi } from './openapi/register.js'
import { recentPushes } from './pushes/recent.js'
import { pushRoutes } from './pushes/routes.js'
import { scanLoops } from './scans/background.js'
import { scanRoutes } from './scans/routes.js'
import { createServiceGate } from './service-access/token-gate.js'
import { sliceAdminRoutes } from './slicing/admin-routes.js'
import { slicingLoops } from './slicing/background.js'
import { sliceRoutes } from './slicing/routes.js'
import { systemRoutes } from './system/routes.js'
import { targetRoutes } from './targets/routes.js'
import { tokenRoutes } from './tokens/routes.js'
import { vectorRoutes } from './vectors/routes.js'

/** Every feature that answers requests, all on the one instance, so that its hooks hold for all of them. */
export async function registerFeatures(app: App, ctx: ControlContext): Promise<void> {
  const edges = new KnownEdges(ctx)
  app.addHook('onListen', async () => void edges.watch(ctx.shutdown))
  await registerOpenApi(app, ctx)
  registerOpenCors(app)
  const gate = createServiceGate(app, ctx)
  systemRoutes(app, ctx)
  scanRoutes(app, ctx)
  basemapRoutes(app, ctx)
  vectorRoutes(app, ctx)
  healthRoutes(app, ctx)
  tokenRoutes(app, ctx, edges)
  targetRoutes(app, ctx)
  pushRoutes(app, ctx)
  edgeRoutes(app, edges)
  auditRoutes(app, ctx)
  dashboardRoutes(app, ctx, edges, dashboardProviders(ctx))
  eventRoutes(app, ctx)
  catalogRoutes(app, ctx, gate)
  sliceRoutes(app, ctx, gate)
  sliceAdminRoutes(app, ctx)
  await importRoutes(app, ctx)
  await registerConsole(app, ctx, edges)
}

/** Sections of the dashboard that belong to features of their own. */
function dashboardProviders(ctx: ControlContext): DashboardProviders {
  return {
    pushes: () => recentPushes(ctx.sql),
    layers: () => readLayerSources(ctx.sql, null),
  }
}

/** Every feature that works in the background; main starts them once the process listens. */
export const BACKGROUND_LOOPS: readonly BackgroundLoop[] = [
  ...scanLoops,
  ...deliveryLoops,
  ...slicingLoops,
  housekeeping,
]
