import { coded, storedMessage, textOf } from '@gateway/contracts/messages.js'
import { bulkResult, EARLIER, type Example, ID, LATER, list } from './example.js'

const made = (...args: Parameters<typeof coded>) => {
  const message = coded(...args)
  return storedMessage(textOf(message), message)
}
const ANSWERED = made('delivery_answered', { status: '200 OK' })

const TARGET = {
  code: 'branch',
  name: 'Branch office',
  kind: 'http',
  url: 'https://branch.example/api/v1/import',
  path: null,
  mode: 'upload',
  enabled: true,
  has_secret: true,
}

const RECORD = {
  id: ID,
  target_code: 'branch',
  status: 'succeeded',
  attempts: 1,
  ...ANSWERED,
  next_attempt_at: null,
  created_at: EARLIER,
  updated_at: LATER,
  acknowledged_at: null,
}
const ENQUEUED = { status: 'pending', attempts: 0, ...storedMessage(''), next_attempt_at: EARLIER, updated_at: EARLIER }
export const PUSH_RECORD = { ...RECORD, basemap_code: 'world', version: 'v1', export_id: null, export: null }
const EVENT_RECORD = {
  ...RECORD,
  target_code: 'portal',
  event: 'basemap.version.approved',
  basemap_code: 'world',
  version: 'v1',
}
const { target_code: ____, ...NOTIFICATION } = RECORD
const NOTIFICATION_RECORD = {
  ...NOTIFICATION,
  target_code: null,
  email: 'operators@example.com',
  event: 'attention.push_failed',
  subject: '3 pushes have failed',
}
const NOTIFICATION_RULE = {
  id: ID,
  email: 'operators@example.com',
  target_code: null,
  kinds: ['push_failed', 'scan_failed'],
  enabled: true,
  created_at: RECORD.created_at,
}
export const PURGE_RECORD = { ...RECORD, target_code: 'cdn', basemap_code: 'world', version: 'v1' }
export const VECTOR_PUSH_RECORD = { ...RECORD, vector_code: 'main' }
const { target_code: _, ...CALLBACK } = RECORD
const CALLBACK_RECORD = { ...CALLBACK, job_id: ID, callback_url: 'https://survey.example/finished' }

const SENT = {
  method: 'POST',
  url: 'https://branch.example/api/v1/import',
  headers: {
    'user-agent': 'map-asset-gateway',
    'content-type': 'application/json',
    'webhook-id': `msg_${ID}`,
    'webhook-timestamp': '1772352000',
    'webhook-signature': '[hidden]',
  },
  body: '{"event":"basemap.version.pushed"}',
}
const ATTEMPT = {
  started_at: EARLIER,
  duration_ms: 180,
  outcome: 'succeeded',
  http_status: 200,
  ...ANSWERED,
  answer: '{"ok":true}',
  request: SENT,
}
const parameters = { id: ID }
const ENDED = { status: 'failed', next_attempt_at: null, acknowledged_at: LATER }
const CANCELLED = made('delivery_cancelled', { actor: 'anna@example.com', at: LATER })
const FAILED = made('delivery_answered', { status: '503 Service Unavailable' })

/** Examples of the routes of one kind of record. */
const records = (name: string, record: object): Readonly<Record<string, Example>> => ({
  [`list${name}Records`]: { answer: list(record) },
  [`get${name}Record`]: { parameters, answer: { ...record, attempt_log: [ATTEMPT] } },
  [`retry${name}`]: { parameters, answer: { ...record, ...ENQUEUED } },
  [`cancel${name}`]: { parameters, answer: { ...record, ...ENDED, ...CANCELLED } },
  [`acknowledge${name}`]: { parameters, answer: { ...record, ...ENDED, ...FAILED } },
})

const EXPORT = {
  id: ID,
  basemap_code: 'world',
  version: 'v1',
  bounds: [5.9, 45.8, 10.5, 47.8],
  from_version: null,
  format: 'pmtiles',
  zoom_min: 0,
  zoom_max: 12,
  target_code: null,
  push_id: null,
  publish_as: null,
  status: 'succeeded',
  ...storedMessage(''),
  progress: 100,
  tiles: 21_845,
  bytes: 268_435_456,
  download_url: `http://127.0.0.1:8910/api/v1/admin/exports/${ID}/file`,
  requested_by: 'admin',
  created_at: EARLIER,
  finished_at: LATER,
  expires_at: LATER,
}

