import {
  eventRecordSchema,
  purgeRecordSchema,
  pushBodySchema,
  pushRecordSchema,
  vectorPushBodySchema,
  vectorPushRecordSchema,
} from '@gateway/contracts/push.js'
import { text } from '@gateway/store/catalog/list-query.js'
import { KEPT_DAYS, KEPT_NEWEST } from '@gateway/store/delivery-retention.js'
import { recordRoutes } from '../deliveries/records.js'
import type { ControlContext } from '../platform/context.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import { pushBasemap, pushVector } from './push.js'
import { toEventRecord, toPurgeRecord, toPushRecord, toVectorPushRecord } from './record.js'

const PUSH_ERRORS =
  'A code that does not exist returns 404. A disabled target, or data that is not available now, returns 400. The delivery begins at once and ' +
  'runs asynchronously. Any response except 2xx is a failure, including a redirect. So is a message without a response in 10 s, and an upload ' +
  'without progress in 30 s. A failed attempt is retried after the waits of RETRY_WAITS, or later if the receiver sends Retry-After, up to an ' +
  'hour.'

const RECORDS_KEPT = `A record is kept for ${KEPT_DAYS} days after its end, and the newest ${KEPT_NEWEST} for longer; a record that has not ended stays.`

export function pushRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/pushes',
    {
      schema: {
        operationId: 'pushBasemap',
        summary: 'Push a basemap version to a target',
        description: `${PUSH_ERRORS} \`version\` may be \`current\`: the record then names the present default version.`,
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
        operationId: 'pushVector',
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
    name: 'Push',
    bulk: true,
    noun: 'basemap pushes',
    kept: RECORDS_KEPT,
    schema: pushRecordSchema,
    toRecord: toPushRecord,
    filters: { target_code: text, basemap_code: text, version: text },
  })
  recordRoutes(app, ctx, {
    kind: 'vector_push',
    path: 'vector-push-records',
    name: 'VectorPush',
    bulk: true,
    noun: 'vector pushes',
    kept: RECORDS_KEPT,
    schema: vectorPushRecordSchema,
    toRecord: toVectorPushRecord,
    filters: { target_code: text, vector_code: text },
  })
  recordRoutes(app, ctx, {
    kind: 'cache_purge',
    path: 'purge-records',
    name: 'Purge',
    noun: 'purges of caches in front',
    kept: RECORDS_KEPT,
    schema: purgeRecordSchema,
    toRecord: toPurgeRecord,
    filters: { target_code: text, basemap_code: text },
  })
  recordRoutes(app, ctx, {
    kind: 'event',
    path: 'event-records',
    name: 'Event',
    noun: 'events',
    kept: RECORDS_KEPT,
    schema: eventRecordSchema,
    toRecord: toEventRecord,
    filters: { target_code: text, basemap_code: text },
  })
}
