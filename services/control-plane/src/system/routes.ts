import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'

export function systemRoutes(app: App, _ctx: ControlContext): void {
  app.get('/health', () => ({ status: 'ok' }))
}
