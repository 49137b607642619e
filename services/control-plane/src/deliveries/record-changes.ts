import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import type { Transaction } from '@gateway/store/connect.js'
import {
  acknowledgeDelivery,
  cancelDelivery,
  type Delivery,
  type DeliveryKind,
  readDelivery,
  retryDelivery,
} from '@gateway/store/deliveries.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity, App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { isUuid } from '../platform/http/uuid.js'

export const recordParams = z.object({ id: z.string() })
export const NO_SUCH_RECORD = refuse('not_found', 'there is no such record')
const NOTHING_TO_CANCEL = refuse('conflict', 'this record is finished: there is nothing to cancel')
const NO_FAILURE = refuse('conflict', 'this record has not failed: there is nothing to acknowledge')

/** The records of one kind of delivery, as far as they are changed. */
export interface RecordChanges {
  readonly kind: DeliveryKind
  /** below /api/v1/admin/ */
  readonly path: string
  readonly operationIds: Readonly<Record<'retry' | 'cancel' | 'acknowledge', string>>
  /** in the plural, for the document */
  readonly noun: string
  readonly schema: z.ZodObject
  readonly toRecord: (delivery: Delivery) => object
}

/** Deliver again, give up, and say that a failure was seen: of one kind of delivery. */
export function recordChangeRoutes(app: App, ctx: ControlContext, records: RecordChanges): void {
  const { kind, noun, operationIds, schema, toRecord } = records
  const path = `/api/v1/admin/${records.path}/:id`
  /** @param refused where the record is there, but not in a state in which it can be changed so */
  const change = async (
    id: string,
    entry: AdminIdentity & { readonly action: string },
    refused: Refusal,
    work: (tx: Transaction) => Promise<Delivery | null>,
  ) => {
    if (!isUuid(id)) return NO_SUCH_RECORD
    return ctx.sql.begin(async (tx) => {
      const delivery = await work(tx)
      if (delivery === null) return (await readDelivery(tx, kind, id)) === null ? NO_SUCH_RECORD : refused
      await insertAudit(tx, { ...entry, subject: id, detail: named(delivery) })
      return { ok: true, record: { ...toRecord(delivery) } } as const
    })
  }
  app.post(
    `${path}/retry`,
    {
      schema: {
        operationId: operationIds.retry,
        summary: `Deliver again: one of the ${noun}`,
        description:
          'A finished record goes back to `pending` with its count at zero and is tried at once, under the same `webhook-id`. One that is ' +
          'still on its way is tried at once and keeps its count.',
        params: recordParams,
        response: { 202: schema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const entry = { ...admin, action: 'push.retry' }
      const outcome = await change(id, entry, NO_SUCH_RECORD, (tx) => retryDelivery(tx, kind, id))
      return outcome.ok ? reply.code(202).send(outcome.record) : sendRefusal(reply, outcome)
    },
  )
  app.post(
    `${path}/cancel`,
    {
      schema: {
        operationId: operationIds.cancel,
        summary: `Give up: one of the ${noun}`,
        description:
          'A record that is on its way ends as `failed`, with a message that names the administrator and the time, and is not tried again ' +
          'unless somebody retries it. An attempt that is under way is broken off; it may have arrived. 409 where the record is finished.',
        params: recordParams,
        response: { 200: schema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const who = admin.actor === 'token' ? 'ADMIN_TOKEN' : admin.actor
      const message = `cancelled by ${who} at ${new Date(ctx.now()).toISOString()}`
      const entry = { ...admin, action: 'push.cancel' }
      const outcome = await change(id, entry, NOTHING_TO_CANCEL, (tx) => cancelDelivery(tx, kind, id, message))
      return outcome.ok ? outcome.record : sendRefusal(reply, outcome)
    },
  )
  app.post(
    `${path}/acknowledge`,
    {
      schema: {
        operationId: operationIds.acknowledge,
        summary: `Say that a failure was seen: of one of the ${noun}`,
        description: 'The record stays as it is, and needs no attention any more. 409 where it has not failed.',
        params: recordParams,
        response: { 200: schema },
      },
    },
    async ({ params: { id }, admin }, reply) => {
      const entry = { ...admin, action: 'push.acknowledge' }
      const outcome = await change(id, entry, NO_FAILURE, (tx) => acknowledgeDelivery(tx, kind, id))
      return outcome.ok ? outcome.record : sendRefusal(reply, outcome)
    },
  )
}

/** What is delivered and to whom, for the audit. */
function named({ targetCode: target, basemapCode: basemap, version, vectorCode: vector, jobId: job }: Delivery) {
  const all = Object.entries({ target, basemap, version, vector, job })
  return Object.fromEntries(all.filter(([, value]) => value !== null))
}
