import { DELETED, EDGE, FOLLOWED, HEALTH_CHECK, SCAN_SOURCE } from './catalog.js'
import { PUSH_RECORD, VECTOR_PUSH_RECORD } from './deliveries.js'
import { EARLIER, type Example, ID, LATER, list } from './example.js'

const TOKEN = {
  id: ID,
  name: 'Road works',
  prefix: 'bmp_8Jq2vWxY',
  basemap_codes: ['world'],
  vector_codes: ['*'],
  layer_codes: ['*'],
  scopes: ['read'],
  allowed_origins: ['https://maps.example.com'],
  allowed_networks: [],
  rate_limit: null,
  bounds: null,
  expires_at: '2027-03-01T00:00:00.000Z',
  disabled_at: null,
  created_at: EARLIER,
  first_used_at: null,
  first_used_from: null,
  last_used_at: null,
  last_used_from: null,
  last_refused_at: EARLIER,
  refused_by: { origin: { requests: 278, last_at: EARLIER } },
  previous_prefix: null,
  previous_expires_at: null,
}
const PLAINTEXT = 'bmp_8Jq2vWxYk3LmNpQrStUvWxYz0123456789abcdefghi'

const SIGNED = { basemap_code: 'world', version: 'v1', expires_at: LATER }
const SIGNATURE = 'exp=1772352000&sig=Zk1h3cPzXJ0Qd2vS8mTqYyL4nR7uWbA9eGfHiKjMxNo'
const SIGNED_URL = {
  ...SIGNED,
  bounds: null,
  url_template: `http://127.0.0.1:8910/tiles/world/v1/{z}/{x}/{y}.png?v=1&${SIGNATURE}`,
  tilejson_url: `http://127.0.0.1:8910/tiles/world/v1/tilejson.json?${SIGNATURE}`,
  archive_url: null,
}
const SIGNING_KEY = { id: ID, created_at: EARLIER, signs_from: EARLIER, expires_at: LATER }

const AUDIT_ENTRY = {
  id: 42,
  at: EARLIER,
  actor: 'admin',
  address: '127.0.0.1',
  action: 'basemap.default-version',
  subject: 'world',
  subject_name: 'World',
  before: { default_version: 'v1' },
  after: { default_version: 'v2' },
  detail: { name: 'World', before: { default_version: 'v1' }, after: { default_version: 'v2' } },
  chain_position: 41,
  previous_sha256: '3b1c8f6a2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
  sha256: '9f2a7c01d3e4b5a6978812345678abcdef0123456789abcdef0123456789abcd',
}

const TRAFFIC = {
  requests: 5200,
  tiles: 5000,
  tiles_missing: 150,
  memory_hits: 4100,
  downloads: 12,
  auth_failures: 3,
  server_errors: 0,
  bytes_sent: 98_304_000,
  at: EARLIER,
  seconds: 30,
  latency: { p50: 0.0004, p95: 0.0031, p99: 0.0087 },
}

