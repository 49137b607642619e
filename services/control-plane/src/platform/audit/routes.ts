import { listOf, timestampSchema } from '@gateway/contracts/common.js'
import { auditEntrySchema } from '@gateway/contracts/console.js'
import { refuse } from '@gateway/contracts/errors.js'
import { instantMs, queryInstantSchema } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import { AUDIT_LISTING, exportAudit, listAudit, readAuditEntry } from '@gateway/store/audit.js'
import { MISMATCH_REASONS } from '@gateway/store/audit-chain.js'
import { listQuery, text, wholeNumber } from '@gateway/store/catalog/list-query.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { EXPORT_FORMATS, exportStream } from './export.js'
import { auditVerifier } from './verify.js'

const verificationSchema = z.object({
  first_mismatch: z
    .object({
      reason: z
        .enum(MISMATCH_REASONS)
        .describe(
          '`altered`: its content or place has changed; `missing`: entries before it have been deleted; `inserted`: no control plane made it; ' +
            '`early`: entries have been deleted that are younger than 400 days',
        ),
      chain_position: z
        .int()
        .nullable()
        .describe('the wrong or empty place in the chain; null: the entry has no place'),
      id: z.int().nullable().describe('null, like the fields below, if the end of the chain is missing'),
      at: timestampSchema.nullable(),
      actor: z.string().nullable(),
      action: z.string().nullable(),
      subject: z.string().nullable(),
    })
    .nullable()
    .describe('the first entry that does not match; null: all entries match'),
  count: z.int().describe('number of matching entries before the first mismatch'),
  head: z
    .string()
    .describe(
      'hex SHA-256 of the last entry; 64 zeros if the chain has no entry. Keep it elsewhere: it reveals a chain that was written again',
    ),
  head_position: z.int(),
  anchor_position: z.int().describe('the last place that retention has deleted; 0: no place'),
  anchor_sha256: z.string().describe('hex SHA-256 of the entry at that place; 64 zeros before the first deletion'),
  anchor_at: timestampSchema.nullable().describe('when that entry was made; null: nothing was deleted'),
})

const moment = queryInstantSchema.transform((instant) => new Date(instantMs(instant) as number).toISOString())
const filters = {
  actor: text,
  action: text,
  subject: text,
  from: moment.describe('ISO 8601, without a zone UTC; entries of this moment and later'),
  to: moment.describe('ISO 8601, without a zone UTC; entries before this moment'),
}
const querySchema = listQuery(AUDIT_LISTING, filters).extend({
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().describe('only entries older than the one of this id'),
})

export function auditRoutes(app: App, ctx: ControlContext): void {
  const { sql } = ctx
  const verify = auditVerifier(ctx)
  app.get(
    '/api/v1/admin/audit',
    {
      schema: {
        operationId: 'listAuditEntries',
        summary: 'List administrative changes, newest first',
        description:
          'For the next page, pass the smallest id of this page as `before`; new entries then shift nothing. `total` does not depend on ' +
          '`before`.',
        querystring: querySchema,
        response: { 200: listOf(auditEntrySchema) },
      },
    },
    ({ query }) => listAudit(sql, query),
  )
  app.get(
    '/api/v1/admin/audit/export',
    {
      schema: {
        operationId: 'exportAudit',
        summary: 'Download administrative changes as a file, newest first',
        description:
          'Returns all matching entries, whatever their number, while they are read. A response that ends early was aborted. `csv` (RFC 4180, ' +
          'UTF-8) has a heading, and `detail` as JSON; an apostrophe precedes each field that a spreadsheet would take for a formula. `ndjson` ' +
          'has one entry in each line.',
        querystring: listQuery(AUDIT_LISTING, filters)
          .omit({ sort: true, limit: true, offset: true })
          .extend({ format: z.enum(EXPORT_FORMATS).default('csv') }),
        response: {
          200: {
            description: 'the entries',
            content: { 'text/csv': { schema: z.unknown() }, 'application/x-ndjson': { schema: z.unknown() } },
          },
        },
      },
    },
    ({ query: { format, ...request } }, reply) => exportStream(reply, format, exportAudit(sql, request)),
  )
  app.get(
    '/api/v1/admin/audit/verify',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'verifyAudit',
        summary: 'Verify that the audit has not been altered',
        description:
          'Each entry has the SHA-256 of the preceding one. The gateway follows the chain from the first entry that is kept to its head. It ' +
          'returns the first entry that does not match: one that was altered, moved or inserted, or that follows a deleted one. If the client ' +
          'disconnects, the check ends.',
        response: { 200: verificationSchema },
      },
    },
    async (_, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort(new Error('the caller has gone')))
      return verify(AbortSignal.any([ctx.shutdown, gone.signal]))
    },
  )
  app.get(
    '/api/v1/admin/audit/:id',
    {
      schema: {
        operationId: 'getAuditEntry',
        summary: 'Get an administrative change',
        description: 'By its number in the audit.',
        params: z.object({ id: z.string() }),
        response: { 200: auditEntrySchema },
      },
    },
    async ({ params }, reply) => {
      const entry = /^\d{1,15}$/.test(params.id) ? await readAuditEntry(sql, Number(params.id)) : null
      return entry ?? sendRefusal(reply, refuse('not_found', coded('entry_not_found')))
    },
  )
}
