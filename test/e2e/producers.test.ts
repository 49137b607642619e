import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { flipRow } from '@gateway/tilesets/address.js'
import { TILE_MATRIX_SETS, tileMatrixLimits } from '@gateway/tilesets/tile-matrix-sets.js'
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import {
  colourAt,
  execute,
  flipRows,
  gdal2tiles,
  hasMapProxy,
  type MapProxyCache,
  places,
  qgisPage,
  seedMapProxy,
  worldImage,
} from './producer-fixtures.js'

/** Tiles from the real producers, if they are installed: the served tiles are compared with their expected places. */

/** Five places at which swapped north and south, east and west, or hemispheres would be noticed. */
const POINTS = [
  [-120, 50],
  [-60, -30],
  [10, 65],
  [80, 20],
  [140, -50],
] as const

/** The expected treatment of a producer's tiles. */
type Outcome =
  | { readonly served: 'WebMercatorQuad' | 'WorldCRS84Quad'; readonly warning?: RegExp }
  | { readonly refused: RegExp }

interface Producer {
  readonly name: string
  /** makes the tiles at a place named by a code, which it may complete by an extension */
  readonly make: (place: string) => Promise<void>
  readonly needs?: 'MapProxy'
  readonly outcome: Outcome
}

const MERCATOR = { served: 'WebMercatorQuad' } as const
const GEOGRAPHIC = { served: 'WorldCRS84Quad' } as const
const BY_PICTURES = /rows are counted from the (north|south): .*tiles of successive zooms/
const ONE_TILE = /--tmscompatible/
const RASTER = /the profile raster/

let image: string
let fixtures: string
let points: string
let token: string
let hasProxy: boolean
const gateway = useGateway({}, async (running) => {
  fixtures = join(running.home, 'fixtures')
  await mkdir(fixtures)
  image = await worldImage(fixtures)
  points = await places(fixtures, POINTS)
  hasProxy = await hasMapProxy()
  // The source for MapProxy and for QGIS's folders.
  await gdal2tiles(image, join(running.home, 'base/base'), ['--xyz', '-w', 'none'])
  await running.admin.scanSource('base', 'basemap', join(running.home, 'base'))
  token = (await running.issueToken({ basemap_codes: ['*'] })).token
})

const made =
  (...options: string[]) =>
  (place: string) =>
    gdal2tiles(image, place, options)
const seeded = (cache: MapProxyCache) => async (place: string) => {
  const address = `${gateway().url}/tiles/base/%(z)s/%(x)s/%(y)s.png?token=${token}`
  const target = cache.cache.includes('mbtiles') ? `${place}.mbtiles` : place
  await seedMapProxy(`${place}-mapproxy`.replace('/producers/', '/'), address, {
    ...cache,
    cache: cache.cache.replace('TARGET', target),
  })
}
const drawn = (options: { tms: boolean; page: boolean }) => async (place: string) => {
  const base = join(gateway().home, 'base/base')
  await (options.tms ? flipRows(base, place) : execute('cp', ['-r', base, place]))
  if (options.page) await writeFile(join(place, 'preview.html'), qgisPage(place, options.tms))
}
const vectors =
  (...options: string[]) =>
  async (place: string) => {
    await execute('ogr2ogr', ['-f', 'MVT', place, points, '-dsco', 'MAXZOOM=3', ...options])
  }

const archived = async (place: string) => {
  const options = ['-of', 'MBTILES', '-co', 'ZOOM_LEVEL_STRATEGY=UPPER', '-co', 'RESAMPLING=NEAREST']
  await execute('gdal_translate', ['-q', ...options, image, `${place}.mbtiles`])
  await execute('gdaladdo', ['-q', '-r', 'nearest', `${place}.mbtiles`, '2', '4', '8'])
}

const FILE = '{type: file, directory: TARGET, directory_layout: LAYOUT}'
const inLayout = (layout: string) => FILE.replace('LAYOUT', layout)
const ARCHIVE = '{type: mbtiles, filename: TARGET}'

