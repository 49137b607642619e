import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { signatureQuery, signResource } from '@gateway/core/access/signed-url.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { PbfReader, PbfWriter } from 'pbf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { READER, type RunningEdge, runEdge } from '../testing/running-edge.js'

const SECRET = Buffer.alloc(32, 7)
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'gateway-cut-'))
const EXTENT = 4096
const world = (degrees: number) => Math.round(((degrees + 180) / 360) * EXTENT)
const north = (degrees: number) =>
  Math.round((0.5 - Math.asinh(Math.tan((degrees * Math.PI) / 180)) / (2 * Math.PI)) * EXTENT)

type Corner = readonly [longitude: number, latitude: number]
interface Feature {
  readonly name: string
  readonly type: 1 | 2 | 3
  readonly paths: readonly (readonly Corner[])[]
}
const box = (west: number, south: number, east: number, top: number): Corner[] => [
  [west, south],
  [west, top],
  [east, top],
  [east, south],
]
const point = (name: string, at: Corner): Feature => ({ name, type: 1, paths: [[at]] })

/** Features around the area 0 to 20 degrees of longitude and latitude. */
const FEATURES: readonly Feature[] = [
  point('inside', [10, 10]),
  point('outside', [30, 10]),
  point('far', [-100, -40]),
  {
    name: 'a line that crosses without a corner inside',
    type: 2,
    paths: [
      [
        [-10, 15],
        [40, 15],
      ],
    ],
  },
  {
    name: 'a line around the corner',
    type: 2,
    paths: [
      [
        [-10, 15],
        [-10, 40],
        [15, 40],
      ],
    ],
  },
  { name: 'a polygon that contains the area', type: 3, paths: [box(-30, -30, 60, 60)] },
  { name: 'a polygon whose hole contains the area', type: 3, paths: [box(-30, -30, 60, 60), box(-10, -10, 30, 30)] },
  { name: 'a polygon with a corner inside', type: 3, paths: [box(18, 18, 50, 50)] },
  {
    name: 'a polygon whose box alone overlaps',
    type: 3,
    paths: [
      [
        [60, -10],
        [60, 60],
        [-10, 60],
      ],
    ],
  },
]
const INSIDE = [
  'inside',
  'a line that crosses without a corner inside',
  'a polygon that contains the area',
  'a polygon with a corner inside',
]

function commandsOf({ type, paths }: Feature): number[] {
  const numbers: number[] = []
  let [x, y] = [0, 0]
  const zigzag = (value: number) => (value << 1) ^ (value >> 31)
  for (const corners of paths) {
    for (const [i, [longitude, latitude]] of corners.entries()) {
      if (i === 0) numbers.push(1 | (1 << 3))
      if (i === 1) numbers.push(2 | ((corners.length - 1) << 3))
      const [toX, toY] = [world(longitude), north(latitude)]
      numbers.push(zigzag(toX - x), zigzag(toY - y))
      ;[x, y] = [toX, toY]
    }
    if (type === 3) numbers.push(7 | (1 << 3))
  }
  return numbers
}

/** Encodes the tile 0/0/0 by the specification of Mapbox Vector Tile 2.1. */
function encode(features: readonly Feature[]): Uint8Array {
  const out = new PbfWriter()
  out.writeMessage(
    3,
    (_, layer) => {
      layer.writeVarintField(15, 2)
      layer.writeStringField(1, 'places')
      layer.writeVarintField(5, EXTENT)
      for (const [i, feature] of features.entries())
        layer.writeMessage(
          2,
          (__, to) => {
            to.writeVarintField(1, i + 1)
            to.writePackedVarint(2, [0, i])
            to.writeVarintField(3, feature.type)
            to.writePackedVarint(4, commandsOf(feature))
          },
          null,
        )
      layer.writeStringField(3, 'name')
      for (const { name } of features) layer.writeMessage(4, (__, value) => value.writeStringField(1, name), null)
    },
    null,
  )
  return out.finish()
}

/** Returns the names that a tile contains, by its features, and all its texts. */
async function decode(bytes: Uint8Array): Promise<{ names: unknown[]; texts: string }> {
  const { VectorTile } = await import('@mapbox/vector-tile')
  const layer = new VectorTile(new PbfReader(bytes)).layers.places
  const names = Array.from({ length: layer?.length ?? 0 }, (_, i) => layer?.feature(i).properties.name)
  return { names, texts: Buffer.from(bytes).toString('latin1') }
}

