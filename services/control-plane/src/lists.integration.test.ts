import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { insertAudit } from '@gateway/store/audit.js'
import { setVersionsAvailable, setVersionWithdrawn, upsertBasemap, upsertVersion } from '@gateway/store/basemaps.js'
import { startScan, upsertScanSource } from '@gateway/store/scan-sources.js'
import { submitSliceJob } from '@gateway/store/slice-jobs.js'
import { upsertVectors } from '@gateway/store/vectors.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestApp } from './testing/test-app.js'

let gateway: TestApp
let reader: string
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  const { sql } = gateway.store
  await sql.begin(async (tx) => {
    for (const kind of ['basemap', 'vector'] as const) {
      await upsertScanSource(tx, { code: kind, kind, path: `/data/${kind}`, name: `All ${kind}s`, enabled: undefined })
    }
    for (const [code, name] of [
      ['world', 'Welt'],
      ['sea', 'ÖSTLICHE See'],
      ['city_1', '100% city'],
    ] as const) {
      await upsertBasemap(tx, { code, name, tileBaseUrl: 'http://tiles.example', sourceCode: 'basemap' })
      for (const version of ['1', '2', '10']) await upsertVersion(tx, code, { ...VERSION, version })
    }
    await setVersionsAvailable(tx, 'sea', ['1', '2', '10'], false)
    await setVersionWithdrawn(tx, 'sea', '1', true)
    await upsertVectors(tx, [vector('roads', 30), vector('rivers', 20), vector('lakes', 10)])
    for (const code of ['x', 'y']) await submitSliceJob(tx, { ...JOB, code, targetCode: code }, null)
    await insertAudit(tx, { actor: 'ann', address: '::1', action: 'old', subject: 'sea' })
    const detail = { name: 'Welt', prefix: 'bmp_findable' }
    await insertAudit(tx, { actor: 'ann', address: '::1', action: 'new', subject: 'world', detail })
  })
  for (const code of ['one', 'two']) {
    await post('/targets', { code, kind: 'http', url: `http://${code}.example/` })
  }
  await sql`
    INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, status, due_at)
    SELECT 'basemap_push', 'message', 'one', 'one', 'world', '1', 'failed', NULL FROM generate_series(1, 30)`
  const { token } = await post('/tokens', { name: 'Reader', basemap_codes: ['*'], vector_codes: ['*'] })
  reader = token
  await post('/tokens', { name: 'gone', basemap_codes: ['sea'], expires_at: '2020-01-01' })
  const { id } = await post('/tokens', { name: 'leaked', scopes: ['slice'] })
  await post(`/tokens/${id}/disable`, {})
})
afterAll(() => gateway.close())

const VERSION = {
  storage: 'xyz',
  format: 'png',
  extension: 'png',
  tileSize: 256,
  minZoom: 0,
  maxZoom: 3,
  bounds: null,
  boundsDerived: false,
  rowsFromNorth: false,
  name: null,
  attribution: null,
  description: null,
  vectorLayers: null,
  tileMatrixSet: 'WebMercatorQuad',
  metadata: {},
  path: '/data/basemap/x',
  fingerprint: 'f',
} as const

const vector = (code: string, size: number) => ({
  code,
  name: code.toUpperCase(),
  kind: 'geojson' as const,
  relativePath: `a/${code}.geojson`,
  fileName: `${code}.geojson`,
  path: `/data/vector/a/${code}.geojson`,
  size,
  modifiedAt: new Date(size),
  fingerprint: 'f',
  sourceCode: 'vector',
  facts: null,
})

const JOB = {
  name: 'job',
  sourcePaths: ['/a.tif'],
  zoomMin: 0,
  zoomMax: 1,
  zoomMaxNative: false,
  tileMatrixSet: 'WebMercatorQuad' as const,
  encoding: 'rgb' as const,
  resampling: 'auto' as const,
  output: null,
  tileSize: 256,
  tileFormat: 'webp',
  callbackUrl: '',
  requestedBy: '',
}

async function post(path: string, payload: object) {
  const answer = await gateway.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })
  expect([path, answer.statusCode]).toEqual([path, 200])
  return answer.json()
}

