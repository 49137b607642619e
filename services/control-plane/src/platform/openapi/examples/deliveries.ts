import { EARLIER, type Example, ID, LATER, list } from './example.js'

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
  message: 'answered 200',
  next_attempt_at: null,
  created_at: EARLIER,
  updated_at: LATER,
}
const ENQUEUED = { status: 'pending', attempts: 0, message: '', next_attempt_at: EARLIER, updated_at: EARLIER }
export const PUSH_RECORD = { ...RECORD, basemap_code: 'world', version: 'v1' }
export const PURGE_RECORD = { ...PUSH_RECORD, target_code: 'cdn' }
export const VECTOR_PUSH_RECORD = { ...RECORD, vector_code: 'main' }
const { target_code: _, ...CALLBACK } = RECORD
const CALLBACK_RECORD = { ...CALLBACK, job_id: ID, callback_url: 'https://survey.example/finished' }

const ATTEMPT = {
  started_at: EARLIER,
  duration_ms: 180,
  outcome: 'succeeded',
  http_status: 200,
  message: 'answered 200',
  answer: '{"ok":true}',
}
const parameters = { id: ID }
const detail = (record: object): Example => ({ parameters, answer: { ...record, attempt_log: [ATTEMPT] } })
const retry = (record: object): Example => ({ parameters, answer: { ...record, ...ENQUEUED } })

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
    answer: { delivered: true, status: 200, message: 'answered 200', answer: '{"ok":true}', duration_ms: 180 },
  },
  pushBasemap: {
    request: { target_code: 'branch', basemap_code: 'world', version: 'current' },
    answer: { ...PUSH_RECORD, ...ENQUEUED },
  },
  pushVector: {
    request: { target_code: 'branch', vector_code: 'main' },
    answer: { ...VECTOR_PUSH_RECORD, ...ENQUEUED },
  },
  listPushRecords: { answer: list(PUSH_RECORD) },
  getPushRecord: detail(PUSH_RECORD),
  retryPush: retry(PUSH_RECORD),
  listVectorPushRecords: { answer: list(VECTOR_PUSH_RECORD) },
  getVectorPushRecord: detail(VECTOR_PUSH_RECORD),
  retryVectorPush: retry(VECTOR_PUSH_RECORD),
  listPurgeRecords: { answer: list(PURGE_RECORD) },
  getPurgeRecord: detail(PURGE_RECORD),
  retryPurge: retry(PURGE_RECORD),
  listCallbackRecords: { answer: list(CALLBACK_RECORD) },
  getCallbackRecord: detail(CALLBACK_RECORD),
  retryCallback: retry(CALLBACK_RECORD),
  importArchive: {
    request: { event: '{"event":"basemap.version.pushed"}', archive: 'a zip' },
    answer: { event: 'basemap.version.pushed', code: 'world', version: 'v1', files: 341, bytes: 4_194_304 },
  },
}