export const ADMINISTRATION: Readonly<Record<string, Example>> = {
  getSession: {
    answer: { name: 'Anna Ode', actor: 'anna@example.com', role: 'operator', by: 'oidc', expires_at: LATER },
  },
  endSession: { answer: { ended: true } },
  listTokens: { answer: list(TOKEN) },
  issueToken: {
    request: { name: 'Road works', basemap_codes: ['world'], vector_codes: ['*'], expires_at: '2027-03-01' },
    answer: { ...TOKEN, token: PLAINTEXT },
  },
  disableToken: { parameters: { id: ID }, answer: { ...TOKEN, disabled_at: LATER, ...FOLLOWED } },
  getToken: { parameters: { id: ID }, answer: TOKEN },
  updateToken: {
    parameters: { id: ID },
    request: { basemap_codes: ['world', 'city'] },
    answer: { ...TOKEN, basemap_codes: ['world', 'city'], ...FOLLOWED },
  },
  rotateToken: {
    parameters: { id: ID },
    request: { grace_seconds: 3600 },
    answer: { ...TOKEN, previous_prefix: 'bmp_1aB2cD3e', previous_expires_at: LATER, token: PLAINTEXT, ...FOLLOWED },
  },
  changeTokens: {
    request: { action: 'grant', filter: { q: 'Road works', status: 'active' }, params: { basemap_codes: ['city'] } },
    answer: { matched: 40, done: 40, failed: [], ...FOLLOWED },
  },
  deleteToken: { parameters: { id: ID }, answer: FOLLOWED },
  issuePreviewToken: { request: { basemap_code: 'world' }, answer: { token: PLAINTEXT, expires_at: LATER } },
  signUrl: {
    request: { ...SIGNED, bounds: [5.9, 45.8, 10.5, 47.8] },
    answer: { ...SIGNED_URL, bounds: [5.9, 45.8, 10.5, 47.8] },
  },
  signUrlByToken: { request: SIGNED, answer: SIGNED_URL },
  listSigningKeys: { answer: list(SIGNING_KEY) },
  getSigningKey: { parameters: { id: SIGNING_KEY.id }, answer: SIGNING_KEY },
  rotateSigningKey: {
    request: { grace_seconds: 86400 },
    answer: { items: [{ ...SIGNING_KEY, expires_at: null }, SIGNING_KEY], ...FOLLOWED },
  },
  createPreviewLink: {
    request: { basemap_code: 'world', expires_in_seconds: 86_400 },
    answer: { id: ID, url: `http://127.0.0.1:8910/map/#code=world&token=${PLAINTEXT}`, expires_at: LATER },
  },
  listEdges: { answer: list(EDGE) },
  getEdge: { parameters: { id: EDGE.id }, answer: EDGE },
  listAuditEntries: { answer: list(AUDIT_ENTRY) },
  exportAudit: {
    parameters: { format: 'csv', action: 'token.issue', from: EARLIER },
    answer: `id,at,actor,address,action,subject,detail,subject_name\r\n41,${EARLIER},anna@example.com,10.0.0.7,token.issue,${ID},"{""name"":""Road works""}",Road works\r\n`,
  },
  verifyAudit: {
    answer: {
      first_mismatch: null,
      count: 41,
      head: AUDIT_ENTRY.sha256,
      head_position: 41,
      anchor_position: 0,
      anchor_sha256: '0'.repeat(64),
      anchor_at: null,
    },
  },
  getAuditEntry: { parameters: { id: '42' }, answer: AUDIT_ENTRY },
  streamChanges: {
    answer: 'event: change\nid: 17\ndata: {"revision":17,"kind":"basemap","key":"world"}\n\n',
  },
  streamLiveTopics: { answer: 'event: watching\ndata: null\n\nevent: touched\ndata: ["catalog","audit"]\n\n' },
  getDashboard: {
    answer: {
      ledger: {
        basemaps: 1,
        versions: 2,
        versions_unavailable: 0,
        vectors: 2,
        vectors_unavailable: 0,
        vectors_unbuilt: 0,
      },
      tokens: { active: 1, expired: 0, disabled: 0, items: [TOKEN] },
      pushes: { basemap_records: [PUSH_RECORD], vector_records: [VECTOR_PUSH_RECORD] },
      layers: [{ code: 'survey', version: '20260301-080000', source_paths: ['/srv/images/north.tif'] }],
      scan_sources: [SCAN_SOURCE],
      health: HEALTH_CHECK,
      edges: [EDGE],
      audit: [AUDIT_ENTRY],
    },
  },
  getEdgeTraffic: {
    parameters: { id: EDGE.id },
    answer: { since: EARLIER, points: [{ ...TRAFFIC, memory_bytes: 163_840_000 }] },
  },
  getTraffic: { answer: { since: EARLIER, points: [TRAFFIC], edges: [{ ...TRAFFIC, id: ID }] } },
  getUsage: {
    parameters: { by: 'basemap', step: 'day' },
    answer: list({
      id: 'world',
      name: 'World',
      at: '2026-03-01T00:00:00.000Z',
      requests: 5200,
      tiles: 5000,
      tile_404: 150,
      refused: 3,
      refused_by: { origin: 0, network: 0, grant: 3, scope: 0, expired: 0, disabled: 0, rate: 0 },
      bytes: 98_304_000,
    }),
    text: 'id,at,requests,tiles,tile_404,refused,bytes,name\r\nworld,2026-03-01T00:00:00.000Z,5200,5000,150,3,98304000,World\r\n',
  },
  getUsageCells: {
    parameters: { basemap: 'world', kind: 'misses' },
    answer: {
      type: 'FeatureCollection',
      total: 1,
      requests: 150,
      features: [
        {
          type: 'Feature',
          properties: { tile_matrix_set: 'WebMercatorQuad', z: 1, x: 1, y: 0, requests: 5200, tile_404: 150 },
          geometry: {
            type: 'Polygon',
            coordinates: [
              [
                [0, 0],
                [180, 0],
                [180, 85.0511288],
                [0, 85.0511288],
                [0, 0],
              ],
            ],
          },
        },
      ],
    },
  },
  getSettings: {
    answer: {
      config_file: '/etc/map-asset-gateway/service.env',
      ...list(
        { name: 'API_PORT', group: 'addresses', value: 8910, secret: false, is_set: true, is_default: true },
        { name: 'ADMIN_TOKEN', group: 'administration', value: null, secret: true, is_set: true, is_default: false },
      ),
    },
  },
  deleteTarget: { parameters: { code: 'branch' }, answer: { ...DELETED, confirmed: [] } },
  getHealth: { answer: { status: 'ok' } },
  getReadiness: { answer: { status: 'ready', store: 'up', bus: 'up', bus_medium: 'postgres' } },
  getMetrics: {
    answer: 'gateway_control_requests_total{method="GET",route="/health",status="200"} 3\n',
  },
  getSystem: {
    answer: {
      service: 'map-asset-gateway',
      version: '0.2.0',
      api_base_url: 'http://127.0.0.1:8910',
      tile_base_url: 'http://127.0.0.1:8910',
      vector_base_url: 'http://127.0.0.1:8910',
      basemap_roots: ['/srv/maps'],
      vector_roots: ['/srv/vectors'],
      slice_output_root: '/srv/layers',
      slice_source_roots: ['/srv/images'],
    },
  },
}
