import { healthCheckSchema } from '@gateway/contracts/health.js'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { checkHealth } from './check.js'
import { noteHealthCheck } from './last.js'

export function healthRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/health/check',
    {
      config: { mayTakeLong: true },
      schema: {
        summary: 'Check now that everything in the catalog is where it was found',
        description:
          'Marks what is gone unavailable and what is back available. What cannot be looked at (permission, a mount that hangs) counts as ' +
          'missing and stays as it is.',
        response: { 200: healthCheckSchema },
      },
    },
    async ({ admin }) => {
      const result = await checkHealth(ctx)
      await ctx.sql.begin((tx) => noteHealthCheck(tx, admin, result))
      return result
    },
  )
}
