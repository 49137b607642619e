import {
  type CallbackRecord,
  callbackRecordSchema,
  pushBodySchema,
  pushRecordSchema,
  vectorPushBodySchema,
  vectorPushRecordSchema,
} from '@gateway/contracts/push.js'
import type { Delivery } from '@gateway/store/deliveries.js'
import { KEPT_DAYS, KEPT_NEWEST } from '@gateway/store/delivery-retention.js'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { pushBasemap, pushVector } from './push.js'
import { common, toPushRecord, toVectorPushRecord } from './record.js'
import { recordRoutes } from './record-routes.js'

const PUSH_ERRORS =
  'What does not exist is 404; a target that is disabled, or data that is not available now, is 400. The delivery begins at once and runs ' +
  'asynchronously. Any answer but 2xx, redirects included, is a failure; so is a message without an answer in 10 s, and an upload without ' +
  'progress in 30 s. After a failure it is retried after the waits of RETRY_WAITS, or later where the receiver asks for it by Retry-After, ' +
  'up to an hour.'

const RECORDS_KEPT = `A record is kept for ${KEPT_DAYS} days after its end, the newest ${KEPT_NEWEST} for longer; one that is on its way stays.`
const CALLBACKS_KEPT = `A record is kept for as long as its job, its attempts for ${KEPT_DAYS} days after its end.`

export function pushRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/pushes',
    {
      schema: {
        summary: 'Push a basemap version to a target',
        description: `${PUSH_ERRORS} \`version\` may be \`current\`: the record names the version that this is now.`,
        body: pushBodySchema,
        response: { 202: pushRecordSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await pushBasemap(ctx, body, admin)
      return outcome.ok ? reply.code(202).send(outcome.record) : sendRefusal(reply, outcome)
    },
  )
  app.post(
    '/api/v1/admin/vector-pushes',
    {
      schema: {
        summary: 'Push a vector to a target',
        description: PUSH_ERRORS,
        body: vectorPushBodySchema,
        response: { 202: vectorPushRecordSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await pushVector(ctx, body, admin)
      return outcome.ok ? reply.code(202).send(outcome.record) : sendRefusal(reply, outcome)
    },
  )
  recordRoutes(app, ctx, {
    kind: 'basemap_push',
    path: 'push-records',
    noun: 'basemap pushes',
    kept: RECORDS_KEPT,
    schema: pushRecordSchema,
    toRecord: toPushRecord,
  })
  recordRoutes(app, ctx, {
    kind: 'vector_push',
    path: 'vector-push-records',
    noun: 'vector pushes',
    kept: RECORDS_KEPT,
    schema: vectorPushRecordSchema,
    toRecord: toVectorPushRecord,
  })
  recordRoutes(app, ctx, {
    kind: 'slice_callback',
    path: 'callback-records',
    noun: 'completion callbacks of slice jobs',
    kept: CALLBACKS_KEPT,
    schema: callbackRecordSchema,
    toRecord: toCallbackRecord,
  })
}

function toCallbackRecord(delivery: Delivery): CallbackRecord {
  return { ...common(delivery), job_id: delivery.jobId ?? '', callback_url: delivery.url ?? '' }
}
