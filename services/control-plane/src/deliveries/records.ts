import { listQuery } from '@gateway/catalog/list-query.js'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { DELIVERY_STATUSES, type DeliveryAttempt, deliveryAttemptSchema } from '@gateway/contracts/push.js'
import { type AuditEntry, insertAudit } from '@gateway/store/audit.js'
import {
  DELIVERY_LISTINGS,
  type Delivery,
  type DeliveryKind,
  listDeliveries,
  readDelivery,
  retryDelivery,
} from '@gateway/store/deliveries.js'
import { listAttempts, MAX_LISTED_ATTEMPTS } from '@gateway/store/delivery-attempts.js'
import type { Listing } from '@gateway/store/listing.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity, App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { isUuid } from '../platform/http/uuid.js'

/** From the interface: the most recent 20. */
const DEFAULT_PAGE = 20

const paramsSchema = z.object({ id: z.string() })
const NO_SUCH_RECORD = refuse('not_found', 'there is no such record')

export interface RecordKind {
  readonly kind: DeliveryKind
  /** below /api/v1/admin/ */
  readonly path: string
  readonly operationIds: { readonly list: string; readonly get: string; readonly retry: string }
  /** in the plural, for the document */
  readonly noun: string
  /** how long, for the document */
  readonly kept: string
  readonly schema: z.ZodObject
  readonly toRecord: (delivery: Delivery) => object
  /** beside the status */
  readonly filters: Readonly<Record<string, z.ZodType>>
}

/** The list, the detail with its attempts, and the retry of one kind of delivery. */
export function recordRoutes(app: App, ctx: ControlContext, records: RecordKind): void {
  const path = `/api/v1/admin/${records.path}`
  const { operationIds } = records
  const listing: Listing = DELIVERY_LISTINGS[records.kind]
  app.get(
    path,
    {
      schema: {
        operationId: operationIds.list,
        summary: `The most recent ${records.noun}`,
        description:
          'Newest first. `before` pages by the last id of the page before, so that new records shift nothing; `total` does not depend on ' +
          `it. ${records.kept}`,
        querystring: listQuery(listing, { status: z.enum(DELIVERY_STATUSES), ...records.filters }, DEFAULT_PAGE).extend(
          { before: z.uuid().optional().describe('only records older than the one of this id') },
        ),
        response: { 200: listOf(records.schema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listDeliveries(ctx.sql, records.kind, query)
      return { items: items.map((item) => ({ ...records.toRecord(item) })), total }
    },
  )
  app.get(
    `${path}/:id`,
    {
      schema: {
        operationId: operationIds.get,
        summary: `One of the ${records.noun}, with its attempts, the newest first`,
        description: `The newest ${MAX_LISTED_ATTEMPTS} attempts, each with the first part of the answer. ${records.kept}`,
        params: paramsSchema,
        response: { 200: records.schema.extend({ attempt_log: z.array(deliveryAttemptSchema) }) },
      },
    },
    async ({ params }, reply) => {
      const delivery = isUuid(params.id) ? await readDelivery(ctx.sql, records.kind, params.id) : null
      if (delivery === null) return sendRefusal(reply, NO_SUCH_RECORD)
      return { ...records.toRecord(delivery), attempt_log: await readAttemptLog(ctx, delivery.id) }
    },
  )
  app.post(
    `${path}/:id/retry`,
    {
      schema: {
        operationId: operationIds.retry,
        summary: `Deliver again: one of the ${records.noun}`,
        description:
          'A finished record goes back to `pending` with its count at zero and is tried at once, under the same `webhook-id`. One that is ' +
          'still on its way is tried at once and keeps its count.',
        params: paramsSchema,
        response: { 202: records.schema },
      },
    },
    async ({ params, admin }, reply) => {
      const delivery = isUuid(params.id)
        ? await ctx.sql.begin(async (tx) => {
            const retried = await retryDelivery(tx, records.kind, params.id)
            if (retried !== null) await insertAudit(tx, auditEntry('push.retry', retried, admin))
            return retried
          })
        : null
      if (delivery === null) return sendRefusal(reply, NO_SUCH_RECORD)
      return reply.code(202).send({ ...records.toRecord(delivery) })
    },
  )
}

/** An entry about a delivery, which names what is delivered and to whom. */
function auditEntry(action: string, delivery: Delivery, admin: AdminIdentity): AuditEntry {
  const { id, targetCode: target, basemapCode: basemap, version, vectorCode: vector, jobId: job } = delivery
  const named = Object.entries({ target, basemap, version, vector, job }).filter(([, value]) => value !== null)
  return { ...admin, action, subject: id, detail: Object.fromEntries(named) }
}

async function readAttemptLog(ctx: ControlContext, deliveryId: string): Promise<DeliveryAttempt[]> {
  return (await listAttempts(ctx.sql, deliveryId)).map((line) => ({
    started_at: line.startedAt.toISOString(),
    duration_ms: line.durationMs,
    outcome: line.outcome,
    http_status: line.httpStatus,
    message: line.message,
    answer: line.answer,
  }))
}

/** What the records of all kinds of delivery have. */
export function deliveryFields(delivery: Delivery) {
  return {
    id: delivery.id,
    status: delivery.status,
    attempts: delivery.attempts,
    message: delivery.message,
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    updated_at: delivery.updatedAt.toISOString(),
  }
}
