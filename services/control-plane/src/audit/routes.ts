import { listOf, timestampSchema } from '@gateway/contracts/common.js'
import { listAudit } from '@gateway/store/audit.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { wholeNumber } from '../http/page-query.js'

export const auditEntrySchema = z.object({
  id: z.int(),
  at: timestampSchema,
  actor: z
    .string()
    .describe("the administrator's user name, `token` for ADMIN_TOKEN, `system` for what nobody asked for"),
  address: z.string().describe('where the request came from'),
  action: z.string(),
  subject: z.string().describe('the code or id that was acted upon'),
  detail: z.record(z.string(), z.unknown()),
})

const querySchema = z.object({
  limit: wholeNumber(1, 1000).default(100).describe('entries answered at most'),
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('only entries older than the one of this id'),
})

export function auditRoutes(app: App, { sql }: ControlContext): void {
  app.get(
    '/api/v1/admin/audit',
    {
      schema: {
        summary: 'Administrative changes, newest first',
        description: 'The next page is the one before the smallest id of this one. `total` counts all entries.',
        querystring: querySchema,
        response: { 200: listOf(auditEntrySchema) },
      },
    },
    ({ query }) => listAudit(sql, query.limit, query.before ?? null),
  )
}