let running: RunningEdge
beforeAll(async () => {
  const tile = encode(FEATURES)
  const vectorLayers = [{ id: 'places', fields: {} }]
  const world: Bounds = [-180, -85, 180, 85]
  const description = { format: 'pbf', encoding: 'gzip', bounds: world, metadata: {} } as const
  const tiles = [{ z: 0, x: 0, y: 0, data: gzipSync(tile) }]
  await writePmtiles(path.join(home, 'packed.pmtiles'), tiles, description)
  await writeMbtiles(path.join(home, 'packed.mbtiles'), tiles, { ...description, name: 'x' })
  const folder = path.join(home, 'build')
  fs.mkdirSync(path.join(home, 'plain/0/0'), { recursive: true })
  fs.writeFileSync(path.join(home, 'plain/0/0/0.pbf'), tile)
  fs.mkdirSync(path.join(home, 'broken/0/0'), { recursive: true })
  fs.writeFileSync(path.join(home, 'broken/0/0/0.pbf'), tile.subarray(0, tile.length - 40))
  for (const place of ['0/0/0', '3/4/3', '3/5/3']) {
    fs.mkdirSync(path.join(home, 'maplibre', path.dirname(place)), { recursive: true })
    fs.writeFileSync(path.join(home, 'maplibre', `${place}.mlt`), place)
  }
  fs.mkdirSync(folder)
  await writePmtiles(path.join(folder, 'tiles.pmtiles'), tiles, description)
  const pbf = { format: 'pbf', extension: 'pbf', maxZoom: 0, vectorLayers, metadata: { features: '9' } } as const
  const version = (name: string, storage: 'xyz' | 'pmtiles' | 'mbtiles') =>
    storedBasemap(name.replace('.', '-'), [storedVersion('v1', { ...pbf, storage, path: path.join(home, name) })], {
      sourcePath: home,
    })
  const build = { minZoom: 0, maxZoom: 0, bounds: world, vectorLayers, folder, builtAt: 'then' }
  const built = (code: string, bounds: Bounds) => {
    const stored = storedVector(code, { facts: { bounds, feature_count: 9 } as never })
    return { ...stored, tiles: { ...stored.tiles, build: { ...build, leftOut: { 0: 3 } } as never, buildRevision: 1 } }
  }
  const catalog = nextCatalog(
    EMPTY_CATALOG,
    {
      codes: null,
      rows: [
        version('plain', 'xyz'),
        version('broken', 'xyz'),
        version('packed.pmtiles', 'pmtiles'),
        version('packed.mbtiles', 'mbtiles'),
        storedBasemap(
          'maplibre',
          [
            storedVersion('v1', {
              ...{ ...pbf, format: 'mlt', extension: 'mlt', maxZoom: 3, storage: 'xyz' },
              path: path.join(home, 'maplibre'),
            }),
          ],
          { sourcePath: home },
        ),
      ],
    },
    {
      codes: null,
      rows: [
        built('places', world),
        built('one', [10, 10, 10, 10]),
        built('row', [5, 10, 15, 10]),
        built('far', [30, 30, 30, 30]),
      ],
    },
  )
  running = await runEdge({ port: await freePort(), catalog, dataDir: home, controlPlane: 'http://[::1]:1' })
  running.edge.signed.setKeys([{ secret: SECRET, expiresAt: null }])
})
afterAll(async () => {
  running.edge.native.close()
  await Promise.all([running.edge.upstream.close(), running.edge.zips.close()])
  fs.rmSync(home, { recursive: true, force: true })
})

function tokenWithin(area: Bounds): string {
  const token = createToken()
  const limits = { origins: new Set<string>(), networks: [], rate: null, area }
  running.storedTokens.set(tokenDigest(token).toString('hex'), { ...READER, id: token, limits })
  return token
}

interface Got {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}
function get(address: string, headers: http.OutgoingHttpHeaders = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request(running.url + address, { headers, method }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    request.on('error', reject).end()
  })
}
const plainOf = ({ headers, body }: Got) => (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)

const DOORS = [
  '/tiles/plain/v1/0/0/0.pbf',
  '/tiles/plain/current/0/0/0.mvt',
  '/tiles/packed-pmtiles/0/0/0.pbf',
  '/tiles/packed-mbtiles/v1/0/0/0.pbf',
  '/tms/1.0.0/packed-pmtiles/0/0/0.pbf',
  '/ogc/collections/packed-pmtiles/tiles/WebMercatorQuad/0/0/0',
  '/arcgis/rest/services/packed-mbtiles/VectorTileServer/tile/0/0/0.pbf',
  '/vectors/places/tiles/0/0/0.mvt',
  '/ogc/collections/places/tiles/WebMercatorQuad/0/0/0',
  '/arcgis/rest/services/places/VectorTileServer/tile/0/0/0.pbf',
]

