import type { BackgroundLoop } from './background.js'
import { basemapRoutes } from './basemaps/routes.js'
import type { ControlContext } from './context.js'
import { deliveryLoops } from './deliveries/background.js'
import type { App } from './http/app-type.js'
import { pushRoutes } from './pushes/routes.js'
import { scanLoops } from './scans/background.js'
import { scanRoutes } from './scans/routes.js'
import { systemRoutes } from './system/routes.js'
import { targetRoutes } from './targets/routes.js'
import { vectorRoutes } from './vectors/routes.js'

/** Every feature that answers requests. They register synchronously, on the one instance, so that its hooks hold for all of them. */
export function registerFeatures(app: App, ctx: ControlContext): void {
  systemRoutes(app, ctx)
  scanRoutes(app, ctx)
  basemapRoutes(app, ctx)
  vectorRoutes(app, ctx)
  targetRoutes(app, ctx)
  pushRoutes(app, ctx)
}

/** Every feature that works in the background; main starts them once the process listens. */
export const BACKGROUND_LOOPS: readonly BackgroundLoop[] = [...scanLoops, ...deliveryLoops]
