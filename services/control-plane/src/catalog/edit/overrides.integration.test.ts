import { readBasemap } from '@gateway/store/basemaps.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { makeTree, PIXEL, type Tree } from '../scans/testing/trees.js'
import { sourcesFromSettings } from '../sources/configured-sources.js'

let app: TestApp
let tree: Tree
beforeAll(async () => {
  tree = makeTree()
  app = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  await sourcesFromSettings(app.ctx.sql, app.ctx.settings)
  tree.put('maps/world/v1/0/0/0.png', PIXEL)
  tree.put('maps/world/v1/3/4/2.png', PIXEL)
  tree.put('maps/world/v1/tilejson.json', '{"name":"World","minzoom":0,"maxzoom":3}')
  tree.put('maps/sea/v1/0/0/0.png', PIXEL)
  await call('POST', '/scan-sources', { code: 'maps', kind: 'basemap', path: tree.at('maps') })
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
const scan = () => call('POST', '/scan-sources/maps/run')
const patch = (payload: object) => call('PATCH', '/basemaps/world/versions/v1', payload)
const lastAudit = async () => (await call('GET', '/audit?limit=1')).body.items[0]

const SCANNED = {
  storage: 'xyz',
  tile_matrix_set: 'WebMercatorQuad',
  coordinate_offset: null,
  format: 'png',
  bounds: [0, expect.closeTo(40.98, 2), 45, expect.closeTo(66.51, 2)],
  min_zoom: 0,
  max_zoom: 3,
  name: 'World',
  attribution: null,
}
const OVERRIDES = {
  tile_matrix_set: 'WorldCRS84Quad',
  format: 'webp',
  bounds: [1, 2, 3, 4],
  min_zoom: 1,
  max_zoom: 2,
  name: 'Mine',
  attribution: 'Me',
  coordinate_offset: 'gcj02',
}

test('overrides are served instead of scanned values, survive scans, and can be reset field by field', async () => {
  const before = (await call('GET', '/basemaps/world/versions/v1')).body
  expect(before).toMatchObject({ overrides: {}, scanned: SCANNED, storage: 'xyz' })
  const since = await currentState(app.ctx.sql)
  const { status, body } = await patch({ storage: 'tms', ...OVERRIDES })
  const { name: _name, attribution: _attribution, ...shown } = OVERRIDES
  expect([status, body]).toMatchObject([
    200,
    {
      storage: 'tms',
      ...shown,
      overrides: { storage: 'tms', ...OVERRIDES },
      scanned: SCANNED,
      confirmed: [],
      pending: [],
    },
  ])
  expect(body.revision).toBeGreaterThan(before.revision)
  expect(await changesSince(app.ctx.sql, since)).toMatchObject({ changes: [{ kind: 'basemap', key: 'world' }] })
  expect(await lastAudit()).toMatchObject({
    action: 'version.override',
    subject: 'world',
    before: { overrides: {} },
    after: { overrides: { storage: 'tms', ...OVERRIDES } },
  })
  // A scan compares with its previous result, so overrides do not count as changes.
  expect((await scan()).body).toMatchObject({ added: 0, updated: 0 })
  tree.put('maps/world/v1/tilejson.json', '{"name":"Other","minzoom":0,"maxzoom":3}')
  expect((await scan()).body).toMatchObject({ added: 0, updated: 1 })
  const later = (await call('GET', '/basemaps/world/versions/v1')).body
  expect(later).toMatchObject({ storage: 'tms', ...shown, scanned: { ...SCANNED, name: 'Other' } })
  expect((await patch({ format: null, bounds: null })).body).toMatchObject({
    format: 'png',
    // Bounds derived from the tiles follow the row order and the grid.
    bounds: [-90, expect.closeTo(-45), -67.5, expect.closeTo(-22.5)],
    overrides: { storage: 'tms', min_zoom: 1 },
  })
  const nothing = Object.fromEntries(['storage', ...Object.keys(OVERRIDES)].map((field) => [field, null]))
  expect((await patch(nothing)).body).toMatchObject({
    ...before,
    overrides: {},
    scanned: later.scanned,
    revision: expect.any(Number),
    scanned_at: later.scanned_at,
  })
})

test.each([
  [{ min_zoom: 5 }, 'min_zoom 5 is above max_zoom 3 (as scanned): set both'],
  [{ min_zoom: 2, max_zoom: 1 }, 'min_zoom 2 is above max_zoom 1: set both'],
  [{ bounds: [10, 5, 20, 4] }, 'south below north'],
  [{ bounds: [10, 5, 600, 6] }, 'in degrees'],
  [{ bounds: [1, 2, 3] }, 'bounds'],
  [{ storage: 'mbtiles' }, 'storage'],
  [{ max_zoom: 31 }, 'max_zoom'],
  [{ name: '' }, 'name'],
  [{ coordinate_offset: 'bd09' }, 'coordinate_offset'],
  [{}, 'must name at least one change'],
])('%j is refused, and nothing changes', async (payload, words) => {
  const before = await readBasemap(app.ctx.sql, 'world')
  const { status, body } = await patch(payload)
  expect([status, body.error]).toEqual([400, expect.stringContaining(words)])
  expect(await readBasemap(app.ctx.sql, 'world')).toEqual(before)
})

test('a PMTiles archive has no row order that could be overridden', async () => {
  await app.ctx.sql`UPDATE basemap_versions SET storage = 'pmtiles' WHERE basemap_code = 'sea'`
  const { status, body } = await call('PATCH', '/basemaps/sea/versions/v1', { storage: 'tms' })
  expect([status, body.error]).toEqual([400, expect.stringContaining('a pmtiles archive has no order of rows')])
  expect((await call('PATCH', '/basemaps/sea/versions/v1', { attribution: 'Me' })).status).toBe(200)
})

test('operators’ descriptions of a basemap survive scans, and can be searched and filtered', async () => {
  const notes = {
    name: 'Die Welt',
    description: 'For the harbour office',
    tags: ['base', 'world', 'base'],
    owner: 'gis@example.org',
  }
  const { status, body } = await call('PATCH', '/basemaps/world', notes)
  expect([status, body]).toMatchObject([200, { ...notes, tags: ['base', 'world'], scanned_name: 'Other' }])
  expect(await lastAudit()).toMatchObject({
    action: 'basemap.describe',
    before: { name: null, description: null, tags: [], owner: null },
    after: { ...notes, tags: ['base', 'world'] },
  })
  await scan()
  expect((await call('GET', '/basemaps/world')).body).toMatchObject({ name: 'Die Welt', owner: 'gis@example.org' })
  const codes = async (query: string) =>
    (await call('GET', `/basemaps?${query}`)).body.items.map(({ code }: { code: string }) => code)
  for (const query of [
    'q=harbour',
    'q=die+welt',
    'q=gis%40',
    'tag=base',
    'owner=gis%40example.org',
    'sort=owner&limit=1',
  ]) {
    expect([query, await codes(query)]).toEqual([query, ['world']])
  }
  expect(await codes('tag=bas')).toEqual([])
  const cleared = await call('PATCH', '/basemaps/world', { name: null, description: null, tags: [], owner: null })
  expect(cleared.body).toMatchObject({ name: 'Other', description: null, tags: [], owner: null })
})
