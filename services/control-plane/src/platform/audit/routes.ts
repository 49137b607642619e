import { listQuery, text, wholeNumber } from '@gateway/catalog/list-query.js'
import { listOf, timestampSchema } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { AUDIT_LISTING, listAudit, readAuditEntry } from '@gateway/store/audit.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'

export const auditEntrySchema = z.object({
  id: z.int(),
  at: timestampSchema,
  actor: z
    .string()
    .describe(
      "the administrator's user name, `token` for ADMIN_TOKEN, `system` for changes that the service makes by itself",
    ),
  address: z.string().describe('the address of the client'),
  action: z.string(),
  subject: z.string().describe('the code or id that was acted upon'),
  detail: z.record(z.string(), z.unknown()),
})

const moment = z.iso.datetime({ offset: true })
const querySchema = listQuery(AUDIT_LISTING, {
  actor: text,
  action: text,
  subject: text,
  from: moment.describe('ISO 8601 with a zone; entries of this moment and later'),
  to: moment.describe('ISO 8601 with a zone; entries before this moment'),
}).extend({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('only entries older than the one of this id'),
})

export function auditRoutes(app: App, { sql }: ControlContext): void {
  app.get(
    '/api/v1/admin/audit',
    {
      schema: {
        operationId: 'listAuditEntries',
        summary: 'Administrative changes, newest first',
        description:
          '`before` pages by the smallest id of the page before, so that new entries shift nothing; `total` does not depend on it.',
        querystring: querySchema,
        response: { 200: listOf(auditEntrySchema) },
      },
    },
    ({ query }) => listAudit(sql, query),
  )
  app.get(
    '/api/v1/admin/audit/:id',
    {
      schema: {
        operationId: 'getAuditEntry',
        summary: 'One administrative change',
        description: 'By its number in the audit.',
        params: z.object({ id: z.string() }),
        response: { 200: auditEntrySchema },
      },
    },
    async ({ params }, reply) => {
      const entry = /^\d{1,15}$/.test(params.id) ? await readAuditEntry(sql, Number(params.id)) : null
      return entry ?? sendRefusal(reply, refuse('not_found', 'there is no such entry'))
    },
  )
}