const SEED = {
  id: ID,
  basemap_code: 'town',
  version: 'live',
  bounds: [5.9, 45.8, 10.5, 47.8],
  min_zoom: 0,
  max_zoom: 12,
  rate: 10,
  status: 'running',
  cancelled: false,
  ...storedMessage(''),
  progress: 40,
  total: 5_000,
  done: 1_998,
  failed: 2,
  failures: [{ z: 12, x: 2133, y: 1438, message: 'it returns 500: no memory' }],
  requested_by: 'admin',
  created_at: EARLIER,
  started_at: EARLIER,
  finished_at: null,
}

export const DELIVERIES: Readonly<Record<string, Example>> = {
  listTargets: { answer: list(TARGET) },
  getTarget: { parameters: { code: 'branch' }, answer: TARGET },
  saveTarget: {
    request: {
      code: 'branch',
      name: 'Branch office',
      kind: 'http',
      url: 'https://branch.example/api/v1/import',
      mode: 'upload',
      secret: 'the IMPORT_TOKEN of the branch',
    },
    answer: TARGET,
  },
  testTarget: {
    parameters: { code: 'branch' },
    answer: {
      delivered: true,
      status: 200,
      ...ANSWERED,
      answer: '{"ok":true}',
      duration_ms: 180,
      request: SENT,
    },
  },
  pushBasemap: {
    request: { target_code: 'branch', basemap_code: 'world', version: 'current' },
    answer: { ...PUSH_RECORD, ...ENQUEUED },
  },
  pushVector: {
    request: { target_code: 'branch', vector_code: 'main' },
    answer: { ...VECTOR_PUSH_RECORD, ...ENQUEUED },
  },
  ...records('Push', PUSH_RECORD),
  changePushRecords: {
    request: { action: 'retry', filter: { target_code: 'dispatch', status: 'failed' } },
    answer: { matched: 12, done: 12, failed: [] },
  },
  changeVectorPushRecords: {
    request: { action: 'acknowledge', ids: ['7d7f3c1e-2b59-4b7e-9d57-1f1f0a3f3c11', ID] },
    answer: bulkResult(1, 'there is no such record', 'record_not_found'),
  },
  ...records('VectorPush', VECTOR_PUSH_RECORD),
  listNotificationRules: { answer: list(NOTIFICATION_RULE) },
  saveNotificationRule: {
    request: { email: 'operators@example.com', kinds: ['push_failed', 'scan_failed'] },
    answer: NOTIFICATION_RULE,
  },
  deleteNotificationRule: { parameters: { id: ID }, answer: NOTIFICATION_RULE },
  testNotificationRule: {
    parameters: { id: ID },
    answer: { ...NOTIFICATION_RECORD, event: 'attention.test', subject: 'Test of notifications' },
  },
  ...records('Notification', NOTIFICATION_RECORD),
  ...records('Event', EVENT_RECORD),
  ...records('Purge', PURGE_RECORD),
  ...records('Callback', CALLBACK_RECORD),
  createExport: {
    request: { basemap_code: 'world', version: 'v1', bounds: EXPORT.bounds, zoom_max: 12 },
    answer: {
      ...EXPORT,
      status: 'pending',
      progress: 0,
      tiles: null,
      bytes: null,
      download_url: null,
      finished_at: null,
      expires_at: null,
    },
  },
  createSeed: {
    request: { basemap_code: 'town', version: 'live', bounds: SEED.bounds, min_zoom: 0, max_zoom: 12 },
    answer: { ...SEED, status: 'pending', progress: 0, done: 0, failed: 0, failures: [], started_at: null },
  },
  estimateSeed: {
    request: { basemap_code: 'town', version: 'live', bounds: SEED.bounds, min_zoom: 0, max_zoom: 12 },
    answer: { tiles: 1200, requests: 1200, bytes_estimate: 24_000_000, seconds: 120 },
  },
  listSeeds: { answer: list(SEED) },
  getSeed: { parameters, answer: SEED },
  cancelSeed: { parameters, answer: SEED },
  listExports: { answer: list(EXPORT) },
  getExport: { parameters, answer: EXPORT },
  deleteExport: { parameters, answer: EXPORT },
  downloadExport: { parameters },
  listArchives: {
    parameters: { code: 'world' },
    answer: list({
      id: ID,
      version: 'v2',
      from_version: 'v1',
      tiles: 412,
      bytes: 5_242_880,
      download_url: `http://127.0.0.1:8910/api/v1/catalog/basemaps/world/archives/${ID}`,
      created_at: EARLIER,
      expires_at: LATER,
    }),
  },
  downloadArchive: { parameters: { code: 'world', id: ID } },
  importArchive: {
    request: { event: '{"event":"basemap.version.pushed"}', archive: 'a zip' },
    answer: { event: 'basemap.version.pushed', code: 'world', version: 'v1', files: 341, bytes: 4_194_304 },
  },
}
