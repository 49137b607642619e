import type { Operation, Paths } from './document.js'

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Read by its route as it comes, so that no schema of the route can tell of it. */
const IMPORT_BODY = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['event', 'archive'],
        properties: {
          event: { type: 'string', description: 'the JSON event of a push; it comes first' },
          archive: { type: 'string', format: 'binary', description: 'a zip laid out like a scan source' },
        },
      },
    },
  },
} as const

/** Completes operations whose bodies the generator cannot see. */
export function describeRawBodies(paths: Paths): void {
  const operation = paths['/api/v1/import']?.post
  if (operation !== undefined) operation.requestBody = IMPORT_BODY
}

function told(name: string, summary: string, description: string, properties: Record<string, unknown>) {
  const schema = {
    type: 'object',
    required: ['event', ...Object.keys(properties), 'delivered'],
    properties: {
      event: { type: 'string', const: name },
      ...properties,
      delivered: { type: 'string', format: 'date-time', description: 'when this attempt was made' },
    },
  }
  const post: Operation = {
    summary,
    description,
    tags: ['Events'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '2XX': { description: 'Taken. Any other answer, a redirect included, is a failure and is retried' } },
  }
  return { [name]: { post } }
}

const HEADERS =
  'Carries `webhook-id` (the same over all retries), `webhook-timestamp` and, where the target has a secret, `webhook-signature`, as ' +
  'Standard Webhooks describes. Retried after the waits of RETRY_WAITS.'
const UPLOAD =
  'In mode `upload` this JSON is the part `event` of a multipart/form-data body, before the part `archive`.'

/** What this service sends, for those who write receivers. */
export const WEBHOOKS = {
  ...told('tile.job.finished', 'To the `callback_url` of a slice job that has ended', HEADERS, {
    job: reference('SliceJob'),
  }),
  ...told('basemap.version.pushed', 'To the target of a basemap push', `${HEADERS} ${UPLOAD}`, {
    record: reference('PushRecord'),
    basemap: {
      allOf: [reference('Basemap')],
      description: 'the catalog entry, with `tilejson_url`, and in `pushed_version` the version and its own addresses',
    },
  }),
  ...told('vector.pushed', 'To the target of a vector push', `${HEADERS} ${UPLOAD}`, {
    record: reference('VectorPushRecord'),
    vector: reference('Vector'),
  }),
} as const
