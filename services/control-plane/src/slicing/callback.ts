import { hasRole, type Role } from '@gateway/contracts/operator.js'
import { type CallbackRecord, callbackRecordSchema } from '@gateway/contracts/push.js'
import type { Transaction } from '@gateway/store/connect.js'
import { type Delivery, insertCallback } from '@gateway/store/deliveries.js'
import { KEPT_DAYS } from '@gateway/store/delivery-retention.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { z } from 'zod'
import { withoutSecrets } from '../deliveries/http/texts.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { deliveryFields, recordRoutes } from '../deliveries/records.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { callbackFields, toSliceJob } from './job-object.js'

/** Enqueues the callback of a job, if it has one, in the transaction that ends the job, so that both happen or neither. */
export async function enqueueCallback(ctx: ControlContext, tx: Transaction, job: StoredSliceJob): Promise<void> {
  const url = job.callbackUrl
  if (url === '') return
  // The first attempt for an invalid URL fails with the reason.
  const destination = URL.canParse(url) ? new URL(url).origin : url
  await insertCallback(tx, {
    jobId: job.id,
    url,
    destination,
    job: { ...toSliceJob(job, ctx.settings.sliceOutputRoot) },
    trace: job.trace,
  })
}

/** Builds the job as it ended, with the state of its callback at this attempt. */
export const callbackPayload: PayloadBuilder = async ({ now }, { body, ...state }) => {
  const job = { ...body, callback_status: state.status, ...callbackFields(state) }
  return {
    ok: true,
    event: { event: 'tile.job.finished', job, delivered: new Date(now()).toISOString() },
    bundle: null,
  }
}

export function callbackRecordRoutes(app: App, ctx: ControlContext): void {
  recordRoutes(app, ctx, {
    kind: 'slice_callback',
    path: 'callback-records',
    name: 'Callback',
    noun: 'completion callbacks of slice jobs',
    kept: `A record is kept for as long as its job, its attempts for ${KEPT_DAYS} days after its end.`,
    schema: callbackRecordSchema,
    toRecord: toCallbackRecord,
    filters: { job_id: z.uuid() },
  })
}

function toCallbackRecord(delivery: Delivery, role: Role): CallbackRecord {
  const url = delivery.url ?? ''
  const callback_url = hasRole(role, 'admin') ? url : withoutSecrets(url)
  return { ...deliveryFields(delivery), job_id: delivery.jobId ?? '', callback_url }
}
