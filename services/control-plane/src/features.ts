import { readLayerSources } from '@gateway/store/layer-sources.js'
import { switchLoop } from './catalog/edit/default-switch-loop.js'
import { importLeftovers } from './catalog/imports/leftovers.js'
import { catalogRoutes } from './catalog/routes.js'
import { schedules } from './catalog/scans/automatic/schedules.js'
import { watching } from './catalog/scans/automatic/watching.js'
import { initialScans } from './catalog/scans/initial-scans.js'
import { scanQueue } from './catalog/scans/queue.js'
import { deliveryLoop } from './deliveries/loop.js'
import { archiveRoutes } from './exports/archive-routes.js'
import { exportLoop, removeOldExports } from './exports/loop.js'
import { removeUnpublished } from './exports/publish-export.js'
import { exportRoutes } from './exports/routes.js'
import { notificationRoutes } from './notifications/routes.js'
import { notificationPayload, notifications } from './notifications/watch.js'
import { landingRoute } from './operators/landing-page.js'
import { sessionRoutes } from './operators/session-routes.js'
import { signInRoutes } from './operators/sign-in-routes.js'
import type { FindCaller } from './platform/admin-gate/caller.js'
import type { AdminGate } from './platform/admin-gate/gate.js'
import { auditRoutes } from './platform/audit/routes.js'
import { auditHeadPush } from './platform/audit/send-head.js'
import { auditWatch } from './platform/audit/verify.js'
import type { BackgroundLoop } from './platform/background.js'
import type { ControlContext } from './platform/context.js'
import { attestState } from './platform/edges/attest-state.js'
import { KnownEdges } from './platform/edges/known-edges.js'
import { edgeRoutes } from './platform/edges/routes.js'
import { eventRoutes } from './platform/events/routes.js'
import type { App } from './platform/http/app-type.js'
import { registerOpenApi } from './platform/openapi/register.js'
import { createServiceGate } from './platform/service-access/token-gate.js'
import { basemapPayload, eventPayload, purgePayload, recentPushes, vectorPayload } from './pushes/payloads.js'
import { pushRoutes } from './pushes/routes.js'
import { forgetTargetRoute } from './pushes/targets/forget.js'
import { targetRoutes } from './pushes/targets/routes.js'
import { seedLoop } from './seeds/loop.js'
import { seedRoutes } from './seeds/routes.js'
import { signingRoutes } from './signing/routes.js'
import { sliceAdminRoutes } from './slicing/admin-routes.js'
import { callbackPayload } from './slicing/callback.js'
import { pruneLeftRuns, pruneSliceFiles } from './slicing/files-retention.js'
import { slicingLoop } from './slicing/loop.js'
import { sliceRoutes } from './slicing/routes.js'
import { registerConsole } from './system/console/routes.js'
import { dashboardRoutes } from './system/dashboard/routes.js'
import { housekeeping } from './system/housekeeping/housekeeping.js'
import { systemRoutes } from './system/routes.js'
import { usageCellsRoute } from './system/usage/cells-route.js'
import { usageRoutes } from './system/usage/routes.js'
import { tokenRoutes } from './tokens/routes.js'
import { removeOldBuilds, vectorBuildLoop } from './vectors/loop.js'

/** Registers the routes of all features on one instance, so that its hooks apply to all of them. Features meet nowhere else. */
export async function registerFeatures(
  app: App,
  ctx: ControlContext,
  findCaller: FindCaller,
  adminGate: AdminGate,
): Promise<void> {
  const edges = new KnownEdges(ctx)
  app.addHook('onListen', async () => void edges.watch(ctx.shutdown))
  await registerOpenApi(app, ctx)
  const gate = createServiceGate(app, ctx, findCaller)
  systemRoutes(app, ctx)
  landingRoute(app)
  sessionRoutes(app, ctx)
  await signInRoutes(app, ctx, adminGate)
  if (ctx.settings.oidcIssuer !== null) {
    // The client of a provider is loaded only if a provider is configured.
    const { providerRoutes } = await import('./operators/provider-routes.js')
    providerRoutes(app, ctx, adminGate)
  }
  await catalogRoutes(app, ctx, { edges, gate, findCaller })
  tokenRoutes(app, ctx, edges)
  signingRoutes(app, ctx, edges, gate)
  targetRoutes(app, ctx)
  forgetTargetRoute(app, ctx)
  pushRoutes(app, ctx)
  exportRoutes(app, ctx)
  archiveRoutes(app, ctx, gate)
  seedRoutes(app, ctx)
  notificationRoutes(app, ctx)
  sliceRoutes(app, ctx, gate)
  sliceAdminRoutes(app, ctx)
  edgeRoutes(app, edges)
  auditRoutes(app, ctx)
  eventRoutes(app, ctx)
  usageRoutes(app, ctx)
  usageCellsRoute(app, ctx)
  dashboardRoutes(app, ctx, edges, {
    pushes: () => recentPushes(ctx.sql),
    layers: () => readLayerSources(ctx.sql, null),
  })
  await registerConsole(app, ctx, edges)
}

/** The deliveries of all features, each with the builder of what it sends. */
export const deliveries = deliveryLoop({
  basemap_push: basemapPayload,
  vector_push: vectorPayload,
  slice_callback: callbackPayload,
  cache_purge: purgePayload,
  event: eventPayload,
  notification: notificationPayload,
})

/** The background work of all features; main starts it once the process listens. */
export const BACKGROUND_LOOPS: readonly BackgroundLoop[] = [
  attestState,
  initialScans,
  scanQueue,
  schedules,
  watching,
  switchLoop,
  importLeftovers,
  deliveries,
  slicingLoop,
  exportLoop,
  seedLoop,
  vectorBuildLoop,
  auditWatch,
  auditHeadPush,
  notifications,
  housekeeping({
    'logs of slice jobs': ({ sql, settings }) => pruneSliceFiles(sql, settings.dataDir),
    'tiles of cancelled slice jobs': ({ sql, settings }) => pruneLeftRuns(sql, settings.sliceWorkRoot),
    'old exports': removeOldExports,
    'archives of deleted versions': removeUnpublished,
    'old vector builds': removeOldBuilds,
  }),
]
