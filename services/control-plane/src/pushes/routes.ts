import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'

export function pushRoutes(_app: App, _ctx: ControlContext): void {}
