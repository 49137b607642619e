import type { Operation, Paths } from './document.js'
import { BASEMAP, VECTOR } from './examples/catalog.js'
import { PURGE_RECORD, PUSH_RECORD, VECTOR_PUSH_RECORD } from './examples/deliveries.js'
import { LATER } from './examples/example.js'
import { FINISHED_JOB } from './examples/slicing.js'

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The body that its route reads as a stream, without a schema. */
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

const STYLE_BODY = {
  required: true,
  content: {
    'application/json': {
      schema: { type: 'object', description: 'a style of the MapLibre style specification, version 8' },
      example: { version: 8, name: 'City', sources: {}, layers: [] },
    },
    'application/zip': {
      schema: { type: 'string', format: 'binary', description: 'laid out like the folder of a style' },
    },
  },
} as const

const UPLOAD_BODY = {
  required: true,
  content: {
    'application/octet-stream': {
      schema: { type: 'string', format: 'binary', description: 'the bytes of the file from `offset` on' },
    },
  },
} as const

/** Completes operations whose bodies the generator cannot see. */
export function describeRawBodies(paths: Paths): void {
  const operation = paths['/api/v1/import']?.post
  if (operation !== undefined) operation.requestBody = IMPORT_BODY
  const ofStyle = paths['/api/v1/admin/styles/import']?.post
  if (ofStyle !== undefined) ofStyle.requestBody = STYLE_BODY
  const ofUpload = paths['/api/v1/admin/uploads/{id}/content']?.put
  if (ofUpload !== undefined) ofUpload.requestBody = UPLOAD_BODY
}

interface Webhook {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly properties: Readonly<Record<string, unknown>>
  /** properties that an event may lack */
  readonly optional?: Readonly<Record<string, unknown>>
  readonly example: Readonly<Record<string, unknown>>
}

function webhook(
  name: string,
  { operationId, summary, description, properties, optional = {}, example: fields }: Webhook,
) {
  const schema = {
    type: 'object',
    required: ['event', ...Object.keys(properties), 'delivered'],
    properties: {
      event: { type: 'string', const: name },
      ...properties,
      ...optional,
      delivered: { type: 'string', format: 'date-time', description: 'when this attempt was made' },
    },
  }
  const example = { event: name, ...fields, delivered: LATER }
  const post: Operation = {
    operationId,
    summary,
    description,
    tags: ['Events'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      '2XX': { description: 'Accepted. Any other response, including a redirect, is a failure and is retried' },
    },
  }
  return { [name]: { post } }
}

const SIGNED =
  'Carries `webhook-id` (the same over all retries), `webhook-timestamp` and, if the target has a secret, `webhook-signature`, as Standard ' +
  'Webhooks describes.'
const HEADERS = `${SIGNED} Retried after the waits of RETRY_WAITS.`
const UPLOAD =
  'In mode `upload` this JSON is the part `event` of a multipart/form-data body, before the part `archive`.'

/** The body of an event that goes to every enabled HTTP target. */
const EVENT = {
  basemap_code: { type: 'string' },
  version: { type: 'string' },
  actor: { type: 'string' },
  at: { type: 'string', format: 'date-time' },
}
const CANARY_COUNTS = {
  type: 'object',
  properties: { requests: { type: 'integer' }, missing: { type: 'integer' }, failed: { type: 'integer' } },
}
const REVIEWED = { basemap_code: 'world', version: 'v2', actor: 'token', at: LATER }

