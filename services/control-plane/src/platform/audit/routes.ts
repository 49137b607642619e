import { listOf, timestampSchema } from '@gateway/contracts/common.js'
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

const changedFields = z.record(z.string(), z.unknown()).nullable()

export const auditEntrySchema = z.object({
  id: z.int(),
  at: timestampSchema,
  actor: z
    .string()
    .describe(
      "the e-mail address of who signed in (`oidc:` and the provider's name for them where it tells none), the administrator's user name, " +
        '`token` for ADMIN_TOKEN, `system` for changes that the service makes by itself',
    ),
  address: z.string().describe('the address of the client'),
  action: z.string(),
  subject: z.string().describe('the code or id that was acted upon'),
  subject_name: z.string().nullable().describe('what it was called then; null: unknown, or it has no name'),
  before: changedFields.describe(
    'the fields that differ, as they were; empty: it did not exist; null: nothing was changed',
  ),
  after: changedFields.describe('the same as they are now'),
  detail: z.record(z.string(), z.unknown()).describe('all that is recorded, `before` and `after` included'),
  chain_position: z
    .int()
    .nullable()
    .describe('the place in the chain, from 1; null: older than the chain, or not made by a control plane'),
  previous_sha256: z.string().nullable().describe('hex SHA-256 of the entry before it in the chain'),
  sha256: z.string().nullable().describe('hex SHA-256 of this entry, `previous_sha256` included'),
})

const verificationSchema = z.object({
  first_mismatch: z
    .object({
      reason: z
        .enum(MISMATCH_REASONS)
        .describe(
          '`altered`: its content, or place; `missing`: entries before it are gone; `inserted`: no control plane made it',
        ),
      chain_position: z.int().nullable().describe('the place that is wrong or empty; null: the entry has none'),
      id: z.int().nullable().describe('null, as the fields below: the end of the chain is missing'),
      at: timestampSchema.nullable(),
      actor: z.string().nullable(),
      action: z.string().nullable(),
      subject: z.string().nullable(),
    })
    .nullable()
    .describe('the first entry that does not match; null: all of them match'),
  count: z.int().describe('entries that match, before the first one that does not'),
  head: z
    .string()
    .describe(
      'hex SHA-256 of the last entry; 64 zeros: there is none. Keep it elsewhere to notice a chain that was made again',
    ),
  head_position: z.int(),
  anchor_position: z.int().describe('the last place that retention has deleted; 0: none'),
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
    '/api/v1/admin/audit/export',
    {
      schema: {
        operationId: 'exportAudit',
        summary: 'Administrative changes as a file, newest first',
        description:
          'All entries that match, however many, as they are read; an answer that ends early was broken off. `csv` (RFC 4180, UTF-8) has a heading and `detail` as ' +
          'JSON; a field that a spreadsheet would take for a formula begins with an apostrophe. `ndjson` has an entry in each line.',
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
        summary: 'Whether the audit is as it was written',
        description:
          'Each entry has the SHA-256 of the one before it. The chain is followed from its first entry that is kept to its head, and the first entry that does not ' +
          'match is returned: one that was altered, moved or inserted, or that stands behind a deleted one. A caller that hangs up ends it.',
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
        summary: 'One administrative change',
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
