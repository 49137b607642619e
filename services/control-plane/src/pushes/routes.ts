import {
  type CallbackRecord,
  callbackRecordSchema,
  pushBodySchema,
  pushRecordSchema,
  vectorPushBodySchema,
  vectorPushRecordSchema,
} from '@gateway/contracts/push.js'
import type { Delivery } from '@gateway/store/deliveries.js'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { pushBasemap, pushVector } from './push.js'
import { common, toPushRecord, toVectorPushRecord } from './record.js'
import { recordRoutes } from './record-routes.js'

const PUSH_ERRORS =
  'What does not exist is 404; a target that is disabled, or data that is not available now, is 409. The delivery begins at once and runs ' +
  'asynchronously; after a failure it is retried after the waits of RETRY_WAITS, or later where the receiver asks for it by Retry-After.'

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
    schema: pushRecordSchema,
    toRecord: toPushRecord,
  })
  recordRoutes(app, ctx, {
    kind: 'vector_push',
    path: 'vector-push-records',
    noun: 'vector pushes',
    schema: vectorPushRecordSchema,
    toRecord: toVectorPushRecord,
  })
  recordRoutes(app, ctx, {
    kind: 'slice_callback',
    path: 'callback-records',
    noun: 'completion callbacks of slice jobs',
    schema: callbackRecordSchema,
    toRecord: toCallbackRecord,
  })
}

function toCallbackRecord(delivery: Delivery): CallbackRecord {
  return { ...common(delivery), job_id: delivery.jobId ?? '', callback_url: delivery.url ?? '' }
}
