import { listOf } from '@gateway/contracts/common.js'
import { storedMessage } from '@gateway/contracts/messages.js'
import { hasRole, type Role } from '@gateway/contracts/operator.js'
import {
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  deliveryAttemptSchema,
  type SentRequest,
} from '@gateway/contracts/push.js'
import { flag, listQuery } from '@gateway/store/catalog/list-query.js'
import { DELIVERY_LISTINGS, type Delivery, listDeliveries, readDelivery } from '@gateway/store/deliveries.js'
import { listAttempts, MAX_LISTED_ATTEMPTS } from '@gateway/store/delivery-retention.js'
import type { Listing } from '@gateway/store/listing.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { withoutSecrets } from './http/texts.js'
import {
  bulkRecordsRoute,
  NO_SUCH_RECORD,
  type RecordChanges,
  recordChangeRoutes,
  recordParams,
} from './record-changes.js'

/** The interface requires the most recent 20. */
const DEFAULT_PAGE = 20

const STATE_FILTERS = {
  status: z.enum(DELIVERY_STATUSES),
  acknowledged: flag.describe('true: somebody has acknowledged its failure'),
}

export interface RecordKind extends RecordChanges {
  /** true: a bulk route changes them too */
  readonly bulk?: true
  /** retention time for the API document */
  readonly kept: string
  /** in addition to the status */
  readonly filters: Readonly<Record<string, z.ZodType>>
}

/** Routes of one kind of delivery: the list, the detail with its attempts, and the changes. */
export function recordRoutes(app: App, ctx: ControlContext, records: RecordKind): void {
  const path = `/api/v1/admin/${records.path}`
  const listing: Listing = DELIVERY_LISTINGS[records.kind]
  const query = listQuery(listing, { ...STATE_FILTERS, ...records.filters }, DEFAULT_PAGE)
  app.get(
    path,
    {
      schema: {
        operationId: `list${records.name}Records`,
        summary: `List the most recent ${records.noun}`,
        description:
          'Newest first. For the next page, pass the last id of this page as `before`; new records then shift nothing. `total` does not depend ' +
          `on \`before\`. ${records.kept}`,
        querystring: query.extend({
          before: z.uuid().optional().describe('only records that are older than the one with this id'),
        }),
        response: { 200: listOf(records.schema) },
      },
    },
    async ({ query, operator }) => {
      const { items, total } = await listDeliveries(ctx.sql, records.kind, query)
      return { items: items.map((item) => ({ ...records.toRecord(item, operator.role) })), total }
    },
  )
  app.get(
    `${path}/:id`,
    {
      schema: {
        operationId: `get${records.name}Record`,
        summary: `Get one of the ${records.noun}, with its attempts, the newest first`,
        description: `The newest ${MAX_LISTED_ATTEMPTS} attempts, each with the first part of the response. ${records.kept}`,
        params: recordParams,
        response: { 200: records.schema.extend({ attempt_log: z.array(deliveryAttemptSchema) }) },
      },
    },
    async ({ params, operator: { role } }, reply) => {
      const delivery = isUuid(params.id) ? await readDelivery(ctx.sql, records.kind, params.id) : null
      if (delivery === null) return sendRefusal(reply, NO_SUCH_RECORD)
      return { ...records.toRecord(delivery, role), attempt_log: await readAttemptLog(ctx, delivery, role) }
    },
  )
  recordChangeRoutes(app, ctx, records)
  if (records.bulk) bulkRecordsRoute(app, ctx, records, query)
}

/**
 * Returns the attempts with what was sent. Only admins see the secrets in a URL: others get the URL of a target without them, and no request of a
 * callback, whose body has the URL too.
 */
async function readAttemptLog(
  ctx: ControlContext,
  { id, jobId }: Delivery,
  role: Role,
): Promise<readonly DeliveryAttempt[]> {
  return (await listAttempts(ctx.sql, id)).map((line) => ({
    started_at: line.startedAt.toISOString(),
    duration_ms: line.durationMs,
    outcome: line.outcome,
    http_status: line.httpStatus,
    ...storedMessage(line.message, line.messageCoded),
    answer: line.answer,
    request: line.request ? shownRequest(line.request, jobId, role) : null,
  }))
}

function shownRequest(request: SentRequest, jobId: string | null, role: Role): SentRequest | null {
  if (hasRole(role, 'admin')) return request
  return jobId === null ? { ...request, url: withoutSecrets(request.url) } : null
}

/** Returns the fields that records of all kinds of delivery have. */
export function deliveryFields(delivery: Delivery) {
  return {
    id: delivery.id,
    status: delivery.status,
    attempts: delivery.attempts,
    ...storedMessage(delivery.message, delivery.messageCoded),
    next_attempt_at: delivery.dueAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
    updated_at: delivery.updatedAt.toISOString(),
    acknowledged_at: delivery.acknowledgedAt?.toISOString() ?? null,
  }
}