/** The requests that this service sends, for authors of receivers. */
export const WEBHOOKS = {
  ...webhook('tile.job.finished', {
    operationId: 'onSliceJobFinished',
    summary: 'To the `callback_url` of a slice job that has ended',
    description: HEADERS,
    properties: { job: reference('SliceJob') },
    example: { job: FINISHED_JOB },
  }),
  ...webhook('basemap.version.pushed', {
    operationId: 'onBasemapPushed',
    summary: 'To the target of a basemap push',
    description: `${HEADERS} ${UPLOAD}`,
    properties: {
      record: reference('PushRecord'),
      basemap: {
        allOf: [reference('Basemap')],
        description:
          'the catalog entry, with `tilejson_url`, and in `pushed_version` the version and its own addresses',
      },
    },
    example: { record: PUSH_RECORD, basemap: BASEMAP },
  }),
  ...webhook('vector.pushed', {
    operationId: 'onVectorPushed',
    summary: 'To the target of a vector push',
    description: `${HEADERS} ${UPLOAD}`,
    properties: { record: reference('VectorPushRecord'), vector: reference('Vector') },
    example: { record: VECTOR_PUSH_RECORD, vector: VECTOR },
  }),
  ...webhook('cache.purge', {
    operationId: 'onCachePurge',
    summary: 'To a target of kind `purge`: the tiles that a cache in front must remove',
    description:
      `${HEADERS} The names are those that tiles carry in \`Cache-Tag\` and \`Surrogate-Key\`; the request carries them in the same two headers. ` +
      'The request is sent when the edges serve the new state.',
    properties: {
      tags: {
        type: 'array',
        items: { type: 'string' },
        description: '`b-{code}`, or `v-{code}-{version}` for a change of one version',
      },
      record: reference('PurgeRecord'),
    },
    optional: {
      tiles: {
        type: 'array',
        maxItems: 10_000,
        items: { type: 'array', items: { type: 'integer' }, minItems: 3, maxItems: 3 },
        description:
          'only for a change of the default version: the tiles, as `[z, x, y]`, that differ between the two versions. Absent if there are more ' +
          'than 10,000, or if the versions cannot be compared within 20 s',
      },
      url_templates: {
        type: 'array',
        items: { type: 'string' },
        description: 'with `tiles`: the addresses that return other tiles since the change',
      },
    },
    example: { tags: ['b-world', 'v-world-v1'], record: PURGE_RECORD },
  }),
  ...webhook('basemap.version.approved', {
    operationId: 'onVersionApproved',
    summary: 'To every enabled HTTP target: a held version was published',
    description: HEADERS,
    properties: EVENT,
    example: REVIEWED,
  }),
  ...webhook('basemap.version.rejected', {
    operationId: 'onVersionRejected',
    summary: 'To every enabled HTTP target: a held version was rejected',
    description: HEADERS,
    properties: { ...EVENT, reason: { type: 'string' } },
    example: { ...REVIEWED, reason: 'zoom 12 is incomplete' },
  }),
  ...webhook('basemap.default.switched', {
    operationId: 'onDefaultSwitched',
    summary: 'To every enabled HTTP target: a planned switch of the default version was made',
    description: HEADERS,
    properties: EVENT,
    example: REVIEWED,
  }),
  ...webhook('basemap.default.canary_started', {
    operationId: 'onCanaryStarted',
    summary: 'To every enabled HTTP target: a share of the tokens has the new version',
    description: HEADERS,
    properties: {
      ...EVENT,
      percent: { type: 'integer' },
      minutes: { type: 'number' },
      before_version: { type: 'string' },
    },
    example: { ...REVIEWED, percent: 10, minutes: 30, before_version: 'v1' },
  }),
  ...webhook('basemap.default.rolled_back', {
    operationId: 'onCanaryRolledBack',
    summary: 'To every enabled HTTP target: the new version was worse, and all tokens have the previous version again',
    description: HEADERS,
    properties: {
      ...EVENT,
      reason: { type: 'string' },
      before_version: { type: 'string' },
      before: CANARY_COUNTS,
      after: CANARY_COUNTS,
    },
    example: {
      ...REVIEWED,
      reason: 'missing tiles: 12.5 % of the requests for v2, 0 % of those for v1',
      before_version: 'v1',
      before: { requests: 900, missing: 0, failed: 0 },
      after: { requests: 96, missing: 12, failed: 0 },
    },
  }),
  ...webhook('basemap.default.switch_failed', {
    operationId: 'onDefaultSwitchFailed',
    summary: 'To every enabled HTTP target: a planned switch of the default version failed',
    description: HEADERS,
    properties: { ...EVENT, reason: { type: 'string' } },
    example: { ...REVIEWED, reason: 'body.version: this version is withdrawn; restore it first' },
  }),
  ...webhook('audit.head', {
    operationId: 'onAuditHead',
    summary: 'To AUDIT_HEAD_TARGET, once a day: the head of the audit chain',
    description: HEADERS,
    properties: {
      head: { type: 'string', description: 'hex SHA-256 of the last entry' },
      head_position: { type: 'integer' },
      count: { type: 'integer', description: 'number of matching entries' },
      first_mismatch: {
        type: ['object', 'null'],
        description: 'as `GET /api/v1/admin/audit/verify` returns it; null: all entries match',
      },
      anchor_position: { type: 'integer', description: 'the last place that retention has deleted; 0: no place' },
      anchor_sha256: { type: 'string', description: 'hex SHA-256 of the entry at that place' },
      anchor_at: { type: ['string', 'null'], format: 'date-time', description: 'when that entry was made' },
      at: { type: 'string', format: 'date-time' },
    },
    example: {
      head: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      head_position: 1204,
      count: 1204,
      first_mismatch: null,
      anchor_position: 0,
      anchor_sha256: '0'.repeat(64),
      anchor_at: null,
      at: '2026-11-25T03:00:00.000Z',
    },
  }),
  ...webhook('target.test', {
    operationId: 'onTargetTested',
    summary: 'To a target that an administrator tests',
    description: `${SIGNED} Not retried. ${UPLOAD}`,
    properties: {
      target: {
        type: 'object',
        required: ['code', 'name'],
        properties: { code: { type: 'string' }, name: { type: 'string' } },
      },
    },
    example: { target: { code: 'branch', name: 'Branch office' } },
  }),
} as const
