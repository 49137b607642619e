import { healthCheckSchema } from '@gateway/contracts/health.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { checkHealth } from './check-catalog.js'
import { HEALTH_CHECK } from './last-check.js'

export function healthRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/health/check',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'runHealthCheck',
        summary: 'Check now that everything in the catalog is where it was found',
        description:
          'Reads of each archive the directory and a tile, of each folder a tile, of each vector the head. What is gone or damaged becomes ' +
          'unavailable, what is back available. What cannot be read now (permissions, a mount that hangs) counts as missing and stays as it ' +
          'is. What is missing, and why, is in the audit and in the log.',
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
