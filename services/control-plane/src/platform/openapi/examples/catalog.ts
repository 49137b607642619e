import { coded, storedMessage, textOf } from '@gateway/contracts/messages.js'
import { EARLIER, type Example, ID, LATER, list } from './example.js'

const VERSION = {
  version: 'v1',
  storage: 'xyz',
  format: 'png',
  tile_size: 256,
  min_zoom: 0,
  max_zoom: 12,
  bounds: [5.9, 45.8, 10.5, 47.8],
  tile_matrix_set: 'WebMercatorQuad',
  coordinate_offset: null,
  crs: 'EPSG:3857',
  revision: 1,
  available: true,
  scanned_at: LATER,
}
export const BASEMAP = {
  code: 'world',
  name: 'World',
  default_version: 'v1',
  versions: [VERSION],
  url_template: 'http://127.0.0.1:8910/tiles/world/current/{z}/{x}/{y}.png',
  source_code: 'maps',
  created_at: EARLIER,
  updated_at: LATER,
}
const ADMIN_VERSION = {
  ...VERSION,
  path: '/srv/maps/world/v1',
  withdrawn: false,
  held: false,
  rejected_reason: null,
  overrides: {},
  scanned: {
    storage: 'xyz',
    tile_matrix_set: 'WebMercatorQuad',
    coordinate_offset: null,
    format: 'png',
    bounds: [5.9, 45.8, 10.5, 47.8],
    min_zoom: 0,
    max_zoom: 12,
    name: 'World',
    attribution: null,
  },
}
const ADMIN_BASEMAP = {
  ...BASEMAP,
  versions: [ADMIN_VERSION],
  withdrawn: false,
  source_enabled: true,
  cache_policy: 'interface',
  s_maxage: null,
  scanned_name: 'World',
  description: null,
  tags: [],
  owner: null,
}

export const VECTOR = {
  code: 'main',
  name: 'main',
  kind: 'geojson',
  relative_path: 'roads/main.geojson',
  file_name: 'main.geojson',
  size: 48213,
  modified_at: EARLIER,
  available: true,
  source_code: 'vectors',
  download_url: 'http://127.0.0.1:8910/vectors/main/download',
  revision: 3,
  tiles: {
    status: 'ready',
    message: '',
    message_code: null,
    message_params: null,
    min_zoom: 0,
    max_zoom: 12,
    built_at: LATER,
    left_out: { '0': 310, '1': 42 },
  },
  description: null,
  crs: 'EPSG:4326',
  bounds: [5.9, 45.8, 10.5, 47.8],
  geometry_type: 'LineString',
  feature_count: 1250,
  fields: [{ name: 'name', type: 'string' }],
  encoding: 'UTF-8',
  encoding_source: 'format',
}
const ADMIN_VECTOR = {
  ...VECTOR,
  path: '/srv/vectors/roads/main.geojson',
  tile_min_zoom: null,
  tile_max_zoom: null,
  tile_fields: null,
  withdrawn: false,
  source_enabled: true,
}

export const EDGE = {
  id: ID,
  host: 'gateway-1',
  pid: 4711,
  version: '0.2.0',
  started_at: EARLIER,
  seen_at: LATER,
  applied_revision: 17,
}
export const FOLLOWED = { confirmed: [EDGE], pending: [] }
export const DELETED = { ...FOLLOWED, files: 0 }

const SWITCH = {
  id: ID,
  version: 'v2',
  at: LATER,
  status: 'pending',
  canary: {
    percent: 10,
    minutes: 30,
    started_at: null,
    ends_at: null,
    before_version: null,
    before: { requests: 0, missing: 0, failed: 0 },
    after: { requests: 0, missing: 0, failed: 0 },
  },
  ended_at: null,
  created_by: 'token',
  created_at: EARLIER,
}