const PRODUCERS: readonly Producer[] = [
  { name: 'gdal2tiles', make: made(), outcome: MERCATOR },
  { name: 'gdal2tiles --xyz', make: made('--xyz'), outcome: MERCATOR },
  { name: 'gdal2tiles -w leaflet', make: made('-w', 'leaflet'), outcome: MERCATOR },
  { name: 'gdal2tiles --xyz -w openlayers', make: made('--xyz', '-w', 'openlayers'), outcome: MERCATOR },
  { name: 'gdal2tiles --xyz -w none', make: made('--xyz', '-w', 'none'), outcome: MERCATOR },
  {
    name: 'gdal2tiles -p geodetic --tmscompatible',
    make: made('-p', 'geodetic', '--tmscompatible'),
    outcome: GEOGRAPHIC,
  },
  {
    name: 'gdal2tiles -p geodetic --tmscompatible --xyz',
    make: made('-p', 'geodetic', '--tmscompatible', '--xyz'),
    outcome: GEOGRAPHIC,
  },
  {
    name: 'gdal2tiles -p geodetic --tmscompatible --xyz -w mapml',
    make: made('-p', 'geodetic', '--tmscompatible', '--xyz', '-w', 'mapml'),
    outcome: GEOGRAPHIC,
  },
  {
    name: 'gdal2tiles -p geodetic --tmscompatible --xyz -w none',
    make: made('-p', 'geodetic', '--tmscompatible', '--xyz', '-w', 'none'),
    outcome: { ...GEOGRAPHIC, warning: /zoom 0 has a column 1, which Web Mercator does not have/ },
  },
  { name: 'gdal2tiles -p geodetic', make: made('-p', 'geodetic'), outcome: { refused: ONE_TILE } },
  { name: 'gdal2tiles -p geodetic --xyz', make: made('-p', 'geodetic', '--xyz'), outcome: { refused: ONE_TILE } },
  { name: 'gdal2tiles -p raster', make: made('-p', 'raster'), outcome: { refused: RASTER } },
  { name: 'gdal2tiles -p raster --xyz', make: made('-p', 'raster', '--xyz'), outcome: { refused: RASTER } },
  { name: 'QGIS', make: drawn({ tms: false, page: false }), outcome: MERCATOR },
  { name: 'QGIS with a page', make: drawn({ tms: false, page: true }), outcome: MERCATOR },
  {
    name: 'QGIS, inverted',
    make: drawn({ tms: true, page: false }),
    outcome: { ...MERCATOR, warning: BY_PICTURES },
  },
  { name: 'QGIS, inverted, with a page', make: drawn({ tms: true, page: true }), outcome: MERCATOR },
  {
    name: 'MapProxy, MBTiles from the north',
    needs: 'MapProxy',
    make: seeded({ cache: ARCHIVE, grid: 'GLOBAL_WEBMERCATOR' }),
    outcome: { ...MERCATOR, warning: BY_PICTURES },
  },
  {
    name: 'MapProxy, MBTiles from the south',
    needs: 'MapProxy',
    make: seeded({ cache: ARCHIVE, grid: 'GLOBAL_MERCATOR' }),
    outcome: MERCATOR,
  },
  {
    name: 'MapProxy, directory_layout tms from the north',
    needs: 'MapProxy',
    make: seeded({ cache: inLayout('tms'), grid: 'GLOBAL_WEBMERCATOR' }),
    outcome: MERCATOR,
  },
  {
    name: 'MapProxy, directory_layout tms from the south',
    needs: 'MapProxy',
    make: seeded({ cache: inLayout('tms'), grid: 'GLOBAL_MERCATOR' }),
    outcome: { ...MERCATOR, warning: BY_PICTURES },
  },
  {
    name: 'MapProxy, directory_layout reverse_tms',
    needs: 'MapProxy',
    make: seeded({ cache: inLayout('reverse_tms'), grid: 'GLOBAL_WEBMERCATOR' }),
    outcome: { refused: /\{y\}\/\{x\}\/\{z\} \(MapProxy's directory_layout reverse_tms\)/ },
  },
  { name: "GDAL's MBTiles", make: archived, outcome: MERCATOR },
  { name: "GDAL's vector tiles", make: vectors(), outcome: MERCATOR },
  {
    name: "GDAL's vector tiles in EPSG:4326",
    make: vectors('-dsco', 'TILING_SCHEME=EPSG:4326,-180,90,180'),
    outcome: GEOGRAPHIC,
  },
  {
    name: "GDAL's vector tiles in a tiling scheme of their own",
    make: vectors('-dsco', 'TILING_SCHEME=EPSG:4326,-180,180,360'),
    outcome: { refused: /TILING_SCHEME=EPSG:4326, -180, 180, 360/ },
  },
]

const warnings: string[] = []
const failures = new Map<string, unknown>()
beforeAll(async () => {
  const root = join(gateway().home, 'producers')
  await mkdir(root)
  const waiting = [...PRODUCERS.entries()].filter(([, { needs }]) => needs === undefined || hasProxy)
  const makeNext = async (): Promise<void> => {
    const next = waiting.shift()
    if (next === undefined) return
    const [i, { make }] = next
    await make(join(root, codeOf(i))).catch((error) => failures.set(codeOf(i), error))
    await makeNext()
  }
  // Most of the time goes into starting the tools.
  await Promise.all([makeNext(), makeNext(), makeNext()])
  const { id } = await gateway().admin.scanSource('producers', 'basemap', root)
  const said = `/scan-sources/producers/scans/${id}/warnings`
  const { items } = await gateway().admin.expect<{ items: { message: string }[] }>(said)
  warnings.push(...items.map(({ message }) => message))
}, 240_000)

const codeOf = (i: number) => `p${String(i).padStart(2, '0')}`

for (const [i, { name, outcome, needs }] of PRODUCERS.entries()) {
  test(`tiles of ${name} are ${'served' in outcome ? 'served where they belong' : 'not served, and the scan says why'}`, async (context) => {
    if (needs !== undefined && !hasProxy) return context.skip(`${needs} is not installed`)
    expect(failures.get(codeOf(i))).toBeUndefined()
    const own = warnings.filter((text) => text.includes(`"${codeOf(i)}`))
    const { status, body } = await gateway().admin.call<AdminBasemap>(`/basemaps/${codeOf(i)}`)
    if ('refused' in outcome) {
      expect([status, own.join()]).toEqual([404, expect.stringMatching(outcome.refused)])
      return
    }
    expect([status, own.join()]).toEqual([200, expect.stringMatching(outcome.warning ?? /^$/)])
    const [version] = body.versions
    expect(version?.tile_matrix_set).toBe(outcome.served)
    for (const point of POINTS) await expectPlace(codeOf(i), version?.format as string, outcome.served, point)
  })
}

const indexOf = (name: string) => codeOf(PRODUCERS.findIndex((producer) => producer.name === name))

async function tileJson(code: string): Promise<{ tiles: string[] }> {
  const answer = await fetch(`${gateway().url}/tiles/${code}/tilejson.json?token=${token}`)
  return (await answer.json()) as { tiles: string[] }
}

/** Returns the tiles of zoom 3 that contain the places, or their mirror images beyond the equator. */
async function tilesAt(code: string, mirrored: boolean): Promise<string[]> {
  const set = TILE_MATRIX_SETS.WebMercatorQuad
  const tiles = POINTS.map(async ([x, y]) => {
    const { minColumn, minRow } = tileMatrixLimits(set, 3, [x, y - 1e-9, x + 1e-9, y])
    const address = `${gateway().url}/tiles/${code}/3/${minColumn}/${mirrored ? flipRow(3, minRow) : minRow}.png`
    const answer = await fetch(`${address}?token=${token}`)
    return createHash('sha256')
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest('hex')
  })
  return Promise.all(tiles)
}

test.each(['gdal2tiles --xyz', "GDAL's MBTiles"])(
  'an override of how rows are counted in the tiles of %s is served at once, outlives a scan and can be taken back',
  async (name) => {
    const code = indexOf(name)
    const address = `/basemaps/${code}/versions/default`
    const patch = (body: object) => gateway().admin.expect<AdminBasemapVersion>(address, { method: 'PATCH', body })
    // Fills the caches and the native tier with tiles that must be dropped.
    const tiles = [await tilesAt(code, false), await tilesAt(code, true)]
    const expectTiles = async ([near, far]: string[][]) => {
      for (let i = 0; i < 20; i++) expect([await tilesAt(code, false), await tilesAt(code, true)]).toEqual([near, far])
    }
    await expectTiles(tiles)
    const before = await gateway().admin.expect<AdminBasemapVersion>(address)
    const wrong = before.scanned.storage === 'xyz' ? 'tms' : 'xyz'
    const after = await patch({ storage: wrong, min_zoom: 1, name: 'Other', attribution: 'Somebody' })
    expect(after).toMatchObject({
      overrides: { storage: wrong, min_zoom: 1, name: 'Other', attribution: 'Somebody' },
      scanned: before.scanned,
      storage: before.storage === 'mbtiles' ? 'mbtiles' : wrong,
      min_zoom: 1,
    })
    expect(after.revision).toBeGreaterThan(before.revision)
    await expectTiles([...tiles].reverse())
    await gateway().admin.rescan('producers')
    await expectTiles([...tiles].reverse())
    const document = await tileJson(code)
    expect(document).toMatchObject({ name: 'Other', attribution: 'Somebody', minzoom: 1 })
    expect(document.tiles[0]).toContain(`v=${after.revision}`)
    const capabilities = await (await fetch(`${gateway().url}/wmts?token=${token}`)).text()
    expect(capabilities).toContain('<ows:Title>Other</ows:Title>')
    const back = await patch({ storage: null, min_zoom: null, name: null, attribution: null })
    expect(back).toMatchObject({ overrides: {}, storage: before.storage, min_zoom: before.min_zoom })
    await expectTiles(tiles)
  },
)

test('an override of the grid moves the tiles in every document', async () => {
  const code = indexOf('gdal2tiles -p geodetic --tmscompatible --xyz -w none')
  const address = `/basemaps/${code}/versions/default`
  const patch = (body: object) => gateway().admin.expect<AdminBasemapVersion>(address, { method: 'PATCH', body })
  const changed = await patch({ tile_matrix_set: 'CGCS2000Quad' })
  expect(changed).toMatchObject({ tile_matrix_set: 'CGCS2000Quad', crs: 'EPSG:4490' })
  expect(await tileJson(code)).toMatchObject({ crs: 'EPSG:4490', tile_matrix_set: 'CGCS2000Quad' })
  for (const point of POINTS) await expectPlace(code, 'png', 'WorldCRS84Quad', point)
  await patch({ tile_matrix_set: null })
})

/** Expects that the tile that a map client requests for a place shows that place. */
async function expectPlace(
  code: string,
  format: string,
  grid: 'WebMercatorQuad' | 'WorldCRS84Quad',
  point: (typeof POINTS)[number],
): Promise<void> {
  const [longitude, latitude] = point
  const set = TILE_MATRIX_SETS[grid]
  const zoom = 3
  const at = (z: number) => tileMatrixLimits(set, z, [longitude, latitude - 1e-9, longitude + 1e-9, latitude])
  const { minColumn: x, minRow: y } = at(zoom)
  const answer = await fetch(`${gateway().url}/tiles/${code}/${zoom}/${x}/${y}.${format}?token=${token}`)
  expect([code, zoom, x, y, answer.status]).toEqual([code, zoom, x, y, 200])
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (format === 'pbf') {
    const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('latin1')
    expect(text).toContain(`place${POINTS.indexOf(point)}`)
    return
  }
  // A tile eight zooms deeper is one pixel.
  const deep = at(zoom + 8)
  const [column, row] = [deep.minColumn % 256, deep.minRow % 256]
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const pixel = [...data.subarray((row * info.width + column) * 3, (row * info.width + column) * 3 + 3)]
  const expected = colourAt(longitude, latitude)
  const off = pixel.map((value, channel) => Math.abs(value - expected[channel]!))
  expect([point, pixel, expected, Math.max(...off) <= 4]).toEqual([point, pixel, expected, true])
}
