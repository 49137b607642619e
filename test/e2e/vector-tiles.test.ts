import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { expect, test } from 'vitest'
import { tilesBuilt } from '../harness/tiles-built.js'
import { useGateway } from '../harness/use-gateway.js'

const PROPERTIES = { name: '道路', count: 3, ratio: 0.5, open: true, since: '2026-01-02', constructor: 'x' }
const SQUARE = [
  [8, 47],
  [9, 47],
  [9, 48],
  [8, 48],
  [8, 47],
]
let file = ''

function write(id: number, geometry: object): void {
  const feature = { type: 'Feature', id, properties: PROPERTIES, geometry }
  writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features: [feature] }))
}

const gateway = useGateway({}, async ({ home, admin }) => {
  await mkdir(join(home, 'vectors'))
  file = join(home, 'vectors/area.geojson')
  write(7, { type: 'Polygon', coordinates: [SQUARE] })
  writeFileSync(join(home, 'vectors/broken.csv'), 'x,y,name\n500000,4000000,a\n')
  await admin.scanSource('vectors', 'vector', join(home, 'vectors'))
})

const built = (code: string) => tilesBuilt(gateway(), code)

const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const { token } = await gateway().admin.issueToken({ vector_codes: ['*'] })
  return fetch(`${gateway().url}${path}`, { method, headers: { 'x-access-token': token, ...headers } })
}

async function featureIn(answer: Response) {
  const tile = new VectorTile(new PbfReader(new Uint8Array(await answer.arrayBuffer())))
  expect(Object.keys(tile.layers)).toEqual(['area'])
  return tile.layers.area?.feature(0)
}

test('a vector is served as tiles with ids and typed attributes, and its old tiles are served until new ones are ready', async () => {
  const first = await built('area')
  expect(first.tiles).toMatchObject({ status: 'ready', message: '', min_zoom: 0, left_out: {} })
  await gateway().caughtUp()
  const described = await ask('/vectors/area/tilejson.json')
  expect(described.status).toBe(200)
  const tileJson = (await described.json()) as { tiles: string[]; maxzoom: number; vector_layers: object[] }
  expect(tileJson).toMatchObject({
    tilejson: '3.0.0',
    minzoom: 0,
    maxzoom: first.tiles.max_zoom,
    bounds: [8, 47, 9, 48],
  })
  expect(tileJson.vector_layers).toMatchObject([
    {
      id: 'area',
      minzoom: 0,
      maxzoom: first.tiles.max_zoom,
      fields: { name: 'String', count: 'Number', open: 'Boolean' },
    },
  ])
  expect(tileJson.tiles).toEqual([
    expect.stringMatching(new RegExp(`/vectors/area/tiles/{z}/{x}/{y}.mvt\\?v=${first.revision}$`)),
  ])
  const answer = await ask('/vectors/area/tiles/0/0/0.mvt')
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-encoding')]).toEqual([
    200,
    'application/vnd.mapbox-vector-tile',
    'gzip',
  ])
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(answer.headers.get('vary')).toBe('Authorization, X-Access-Token, Accept-Encoding')
  const etag = answer.headers.get('etag') ?? ''
  const feature = await featureIn(answer)
  expect([feature?.id, feature?.type, feature?.properties]).toEqual([7, 3, PROPERTIES])
  for (const path of ['/vectors/area/tiles/0/0/0.mvt', '/vectors/area/tiles/0/0/0.pbf?v=1']) {
    expect((await ask(path, { 'if-none-match': etag })).status).toBe(304)
    expect((await ask(path, {}, 'HEAD')).status).toBe(200)
  }
  expect(
    (await ask('/vectors/area/tiles/0/0/0.mvt', { 'accept-encoding': 'identity' })).headers.get('content-encoding'),
  ).toBe(null)

  write(8, { type: 'Point', coordinates: [8.5, 47.5] })
  await gateway().admin.rescan('vectors')
  const next = await built('area')
  await gateway().caughtUp()
  expect(next.revision).toBeGreaterThan(first.revision)
  expect((await featureIn(await ask('/vectors/area/tiles/0/0/0.mvt')))?.id).toBe(8)
})

test('an empty tile returns 204, and one outside the zooms or the grid 404', async () => {
  const { tiles } = await built('area')
  const max = tiles.max_zoom as number
  const status = async (path: string) => (await ask(`/vectors/area/tiles/${path}`)).status
  expect(await status('1/0/1.mvt')).toBe(204)
  expect(await status(`${max + 1}/0/0.mvt`)).toBe(404)
  expect(await status('1/2/0.mvt')).toBe(404)
  expect(await status('0/0/0.png')).toBe(404)
  expect(await status('a/0/0.mvt')).toBe(400)
})

test('tiles are refused like the download', async () => {
  const none = await fetch(`${gateway().url}/vectors/area/tiles/0/0/0.mvt`)
  const { token } = await gateway().admin.issueToken({ vector_codes: ['other'] })
  const headers = { 'x-access-token': token }
  for (const path of ['area/tiles/0/0/0.mvt', 'area/tilejson.json', 'nothing/tiles/0/0/0.mvt', 'area/tiles/99/0/0.mvt'])
    expect((await fetch(`${gateway().url}/vectors/${path}`, { headers })).status, path).toBe(403)
  expect([none.status, (await ask('/vectors/nothing/tiles/0/0/0.mvt')).status]).toEqual([401, 404])
  await gateway().admin.call('/vectors/area', { method: 'PATCH', body: { withdrawn: true } })
  expect((await ask('/vectors/area/tiles/0/0/0.mvt')).status).toBe(404)
  await gateway().admin.call('/vectors/area', { method: 'PATCH', body: { withdrawn: false } })
  expect((await ask('/vectors/area/tiles/0/0/0.mvt')).status).toBe(200)
})

test('a vector that cannot be read says why, and stays downloadable', async () => {
  const broken = await built('broken')
  expect(broken.tiles.status).toBe('failed')
  expect(broken.tiles.message).not.toBe('')
  expect((await ask('/vectors/broken/download')).status).toBe(200)
  expect((await ask('/vectors/broken/tilejson.json')).status).toBe(404)
})

test('an operator sets the zooms of tiles, and disables them', async () => {
  const patch = (body: object) => gateway().admin.call<AdminVector>('/vectors/area', { method: 'PATCH', body })
  expect((await patch({ tile_min_zoom: 5, tile_max_zoom: 3 })).status).toBe(400)
  expect((await patch({ tile_min_zoom: 2, tile_max_zoom: 3 })).body).toMatchObject({
    tile_min_zoom: 2,
    tile_max_zoom: 3,
  })
  expect((await built('area')).tiles).toMatchObject({ status: 'ready', min_zoom: 2, max_zoom: 3 })
  expect((await patch({ tile_fields: ['count', 'name'] })).body).toMatchObject({ tile_fields: ['count', 'name'] })
  await built('area')
  await gateway().caughtUp()
  const { vector_layers: layers } = (await (await ask('/vectors/area/tilejson.json')).json()) as {
    vector_layers: object[]
  }
  expect(layers).toMatchObject([{ fields: { count: 'Number', name: 'String' } }])
  expect(layers).not.toMatchObject([{ fields: { open: 'Boolean' } }])
  expect((await patch({ tiles: false })).body.tiles).toMatchObject({ status: 'none' })
  expect((await ask('/vectors/area/tilejson.json')).status).toBe(404)
  await patch({ tiles: true, tile_min_zoom: null, tile_max_zoom: null, tile_fields: null })
  expect((await built('area')).tiles).toMatchObject({ status: 'ready', min_zoom: 0 })
})
