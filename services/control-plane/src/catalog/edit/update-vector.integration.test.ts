import type { AdminVector } from '@gateway/contracts/vector.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { POINTS_FGB } from '@gateway/vectors/formats/testing/flatgeobufs.js'
import { dbfHeader, shpHeader, shxOf } from '@gateway/vectors/formats/testing/shapefiles.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, POINT, type Tree } from '../scans/testing/trees.js'

/** 道路 in GBK. */
const NAME = Buffer.from([0xb5, 0xc0, 0xc2, 0xb7])
const DECODED = [{ name: '道路', type: 'string' }]

let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  tree.put('roads.shp', shpHeader(1, [0, 0, 1, 1]))
  tree.put('roads.shx', shxOf(1))
  tree.put('roads.dbf', dbfHeader([[NAME, 'C']]))
  tree.put('points.fgb', POINTS_FGB)
  tree.put('a.geojson', POINT)
  await call('POST', '/scan-sources', { code: 'vectors', kind: 'vector', path: tree.root })
  await scan()
})
afterAll(async () => {
  await app.close()
  tree.remove()
})

async function call(method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin${path}`, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

async function scan(): Promise<void> {
  expect((await call('POST', '/scan-sources/vectors/run')).body).toMatchObject({ status: 'succeeded' })
}

const roads = async () => (await call('GET', '/vectors/roads')).body as AdminVector

test('a kind that the first version did not know is listed and filtered like the others', async () => {
  expect((await call('GET', '/vectors?kind=flatgeobuf')).body.items).toMatchObject([
    { code: 'points', kind: 'flatgeobuf', file_name: 'points.fgb', feature_count: 3, encoding_source: 'format' },
  ])
  expect((await call('GET', '/vectors?kind=geojson')).body.total).toBe(1)
  const [row] = await app.ctx.sql`SELECT kind, format FROM vectors WHERE code = 'points'`
  // The form that the previous version reads after a rollback.
  expect(row).toEqual({ kind: 'geojson', format: 'flatgeobuf' })
})

test('the encoding of a shapefile is set at once, logged, audited and kept over a scan, until it is reset', async () => {
  expect(await roads()).toMatchObject({ encoding: 'GBK', encoding_source: null })
  const before = await currentState(app.ctx.sql)
  const { status, body } = await call('PATCH', '/vectors/roads', { encoding: 'gb2312' })
  expect([status, body]).toMatchObject([
    200,
    { encoding: 'GBK', encoding_source: 'operator', fields: DECODED, confirmed: [], pending: [] },
  ])
  const since = await changesSince(app.ctx.sql, before)
  expect(since).toMatchObject({ changes: [{ kind: 'vector', key: 'roads' }] })
  expect((await call('GET', '/audit?limit=1')).body.items).toMatchObject([
    {
      action: 'vector.encoding',
      subject: 'roads',
      detail: { before: { encoding: null }, after: { encoding: 'GBK' } },
    },
  ])
  tree.put('roads.cpg', 'Big5')
  await scan()
  expect(await roads()).toMatchObject({ encoding: 'GBK', encoding_source: 'operator', fields: DECODED })
  await call('PATCH', '/vectors/roads', { encoding: '' })
  expect(await roads()).toMatchObject({ encoding: 'Big5', encoding_source: 'cpg', fields: [{ name: '耋繚' }] })
})

test('an omitted field stays unchanged', async () => {
  await call('PATCH', '/vectors/roads', { encoding: 'UTF-8', withdrawn: true })
  expect((await call('PATCH', '/vectors/roads', { withdrawn: false })).body).toMatchObject({
    withdrawn: false,
    encoding: 'UTF-8',
  })
})

test.each([
  ['roads', { encoding: 'EBCDIC' }, 400, 'body.encoding: not known'],
  [
    'roads',
    { encoding: null },
    400,
    'withdrawn, encoding, tile_min_zoom, tile_max_zoom, tile_fields or tiles is needed',
  ],
  ['roads', { name: 'x' }, 400, 'name'],
  ['points', { encoding: 'GBK' }, 400, 'only for shapefiles, GeoJSON and CSV'],
  ['nowhere', { encoding: 'GBK' }, 404, 'no such vector'],
])('for %s %j is refused with a reason and changes nothing', async (code, body, status, words) => {
  const before = await currentState(app.ctx.sql)
  const answer = await call('PATCH', `/vectors/${code}`, body)
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(words)])
  expect(await currentState(app.ctx.sql)).toEqual(before)
})

test('if one field is refused, no other field changes', async () => {
  await call('PATCH', '/vectors/roads', { encoding: 'UTF-8', tile_max_zoom: 3 })
  const before = await roads()
  expect(await call('PATCH', '/vectors/roads', { encoding: 'GBK', tile_min_zoom: 9 })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('above tile_max_zoom') },
  })
  expect(await roads()).toEqual(before)
})