const SCAN = {
  id: '7d7f3c1e-2b59-4b7e-9d57-1f1f0a3f3c11',
  status: 'succeeded',
  reason: 'schedule',
  changed: null,
  next_scan_at: null,
  started_at: EARLIER,
  finished_at: LATER,
  added: 1,
  updated: 0,
  missing: 0,
  ...storedMessage(''),
  warnings: 0,
  steps: 12,
  cancelled: false,
}
export const SCAN_SOURCE = {
  code: 'maps',
  name: 'Maps',
  kind: 'basemap',
  path: '/srv/maps',
  enabled: true,
  publish: 'automatic',
  schedule: { cron: '0 3 * * *', time_zone: 'Europe/Berlin' },
  next_scan_at: LATER,
  watch: false,
  watch_problem: null,
  last_scan: SCAN,
  queued_at: null,
}
export const HEALTH_CHECK = {
  checked_at: LATER,
  versions_checked: 2,
  versions_missing: 0,
  vectors_checked: 2,
  vectors_missing: 0,
}

const NO_TILE_SET_CODED = coded('scan_no_tile_set', { folder: '"notes"' })
const NO_TILE_SET = storedMessage(textOf(NO_TILE_SET_CODED), NO_TILE_SET_CODED)

export const CATALOG: Readonly<Record<string, Example>> = {
  listBasemaps: { answer: list(BASEMAP) },
  streamTileChanges: {
    parameters: { code: 'world', from: 'v1', to: 'v2' },
    answer: '{"z":5,"x":16,"y":11,"change":"changed"}\n{"z":6,"x":33,"y":22,"change":"added"}\n',
  },
  getBasemap: { parameters: { code: 'world' }, answer: BASEMAP },
  listVectors: { answer: list(VECTOR) },
  getVector: { parameters: { code: 'main' }, answer: VECTOR },
  listAdminBasemaps: { answer: list({ ...ADMIN_BASEMAP, requests_per_day: 1200.5 }) },
  listVersions: { answer: list({ ...ADMIN_VERSION, basemap_code: 'world' }) },
  getAdminBasemap: { parameters: { code: 'world' }, answer: ADMIN_BASEMAP },
  listBasemapVersions: { parameters: { code: 'world' }, answer: list(ADMIN_VERSION) },
  compareVersions: {
    parameters: { code: 'world', left: 'v1', right: 'v2', zoom_max: 2 },
    answer: {
      left: 'v1',
      right: 'v2',
      complete: true,
      zooms: [
        {
          zoom: 2,
          addresses: 16,
          step: 1,
          compared: 16,
          same: 13,
          different: [[2, 1]],
          only_left: [],
          only_right: [
            [3, 0],
            [3, 1],
          ],
        },
      ],
    },
  },
  getBasemapVersion: { parameters: { code: 'world', version: 'v1' }, answer: ADMIN_VERSION },
  getAdminVector: { parameters: { code: 'main' }, answer: ADMIN_VECTOR },
  listAdminVectors: { answer: list(ADMIN_VECTOR) },
  updateBasemap: {
    parameters: { code: 'world' },
    request: { withdrawn: true },
    answer: { ...ADMIN_BASEMAP, withdrawn: true, ...FOLLOWED },
  },
  updateBasemapVersion: {
    parameters: { code: 'world', version: 'v2' },
    request: { storage: 'tms' },
    answer: {
      ...ADMIN_VERSION,
      version: 'v2',
      storage: 'tms',
      revision: 2,
      overrides: { storage: 'tms' },
      ...FOLLOWED,
    },
  },
  refreshBasemapVersion: {
    parameters: { code: 'world', version: 'live' },
    request: { bounds: [5.9, 47.2, 15.1, 55.1], min_zoom: 8 },
    answer: { ...ADMIN_VERSION, version: 'live', storage: 'upstream', ...FOLLOWED },
  },
  approveBasemapVersion: {
    parameters: { code: 'world', version: 'v2' },
    answer: { ...ADMIN_VERSION, version: 'v2', ...FOLLOWED },
  },
  rejectBasemapVersion: {
    parameters: { code: 'world', version: 'v2' },
    request: { reason: 'zoom 12 is incomplete' },
    answer: {
      ...ADMIN_VERSION,
      version: 'v2',
      withdrawn: true,
      rejected_reason: 'zoom 12 is incomplete',
      ...FOLLOWED,
    },
  },
  updateVector: {
    parameters: { code: 'main' },
    request: { withdrawn: true },
    answer: { ...ADMIN_VECTOR, withdrawn: true, ...FOLLOWED },
  },
  changeBasemaps: {
    request: { action: 'withdraw', ids: ['world', 'wrold'] },
    answer: {
      matched: 2,
      done: 1,
      failed: [
        {
          id: 'wrold',
          code: 'not_found',
          error: 'no such basemap',
          details: [{ code: 'basemap_not_found', params: {} }],
        },
      ],
      ...FOLLOWED,
    },
  },
  changeVectors: {
    request: { action: 'restore', filter: { source_code: 'maps', withdrawn: 'true' } },
    answer: { matched: 12, done: 12, failed: [], ...FOLLOWED },
  },
  setDefaultVersion: {
    parameters: { code: 'world' },
    request: { version: 'v2', at: LATER, canary: { percent: 10, minutes: 30 } },
    answer: { ...ADMIN_BASEMAP, pending_switch: SWITCH },
  },
  getDefaultSwitch: { parameters: { code: 'world' }, answer: SWITCH },
  cancelDefaultSwitch: { parameters: { code: 'world' }, answer: { ...SWITCH, status: 'cancelled', ended_at: EARLIER } },
  getDefaultHistory: {
    parameters: { code: 'world' },
    answer: { items: [{ version: 'v1', since: EARLIER, until: null }], switches: [SWITCH] },
  },
  deleteBasemap: { parameters: { code: 'world' }, answer: DELETED },
  deleteBasemapVersion: { parameters: { code: 'world', version: 'v2' }, answer: DELETED },
  deleteVector: { parameters: { code: 'main' }, answer: DELETED },
  deleteScanSource: { parameters: { code: 'maps' }, answer: DELETED },
  getScanSource: { parameters: { code: 'maps' }, answer: SCAN_SOURCE },
  getScanSourceStorage: {
    parameters: { code: 'bucket' },
    answer: { endpoint: 'https://minio.example.org', state: 'answers', ...storedMessage(''), milliseconds: 12 },
  },
  listScanSources: { answer: list(SCAN_SOURCE) },
  saveScanSource: {
    request: { code: 'maps', kind: 'basemap', path: '/srv/maps', name: 'Maps' },
    answer: { ...SCAN_SOURCE, last_scan: null },
  },
  runScan: { parameters: { code: 'maps' }, answer: { ...SCAN, source_code: 'maps' } },
  listScans: { parameters: { code: 'maps' }, answer: list(SCAN) },
  getScan: { parameters: { code: 'maps', id: SCAN.id }, answer: SCAN },
  queueScan: { parameters: { code: 'maps' }, answer: SCAN_SOURCE },
  cancelScan: { parameters: { code: 'maps' }, answer: SCAN_SOURCE },
  tryScan: {
    request: { kind: 'basemap', path: '/srv/maps' },
    answer: {
      added: 1,
      updated: 0,
      missing: 0,
      found: ['world/2026-01'],
      lost: [],
      warnings: 1,
      messages: [NO_TILE_SET.message],
      coded_messages: [NO_TILE_SET],
      problem: null,
      problem_code: null,
      problem_params: null,
    },
  },
  listScanWarnings: {
    parameters: { code: 'maps', id: SCAN.id },
    answer: list({ number: 1, ...NO_TILE_SET }),
  },
  rescanVectors: { answer: list({ ...SCAN, source_code: 'vectors' }) },
  runHealthCheck: { answer: HEALTH_CHECK },
}
