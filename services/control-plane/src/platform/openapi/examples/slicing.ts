import { coded } from '@gateway/contracts/messages.js'
import { warningOf } from '@gateway/contracts/warning.js'
import { bulkResult, EARLIER, type Example, ID, LATER, list } from './example.js'

const SUBMISSION = {
  target_code: 'survey',
  source_paths: ['/srv/images/north.tif'],
  code: 'survey-2026-03-01',
  name: 'Survey',
  zoom_min: 10,
  zoom_max: 16,
  callback_url: 'https://survey.example/finished',
}

const LISTED_JOB = {
  id: ID,
  code: 'survey-2026-03-01',
  name: 'Survey',
  source_count: 1,
  target_code: 'survey',
  output_root: '/srv/layers/survey/20260301-080000',
  zoom_min: 10,
  zoom_max: 16,
  zoom_max_native: false,
  tile_matrix_set: 'WebMercatorQuad',
  output: 'folder',
  encoding: 'rgb',
  resampling: 'auto',
  tile_size: 256,
  tile_format: 'webp',
  status: 'pending',
  message: '',
  message_code: null,
  message_params: null,
  log_path: '',
  callback_url: 'https://survey.example/finished',
  callback_status: '',
  created_at: EARLIER,
  started_at: null,
  finished_at: null,
  requested_by: '',
  progress: 0,
  cancelled: false,
  acknowledged_at: null,
}
const JOB = { ...LISTED_JOB, source_paths: ['/srv/images/north.tif'] }
export const FINISHED_JOB = {
  ...JOB,
  status: 'succeeded',
  started_at: EARLIER,
  finished_at: LATER,
  progress: 100,
  callback_status: 'pending',
  callback_attempts: 1,
  callback_message: '',
}
const { zoom_max: _, ...SUBMISSION_WITHOUT_ZOOM } = SUBMISSION
const WARNED_JOB = { ...JOB, zoom_max: 10, warnings: [warningOf(coded('slice_zoom_max_missing', { zoom: 10 }))] }
const parameters = { id: ID }

export const SLICING: Readonly<Record<string, Example>> = {
  submitSliceJob: { request: SUBMISSION_WITHOUT_ZOOM, answer: WARNED_JOB },
  getSliceJob: { parameters, answer: JOB },
  listLayerSources: {
    parameters: { code: 'survey' },
    answer: { code: 'survey', version: '20260301-080000', source_paths: ['/srv/images/north.tif'] },
  },
  listSliceJobs: { answer: list(LISTED_JOB) },
  getAdminSliceJob: { parameters, answer: JOB },
  submitAdminSliceJob: { request: SUBMISSION, answer: { ...JOB, requested_by: 'admin' } },
  acknowledgeSliceJob: {
    parameters,
    answer: { ...JOB, status: 'failed', message: 'an image is missing', acknowledged_at: EARLIER },
  },
  changeSliceJobs: {
    request: { action: 'cancel', ids: ['7d7f3c1e-2b59-4b7e-9d57-1f1f0a3f3c11', ID] },
    answer: bulkResult(1, 'no such slice job', 'slice_not_found'),
  },
  cancelSliceJob: {
    parameters,
    answer: { ...JOB, status: 'failed', message: `cancelled by admin at ${EARLIER}`, cancelled: true },
  },
  getSliceJobLog: { parameters, answer: 'reading /srv/images/north.tif\n' },
  estimateSliceJob: {
    request: SUBMISSION,
    answer: {
      tiles: 3120,
      bytes_estimate: 49_920_000,
      temp_bytes_estimate: 12_000_000,
      bounds: [8.4, 47.3, 8.6, 47.5],
      min_zoom: 10,
      max_zoom: 16,
      engine: 'gdal',
      free_bytes: 400_000_000_000,
    },
  },
  listSliceFiles: {
    answer: list({ name: 'north.tif', path: '/srv/images/north.tif', kind: 'file', size: 73_400_320 }),
  },
}
