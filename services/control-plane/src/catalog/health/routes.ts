import { healthCheckSchema } from '@gateway/contracts/health.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { checkHealth, HEALTH_CHECK } from './check-catalog.js'

export function healthRoutes(app: App, ctx: ControlContext): void {
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
