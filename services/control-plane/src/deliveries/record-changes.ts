import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { Role } from '@gateway/contracts/operator.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import {
  acknowledgeDelivery,
  cancelDelivery,
  type Delivery,
  type DeliveryKind,
  findDeliveryIds,
  readDelivery,
  retryDelivery,
} from '@gateway/store/deliveries.js'
import { readSliceJob } from '@gateway/store/slice-jobs.js'
import { readVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import { bulkRoute, type ListQuery } from '../platform/bulk/bulk-route.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity, App } from '../platform/http/app-type.js'
import { isUuid } from '../platform/http/input-validation.js'
import { sendRefusal } from '../platform/http/refusal.js'

export const recordParams = z.object({ id: z.string() })
export const NO_SUCH_RECORD = refuse('not_found', coded('record_not_found'))

/** The records of one kind of delivery, for the routes that change them. */
export interface RecordChanges {
  readonly kind: DeliveryKind
  /** below /api/v1/admin/ */
  readonly path: string
  /** in the operation ids */
  readonly name: string
  /** plural noun for the API document */
  readonly noun: string
  readonly schema: z.ZodObject
  /** @param role of the reader */
  readonly toRecord: (delivery: Delivery, role: Role) => object
}

type RecordChangeName = 'retry' | 'cancel' | 'acknowledge'

interface Doer {
  readonly actor: string
  readonly at: string
}

interface Change {
  readonly status: 200 | 202
  /** text in front of "one of the pushes" in the API document */
  readonly summary: string
  readonly description: string
  /** refusal if the record exists, but not in a suitable state */
  readonly refused: Refusal
  /** @param by author and time; returns null if the record does not exist or is not in a suitable state */
  readonly apply: (tx: Transaction, kind: DeliveryKind, id: string, by: Doer) => Promise<Delivery | null>
}

const CHANGES: Readonly<Record<RecordChangeName, Change>> = {
  retry: {
    status: 202,
    summary: 'Retry',
    description:
      'A finished record goes back to `pending` with its count at zero and is tried at once, under the same `webhook-id`. A record that has ' +
      'not ended is tried at once and keeps its count.',
    refused: NO_SUCH_RECORD,
    apply: retryDelivery,
  },
  cancel: {
    status: 200,
    summary: 'Cancel',
    description:
      'A record that has not ended becomes `failed`, with a message that names the administrator and the time. It is tried again only if ' +
      'somebody retries it. A running attempt is aborted, but may have arrived. Returns 409 if the record has ended.',
    refused: refuse('conflict', coded('record_finished')),
    apply: (tx, kind, id, by) => cancelDelivery(tx, kind, id, coded('delivery_cancelled', { ...by })),
  },
  acknowledge: {
    status: 200,
    summary: 'Acknowledge the failure of',
    description: 'The record does not change, but needs no further attention. Returns 409 if it has not failed.',
    refused: refuse('conflict', coded('record_not_failed')),
    apply: acknowledgeDelivery,
  },
}

/** Routes that deliver again, cancel, and acknowledge a failure, for one kind of delivery. */
export function recordChangeRoutes(app: App, ctx: ControlContext, records: RecordChanges): void {
  const { kind, noun, schema, toRecord } = records
  for (const name of ['retry', 'cancel', 'acknowledge'] as const) {
    const { status, summary, description } = CHANGES[name]
    app.post(
      `/api/v1/admin/${records.path}/:id/${name}`,
      {
        schema: {
          operationId: `${name}${records.name}`,
          summary: `${summary} one of the ${noun}`,
          description,
          params: recordParams,
          response: { [status]: schema },
        },
      },
      async ({ params: { id }, admin, operator }, reply) => {
        const outcome = await ctx.sql.begin((tx) => changeRecord(ctx, tx, { kind, id, name, admin }))
        if (!outcome.ok) return sendRefusal(reply, outcome)
        return reply.code(status).send({ ...toRecord(outcome.delivery, operator.role) })
      },
    )
  }
}

interface AskedChange {
  readonly kind: DeliveryKind
  readonly id: string
  readonly name: RecordChangeName
  readonly admin: AdminIdentity
}

/** Changes one record, with its audit entry. */
async function changeRecord(
  { now }: Pick<ControlContext, 'now'>,
  tx: Transaction,
  { kind, id, name, admin }: AskedChange,
): Promise<{ readonly ok: true; readonly delivery: Delivery } | Refusal> {
  if (!isUuid(id)) return NO_SUCH_RECORD
  const { apply, refused } = CHANGES[name]
  const who = admin.actor === 'token' ? 'ADMIN_TOKEN' : admin.actor
  const delivery = await apply(tx, kind, id, { actor: who, at: new Date(now()).toISOString() })
  if (delivery === null) return (await readDelivery(tx, kind, id)) === null ? NO_SUCH_RECORD : refused
  await insertAudit(tx, { ...admin, action: `push.${name}`, subject: id, detail: await named(tx, delivery) })
  return { ok: true, delivery }
}

/** Route for the same changes of many records of one kind. `query` is that of their list. */
export function bulkRecordsRoute(
  app: App,
  ctx: ControlContext,
  { kind, path, noun, name: ofRecords }: RecordChanges,
  query: ListQuery,
): void {
  bulkRoute(app, ctx, {
    path,
    operationId: `change${ofRecords}Records`,
    noun,
    actions: {
      retry: 'delivers again, under the same `webhook-id`; a delivered record only if its id is named',
      acknowledge: 'acknowledges a failure',
      cancel: 'cancels a record that has not ended',
    },
    query,
    find: (filter, most) => findDeliveryIds(ctx.sql, kind, filter, most),
    change:
      ({ action: name, admin }) =>
      (tx, id) =>
        changeRecord(ctx, tx, { kind, id, name, admin }),
  })
}

/** Returns the names of the delivered resource and the target, for the audit. Deleted ones have no name. */
async function named(
  tx: Transaction,
  { targetCode: target, basemapCode: basemap, version, vectorCode: vector, jobId: job }: Delivery,
) {
  const subject =
    (basemap !== null && (await readBasemap(tx, basemap))) ||
    (vector !== null && (await readVector(tx, vector))) ||
    (job !== null && (await readSliceJob(tx, job))) ||
    null
  const all = Object.entries({ name: subject?.name ?? null, target, basemap, version, vector, job })
  return Object.fromEntries(all.filter(([, value]) => value !== null))
}