const VECTOR_FIELDS = 'code name kind relative_path file_name size modified_at available source_code'.split(' ')
const VERSION_FIELDS = 'version storage format tile_size min_zoom max_zoom available scanned_at revision'.split(' ')
const PUSH_FIELDS = 'target_code status attempts message next_attempt_at created_at updated_at'.split(' ')

/** Returns one field of each item of a page, and the total. */
async function page(path: string, field = 'code'): Promise<[unknown[], number]> {
  const url = path.startsWith('/catalog') ? `/api/v1${path}` : `/api/v1/admin${path}`
  const headers = path.startsWith('/catalog') ? { authorization: `Bearer ${reader}` } : {}
  const answer = await gateway.admin({ url, headers })
  expect([path, answer.statusCode, answer.body.slice(0, 200)]).toEqual([path, 200, expect.any(String)])
  const { items, total } = answer.json()
  return [items.map((item: Record<string, unknown>) => item[field]), total]
}

describe('every list of the document', () => {
  interface Parameter {
    readonly name: string
    readonly in: string
    readonly schema: { readonly enum?: readonly string[] }
  }
  const lists = () => {
    const document = gateway.app.swagger() as {
      paths: Record<string, { get?: { parameters?: Parameter[]; responses: Record<string, unknown> } }>
    }
    return Object.entries(document.paths).flatMap(([path, { get }]) => {
      const schema = JSON.stringify(get?.responses['200'] ?? '')
      const isList = /"properties":\{"items":\{.*"required":\["items","total"\]/.test(schema)
      return get !== undefined && isList ? [{ path, parameters: get.parameters ?? [] }] : []
    })
  }
  let scanId: string
  beforeAll(async () => {
    scanId = (await startScan(gateway.ctx.sql, 'basemap')).id
  })
  const ask = (path: string, query: string) => {
    const code = path.includes('/basemaps/') ? 'world' : 'basemap'
    // Required parameters, unless the query sets them.
    const needed = path.endsWith('/usage') ? { by: 'token', step: 'day' } : {}
    const all = new URLSearchParams({ ...needed, ...Object.fromEntries(new URLSearchParams(query)) })
    const url = `${path.replace('{code}', code).replace('{id}', scanId)}?${all}`
    return gateway.admin({ url, headers: path.includes('/catalog/') ? { authorization: `Bearer ${reader}` } : {} })
  }

  test('can be searched, sorted by each of its fields, paged and filtered, and refuses unknown parameters', async () => {
    expect(lists().length).toBeGreaterThanOrEqual(15)
    for (const { path, parameters } of lists()) {
      const query = parameters.filter((parameter) => parameter.in === 'query')
      const names = query.map(({ name }) => name)
      expect([path, names]).toEqual([path, expect.arrayContaining(['q', 'sort', 'limit', 'offset'])])
      const sorts = query.find(({ name }) => name === 'sort')?.schema.enum ?? []
      expect(sorts.length).toBeGreaterThan(1)
      for (const sort of sorts) {
        const answer = await ask(path, `sort=${sort}&q=a&limit=1000&offset=1`)
        expect([path, sort, answer.statusCode]).toEqual([path, sort, 200])
      }
      for (const wrong of ['statsu=failed', 'sort=nothing', 'sort=constructor', 'limit=0', 'limit=1001', 'offset=-1']) {
        const answer = await ask(path, wrong)
        expect([path, wrong, answer.statusCode]).toEqual([path, wrong, 400])
      }
      expect([path, (await ask(path, 'q=%00')).statusCode]).toEqual([path, 400])
    }
  })

  test('filters by every documented value, and by texts and times', async () => {
    const values: Record<string, string> = {
      job_id: crypto.randomUUID(),
      scan: crypto.randomUUID(),
      expires_after: '2026-01-01T00:00:00Z',
      from: '2026-01-01T00:00:00Z',
      expires_within: '14d',
    }
    // The two parts of a pair are parameters only of that grouping.
    const grouping: Record<string, string> = {
      token_id: 'by=token,basemap&',
      basemap_code: 'by=token,basemap&',
      vector_code: 'by=token,vector&',
    }
    for (const { path, parameters } of lists()) {
      const pagers = ['q', 'sort', 'limit', 'offset', 'before', 'dir']
      const filters = parameters.filter((one) => one.in === 'query' && !pagers.includes(one.name))
      if (!/\/(warnings|signing-keys)$/.test(path)) expect([path, filters.length]).not.toEqual([path, 0])
      for (const { name, schema } of filters) {
        for (const value of schema.enum ?? [values[name] ?? values[name === 'to' ? 'from' : ''] ?? 'x"\'$1']) {
          const before = path.endsWith('/usage') ? (grouping[name] ?? '') : ''
          const answer = await ask(path, `${before}${name}=${encodeURIComponent(value)}`)
          expect([path, name, value, answer.statusCode]).toEqual([path, name, value, 200])
        }
      }
    }
  })
})

test.each([
  ['/catalog/basemaps', ['code', 'name', 'default_version', 'source_code', 'created_at', 'updated_at']],
  ['/catalog/vectors', VECTOR_FIELDS],
  ['/vectors', VECTOR_FIELDS],
  ['/versions', VERSION_FIELDS],
  ['/basemaps/{code}/versions', VERSION_FIELDS],
  ['/scan-sources', ['code', 'name', 'kind', 'path', 'enabled', 'last_scan']],
  ['/targets', ['code', 'name', 'kind', 'url', 'path', 'mode', 'enabled']],
  ['/tokens', ['name', 'prefix', 'expires_at', 'disabled_at', 'created_at', 'last_used_at']],
  ['/push-records', [...PUSH_FIELDS, 'basemap_code', 'version']],
  ['/vector-push-records', [...PUSH_FIELDS, 'vector_code']],
  ['/slice/jobs', ['code', 'name', 'target_code', 'status', 'created_at', 'requested_by', 'progress']],
  ['/audit', ['id', 'at', 'actor', 'address', 'action', 'subject']],
])('%s is sorted by each of its plain fields', (path, fields) => {
  const { paths } = gateway.app.swagger() as {
    paths: Record<string, { get: { parameters: { name: string; schema: { enum: string[] } }[] } }>
  }
  const list = paths[path.startsWith('/catalog') ? `/api/v1${path}` : `/api/v1/admin${path}`]
  const sorts = list?.get.parameters.find(({ name }) => name === 'sort')?.schema.enum
  expect(sorts).toEqual(expect.arrayContaining(fields.flatMap((field) => [field, `-${field}`])))
})

test('in the default order an exact code comes first, however many others contain it', async () => {
  expect(await page('/vectors?q=roads&limit=1')).toEqual([['roads'], 1])
  const { sql } = gateway.store
  const codes = ['a-roads', 'b-roads', 'c-roads']
  await sql.begin((tx) =>
    upsertVectors(
      tx,
      codes.map((code) => vector(code, 1)),
    ),
  )
  expect((await page('/vectors?q=ROADS&limit=1'))[0]).toEqual(['roads'])
  expect((await page('/vectors?q=oads&limit=1'))[0]).toEqual(['a-roads'])
  await sql`DELETE FROM vectors WHERE code = ANY(${codes})`
})

test('a search finds a part of a code or name in any case and script, and does not interpret patterns', async () => {
  expect(await page('/basemaps?q=WORL')).toEqual([['world'], 1])
  expect(await page('/basemaps?q=%C3%B6stl')).toEqual([['sea'], 1])
  expect(await page('/basemaps?q=%25')).toEqual([['city_1'], 1])
  expect(await page('/basemaps?q=_')).toEqual([['city_1'], 1])
  expect(await page('/basemaps?q=.')).toEqual([[], 0])
  expect(await page('/vectors?q=a/r')).toEqual([['rivers', 'roads'], 2])
  expect(await page('/catalog/vectors?q=A/R')).toEqual([['rivers', 'roads'], 2])
  expect(await page('/catalog/basemaps?q=%C3%B6stl')).toEqual([['sea'], 1])
})

test('a token is found by its prefix, and by its state', async () => {
  const { items } = (await gateway.admin({ url: '/api/v1/admin/tokens?q=leak' })).json()
  expect(await page(`/tokens?q=${items[0].prefix}`, 'name')).toEqual([['leaked'], 1])
  expect(await page('/tokens?status=active', 'name')).toEqual([['Reader'], 1])
  expect(await page('/tokens?status=expired', 'name')).toEqual([['gone'], 1])
  expect(await page('/tokens?status=disabled&scope=slice', 'name')).toEqual([['leaked'], 1])
  expect(await page('/tokens?basemap_code=sea&sort=name', 'name')).toEqual([['gone', 'Reader'], 2])
  expect(await page('/tokens?basemap_code=world', 'name')).toEqual([['Reader'], 1])
  // By default a token is valid for 30 days.
  expect(await page('/tokens?expires_within=31d', 'name')).toEqual([['Reader'], 1])
  expect(await page('/tokens?expires_within=29d', 'name')).toEqual([[], 0])
  expect((await gateway.admin({ url: '/api/v1/admin/tokens?expires_within=14' })).statusCode).toBe(400)
})

test('a preview link reads one basemap until it expires, and its token is listed only on request', async () => {
  const before = (await page('/tokens'))[1]
  await gateway.ctx.sql`UPDATE basemap_versions SET withdrawn = true WHERE version = '2'`
  const payload = { basemap_code: 'world', version: '2' }
  const refused = await gateway.admin({ method: 'POST', url: '/api/v1/admin/preview-links', payload })
  expect(refused.statusCode).toBe(400)
  await gateway.ctx.sql`UPDATE basemap_versions SET withdrawn = false WHERE version = '2'`
  const link = await post('/preview-links', { basemap_code: 'world', version: '2', expires_in_seconds: 3600 })
  const [address, place] = link.url.split('#')
  const { token, ...shown } = Object.fromEntries(new URLSearchParams(place))
  expect([address, shown]).toEqual(['http://127.0.0.1:8910/map/', { code: 'world', version: '2' }])
  expect((await page('/tokens'))[1]).toBe(before)
  expect(await page('/tokens?kind=preview', 'id')).toEqual([[link.id], 1])
  const answer = await gateway.admin({ url: `/api/v1/admin/tokens/${link.id}` })
  expect(answer.json()).toMatchObject({ basemap_codes: ['world'], vector_codes: [], expires_at: link.expires_at })
  const headers = { authorization: `Bearer ${token}` }
  const catalog = (await gateway.admin({ url: '/api/v1/catalog/basemaps', headers })).json()
  expect(catalog.items.map(({ code }: { code: string }) => code)).toEqual(['world'])
  expect((await page(`/audit?subject=${link.id}`, 'subject_name'))[0]).toEqual(['Preview of Welt'])
})

test.each([
  [{ basemap_code: 'none' }, 404],
  [{ basemap_code: 'world', version: 'none' }, 404],
  [{ basemap_code: 'world', expires_in_seconds: 2_592_001 }, 400],
  [{ basemap_code: 'world', token: 'x' }, 400],
])('no preview link is created by %j', async (payload, status) => {
  const answer = await gateway.admin({ method: 'POST', url: '/api/v1/admin/preview-links', payload })
  expect(answer.statusCode).toBe(status)
})

test('pages are sorted as a whole, empty values come last, and total counts all matches', async () => {
  expect(await page('/vectors?sort=size')).toEqual([['lakes', 'rivers', 'roads'], 3])
  expect(await page('/vectors?sort=-size&limit=1&offset=1')).toEqual([['rivers'], 3])
  expect(await page('/vectors?sort=-size&offset=7')).toEqual([[], 3])
  expect(await page('/catalog/vectors?sort=-size&limit=2')).toEqual([['roads', 'rivers'], 3])
  expect((await page('/tokens?sort=disabled_at', 'name'))[0]?.[0]).toBe('leaked')
  expect((await page('/tokens?sort=-disabled_at', 'name'))[0]?.[0]).toBe('leaked')
})

test('versions are listed over all basemaps, and the unavailable ones are those of the ledger', async () => {
  const { ledger } = (await gateway.admin({ url: '/api/v1/admin/dashboard' })).json()
  const [versions, total] = await page('/versions?available=false&withdrawn=false&source_enabled=true', 'version')
  expect([versions, total]).toEqual([['10', '2'], ledger.versions_unavailable])
  expect(await page('/versions?basemap_code=sea&withdrawn=true', 'version')).toEqual([['1'], 1])
  expect(await page('/versions?q=welt&limit=1', 'basemap_code')).toEqual([['world'], 3])
  expect(await page('/basemaps?available=false')).toEqual([['sea'], 1])
  expect(await page('/catalog/basemaps?available=true')).toEqual([['city_1', 'world'], 2])
})

test('records come by 20 without a limit, admin lists by 1,000, and the catalog whole', async () => {
  const [ids, total] = await page('/push-records', 'id')
  expect([ids.length, total]).toEqual([20, 30])
  expect((await page('/push-records?limit=1000', 'id'))[0]).toHaveLength(30)
  expect(await page('/push-records?status=succeeded')).toEqual([[], 0])
  const rest = await page(`/push-records?status=failed&before=${ids[19]}`, 'id')
  expect([rest[0].length, rest[1]]).toEqual([10, 30])
  await gateway.store.sql`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    SELECT 'many-' || n, 'many', 'http://tiles.example', 'basemap' FROM generate_series(1, 1100) n`
  const [first, all] = await page('/basemaps?q=many')
  expect([first.length, all]).toEqual([1000, 1100])
  expect((await page('/basemaps?q=many&offset=1000'))[0]).toHaveLength(100)
  expect((await page('/catalog/basemaps?q=many'))[0]).toHaveLength(1100)
})

test('one object of every kind is returned by its code or id, and an unknown one returns 404', async () => {
  const found = async (path: string) => {
    const answer = await gateway.admin({ url: `/api/v1/admin${path}` })
    return [path, answer.statusCode, answer.json()]
  }
  const listed = async (path: string) => (await gateway.admin({ url: `/api/v1/admin${path}?limit=1` })).json().items[0]
  for (const path of ['/basemaps', '/vectors', '/scan-sources', '/targets', '/basemaps/world/versions', '/audit']) {
    // Only the list of basemaps has this figure.
    const { requests_per_day, ...item } = await listed(path)
    const one = `${path}/${path.endsWith('versions') ? item.version : (item.code ?? item.id)}`
    expect(await found(one)).toEqual([one, 200, item])
    for (const absent of [`${path}/nothing`, `${path}/999999`, `${path}/99999999999999999999`]) {
      expect(await found(absent)).toEqual([absent, 404, { error: expect.any(String) }])
    }
  }
  await startScan(gateway.ctx.sql, 'basemap')
  for (const path of ['/signing-keys', '/scan-sources/basemap/scans']) {
    const item = await listed(path)
    expect(await found(`${path}/${item.id}`)).toEqual([`${path}/${item.id}`, 200, item])
    expect((await found(`${path}/nothing`))[1]).toBe(404)
  }
  expect((await found('/edges/nothing'))[1]).toBe(404)
  expect((await found('/scan-sources/basemap/scans/nothing/warnings'))[1]).toBe(404)
  for (const path of ['/push-records', '/slice/jobs']) {
    const one = `${path}/${(await listed(path)).id}`
    expect((await found(one)).slice(0, 2)).toEqual([one, 200])
  }
  expect((await found('/basemaps/nothing/versions'))[1]).toBe(404)
})

test('the versions of a basemap come in natural order, in both directions', async () => {
  expect(await page('/basemaps/world/versions', 'version')).toEqual([['1', '2', '10'], 3])
  expect(await page('/basemaps/world/versions?sort=-version&limit=2', 'version')).toEqual([['10', '2'], 3])
  expect(await page('/basemaps/sea/versions?withdrawn=false&q=1', 'version')).toEqual([['10'], 1])
})

test('the audit can be searched, filtered by actor, action and time, and paged', async () => {
  expect(await page('/audit?subject=sea', 'action')).toEqual([['old'], 1])
  expect(await page('/audit?actor=ann&sort=at', 'action')).toEqual([['old', 'new'], 2])
  expect(await page('/audit?q=ANN&limit=1', 'action')).toEqual([['new'], 2])
  expect(await page('/audit?q=welt&actor=ann', 'action')).toEqual([['new'], 1])
  expect(await page('/audit?q=BMP_find', 'action')).toEqual([['new'], 1])
  expect(await page('/audit?actor=ann&to=2026-01-01T00:00:00%2B08:00', 'action')).toEqual([[], 0])
})

describe('a POST with If-None-Match: *', () => {
  const create = (path: string, payload: object, condition = '*') =>
    gateway.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload, headers: { 'if-none-match': condition } })
  const target = (url: string) => ({ code: 'only', kind: 'http', url, secret: 'first' })

  test('creates, and returns 412 without a change if the code exists', async () => {
    const source = { code: 'only', kind: 'vector', path: '/data/first' }
    for (const [path, first, second] of [
      ['/targets', target('http://first.example/'), target('http://second.example/')],
      ['/scan-sources', source, { ...source, path: '/data/second' }],
    ] as const) {
      const created = await create(path, first)
      expect([path, created.statusCode]).toEqual([path, 200])
      const refused = await create(path, second)
      expect([refused.statusCode, refused.json()]).toEqual([412, { error: expect.stringContaining('exists') }])
      // Only the response to saving warns of a missing directory.
      const { warnings: _, ...stored } = created.json()
      expect((await gateway.admin({ url: `/api/v1/admin${path}/only` })).json()).toEqual(stored)
      expect((await post(path, second)).path ?? (await post(path, second)).url).toContain('second')
    }
    expect(await page('/audit?subject=only&action=target.create', 'action')).toEqual([['target.create'], 1])
  })

  test('lets one of many simultaneous requests through', async () => {
    const payload = { code: 'race', kind: 'directory', path: '/data/race' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('/targets', payload)))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(7).fill(412)])
  })

  test('accepts only the asterisk: an entity tag has no meaning here', async () => {
    const answer = await create('/targets', { code: 'one', kind: 'http', url: 'http://one.example/' }, '"x"')
    expect(answer.statusCode).toBe(200)
  })
})