test.each(DOORS)(
  '%s has only the features that touch the area, for every tier and form of the request',
  async (door) => {
    // A token that may read everything has warmed every tier.
    for (let i = 0; i < 4; i++) {
      const { names } = await decode(plainOf(await get(door, { 'x-access-token': running.token })))
      expect(names).toHaveLength(FEATURES.length)
    }
    const [near, far] = [tokenWithin([0, 0, 20, 20]), tokenWithin([-120, -60, -80, -20])]
    const tags = new Set<unknown>()
    for (let round = 0; round < 4; round++)
      for (const encoding of ['gzip', 'identity']) {
        const headers = { 'x-access-token': near, 'accept-encoding': encoding }
        const cut = await get(door, headers)
        expect([cut.status, cut.headers['content-encoding']]).toEqual([200, encoding === 'gzip' ? 'gzip' : undefined])
        const { names, texts } = await decode(plainOf(cut))
        expect(names).toEqual(INSIDE)
        expect(texts).not.toContain('far')
        const elsewhere = await get(door, { ...headers, 'x-access-token': far })
        expect((await decode(plainOf(elsewhere))).names).toEqual(['far'])
        const whole = await get(door, { ...headers, 'x-access-token': running.token })
        expect((await decode(plainOf(whole))).names).toHaveLength(FEATURES.length)
        for (const one of [cut, elsewhere, whole]) tags.add(one.headers.etag)
        // A tag of another area or encoding never validates.
        for (const tag of tags) {
          const again = await get(door, { ...headers, 'if-none-match': String(tag) })
          expect([again.status, tag]).toEqual([tag === cut.headers.etag ? 304 : 200, tag])
        }
        const head = await get(door, headers, 'HEAD')
        expect([head.status, head.headers['content-length']]).toEqual([200, String(cut.body.length)])
      }
    // The whole tile of a folder is stored without compression, and has one tag.
    expect(tags.size).toBe(door.startsWith('/tiles/plain') ? 5 : 6)
  },
)

test('an area without a feature gets 204, and an area across the antimeridian both of its sides', async () => {
  for (const door of DOORS) {
    const nothing = { 'x-access-token': tokenWithin([100, -80, 120, -70]) }
    for (let i = 0; i < 3; i++) expect([(await get(door, nothing)).status, door]).toEqual([204, door])
    const across = await get(door, { 'x-access-token': tokenWithin([170, -45, -95, -35]) })
    expect((await decode(plainOf(across))).names).toEqual(['far'])
  }
})

test('a signed URL with bounds opens only the features that touch them', async () => {
  const resource = { code: 'plain', version: 'v1', bounds: [0, 0, 20, 20] as const }
  const query = signatureQuery(signResource(SECRET, resource as never, 4_000_000_000))
  for (let i = 0; i < 3; i++) {
    const cut = await get(`/tiles/plain/v1/0/0/0.pbf?${query}`)
    expect((await decode(plainOf(cut))).names).toEqual(INSIDE)
  }
})

test('a tile that cannot be read as vector tile is never sent whole', async () => {
  const { status } = await get('/tiles/broken/v1/0/0/0.pbf', { 'x-access-token': tokenWithin([0, 0, 20, 20]) })
  expect(status).toBe(500)
})

test('nothing counts the features outside of the area', async () => {
  const headers = { 'x-access-token': tokenWithin([0, 0, 20, 20]) }
  const entry = JSON.parse(String((await get('/api/v1/catalog/vectors/places', headers)).body))
  expect([entry.feature_count, entry.tiles.left_out, entry.bounds]).toEqual([null, {}, [0, 0, 20, 20]])
  const list = JSON.parse(String((await get('/api/v1/catalog/vectors', headers)).body))
  expect(list.items.map((one: { feature_count: unknown }) => one.feature_count)).toEqual([null, null, null])
  const tileJson = JSON.parse(String((await get('/tiles/plain/tilejson.json', headers)).body))
  expect(tileJson.features).toBeUndefined()
  const whole = await get('/tiles/plain/tilejson.json', { 'x-access-token': running.token })
  expect(JSON.parse(String(whole.body)).features).toBe('9')
})

test('a vector whose box has no area lies inside or outside', async () => {
  const headers = { 'x-access-token': tokenWithin([0, 0, 20, 20]) }
  for (const [code, status] of [
    ['one', 200],
    ['row', 200],
    ['far', 403],
  ] as const)
    for (const address of [`/api/v1/catalog/vectors/${code}`, `/ogc/collections/${code}`])
      expect([(await get(address, headers)).status, address]).toEqual([status, address])
})

test('a MapLibre Tile, which nothing cuts, is served inside the area, and refused if its buffer crosses the boundary', async () => {
  // 3/4/3 lies from 0 to 45 degrees of longitude, and from 0 to 41 degrees of latitude.
  const statuses = async (area: Bounds) => {
    const headers = { 'x-access-token': tokenWithin(area) }
    const places = ['0/0/0', '3/4/3', '3/5/3']
    const got = places.map((place) => get(`/tiles/maplibre/v1/${place}.mlt`, headers))
    return (await Promise.all(got)).map(({ status }) => status)
  }
  for (let i = 0; i < 2; i++) {
    expect(await statuses([-10, -10, 60, 60])).toEqual([403, 200, 403])
    expect(await statuses([-10, -10, 100, 60])).toEqual([403, 200, 200])
    expect(await statuses([0, 0, 45, 41])).toEqual([403, 403, 403])
    expect(await statuses([-180, -90, 180, 90])).toEqual([200, 200, 200])
  }
})