describe('compression', () => {
  const ask = (encoding: string, url = '/api/v1/admin/basemaps') =>
    gateway.admin({ url, headers: { 'accept-encoding': encoding } })

  test('lists are compressed for clients that accept it, and have Vary', async () => {
    const plain = await ask('identity')
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const [encoding, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answer = await ask(encoding)
      expect(answer.headers).toMatchObject({
        'content-encoding': encoding,
        vary: expect.stringMatching(/accept-encoding/i),
      })
      expect(unpack(answer.rawPayload).toString()).toBe(plain.body)
      expect(answer.rawPayload.length).toBeLessThan(plain.rawPayload.length / 4)
    }
  })

  test('the response with the plaintext of a token is never compressed, nor are metrics', async () => {
    const payload = { name: 'long', basemap_codes: Array.from({ length: 500 }, (_, i) => `code-${i}`) }
    const headers = { 'accept-encoding': 'br, gzip' }
    const issued = await gateway.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload, headers })
    expect([issued.statusCode, issued.headers['content-encoding']]).toEqual([200, undefined])
    expect(issued.json().token).toMatch(/^bmp_/)
    expect((await ask('br, gzip', '/metrics')).headers['content-encoding']).toBeUndefined()
  })
})

test('a service token in the query does not count as a parameter of a list', async () => {
  const status = async (query: string) =>
    (await gateway.app.inject({ url: `/api/v1/catalog/basemaps?${query}` })).statusCode
  expect(await status(`token=${reader}`)).toBe(200)
  expect(await status(`token=${reader}&access_token=${reader}&limit=1`)).toBe(200)
  expect(await status(`token=${reader}&toekn=1`)).toBe(400)
})
