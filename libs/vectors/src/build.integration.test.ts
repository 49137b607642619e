import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles, type Source } from 'pmtiles'
import { afterAll, describe, expect, test } from 'vitest'
import { type BuildTask, buildVector } from './build.js'
import { INDEX_FILE } from './index-file/index-description.js'
import { HAS_GDAL } from './testing/has-gdal.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-build-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

let made = 0

async function build(path: string, kind: VectorKind, more: Partial<BuildTask> = {}) {
  const output = join(home, `build-${++made}`)
  fs.mkdirSync(output)
  const task: BuildTask = {
    ...{
      source: { root: home, path },
      kind,
      fingerprint: null,
      encoding: null,
      code: 'city',
      crs: 'OGC:CRS84',
      output,
    },
    ...{
      limits: { memoryMb: 1500 },
      name: 'City',
      minZoom: 0,
      maxZoom: null,
      fields: null,
    },
    ...more,
  }
  const built = await buildVector(task, () => {})
  return { built, output, tile: reader(join(output, 'tiles.pmtiles')) }
}

function reader(file: string) {
  const source: Source = {
    getKey: () => file,
    getBytes: async (offset, length) => {
      const bytes = fs.readFileSync(file).subarray(offset, offset + length)
      return { data: new Uint8Array(bytes).buffer }
    },
  }
  const archive = new PMTiles(source)
  return async (z: number, x: number, y: number) => {
    const found = await archive.getZxy(z, x, y)
    return found === undefined ? null : new VectorTile(new PbfReader(Buffer.from(found.data)))
  }
}

const feature = (geometry: object | null, properties: object = {}) => ({ type: 'Feature', properties, geometry })

function geojson(name: string, features: readonly object[]): string {
  const file = join(home, `${name}.geojson`)
  fs.writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features }))
  return file
}

const square = (x: number, y: number, side: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + side, y],
      [x + side, y + side],
      [x, y + side],
      [x, y],
    ],
  ],
})

const NAMED = expect.stringMatching(/^地 \d+$/)

describe('every kind of file becomes tiles', () => {
  const points = Array.from({ length: 30 }, (_, i) =>
    feature({ type: 'Point', coordinates: [10 + i / 100, 50] }, { name: `地 ${i}`, rank: i }),
  )
  const lines = [
    feature(
      {
        type: 'LineString',
        coordinates: [
          [10, 50],
          [11, 51],
        ],
      },
      { width: 2.5 },
    ),
  ]
  const source = geojson('kinds', points)
  const convert = (file: string, ...options: string[]) => {
    execFileSync('ogr2ogr', [...options, join(home, file), source])
    return join(home, file)
  }

  test.skipIf(!HAS_GDAL).each([
    ['flatgeobuf', 'kinds.fgb', []],
    ['shapefile', 'kinds.shp', ['-lco', 'ENCODING=UTF-8']],
    ['kml', 'kinds.kml', ['-f', 'LIBKML']],
    ['kmz', 'kinds.kmz', ['-f', 'LIBKML']],
    ['gml', 'kinds.gml', []],
    ['geojson_sequence', 'kinds.geojsonl', ['-f', 'GeoJSONSeq']],
    ['geopackage', 'kinds.gpkg', ['-t_srs', 'EPSG:3857']],
  ] as const)('%s', async (kind, file, options) => {
    const { built, tile } = await build(convert(file, ...options), kind, {
      crs: kind === 'geopackage' ? 'EPSG:3857' : 'EPSG:4326',
    })
    const zoom = built?.maxZoom as number
    expect(built?.leftOut[String(zoom)]).toBeUndefined()
    const layer = (await tile(0, 0, 0))?.layers.city
    expect(layer?.length).toBeGreaterThan(0)
    expect(layer?.feature(0).properties).toMatchObject(kind.startsWith('km') ? { Name: NAMED } : { name: NAMED })
  })

  test.skipIf(!HAS_GDAL)(
    'a GeoPackage with several layers becomes tiles with several layers and only the chosen attributes',
    async () => {
      const file = convert('layers.gpkg', '-nln', 'points')
      execFileSync('ogr2ogr', ['-update', '-nln', 'ways', file, geojson('ways', lines)])
      const { built, tile } = await build(file, 'geopackage', { fields: ['rank', 'width'] })
      const { layers } = (await tile(0, 0, 0)) as VectorTile
      expect(Object.keys(layers).sort()).toEqual(['points', 'ways'])
      expect([layers.points?.feature(0).properties, layers.ways?.feature(0).properties]).toEqual([
        { rank: expect.any(Number) },
        { width: 2.5 },
      ])
      expect(built?.vectorLayers.map(({ id, fields }) => [id, fields])).toEqual([
        ['points', { rank: 'Number' }],
        ['ways', { width: 'Number' }],
      ])
    },
  )
})

test('the deepest zoom has every feature with its vertices within a unit of their positions', async () => {
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  const features = Array.from({ length: 3000 }, (_, id) =>
    feature({ type: 'Point', coordinates: [random() * 4, random() * 4] }, { id }),
  )
  const { built, tile } = await build(geojson('exact', features), 'geojson')
  const zoom = built?.maxZoom as number
  expect(built?.leftOut[zoom]).toBeUndefined()
  const side = 2 ** zoom
  for (const { geometry, properties } of features.slice(0, 200)) {
    const [longitude = 0, latitude = 0] = (geometry as { coordinates: number[] }).coordinates
    const x = (longitude / 360 + 0.5) * side
    const y = (0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)) * side
    const layer = (await tile(zoom, Math.floor(x), Math.floor(y)))?.layers.city
    const found = Array.from({ length: layer?.length ?? 0 }, (_, i) => layer?.feature(i)).find(
      (one) => one?.properties.id === (properties as { id: number }).id,
    )
    const point = found?.loadGeometry()[0]?.[0] ?? { x: Number.NaN, y: Number.NaN }
    expect(Math.abs(point.x - (x % 1) * 4096)).toBeLessThanOrEqual(1)
    expect(Math.abs(point.y - (y % 1) * 4096)).toBeLessThanOrEqual(1)
  }
})

test('neighbours share their edges at every zoom', async () => {
  const edge = Array.from({ length: 200 }, (_, i) => [Math.sin(i * 1.7) / 40, i / 20])
  const left = [...edge, [-5, 9.95], [-5, 0], edge[0]]
  const right = [...edge, [5, 9.95], [5, 0], edge[0]]
  const features = [left, right].map((ring) => feature({ type: 'Polygon', coordinates: [ring] }))
  const { tile } = await build(geojson('neighbours', features), 'geojson', { maxZoom: 6 })
  for (let zoom = 0; zoom < 6; zoom++) {
    const half = 2 ** zoom / 2
    const layer = (await tile(zoom, Math.floor(half), Math.max(0, Math.ceil(half) - 1)))?.layers.city
    const points = [0, 1].map(
      (i) =>
        new Set(
          layer
            ?.feature(i)
            .loadGeometry()
            .flat()
            .map(({ x, y }) => `${x} ${y}`),
        ),
    )
    const isOnEdge = (text: string) => Math.abs(Number(text.split(' ')[0]) - (zoom === 0 ? 2048 : 0)) < 30
    const onEdge = points.map((all) => [...all].filter(isOnEdge).sort())
    expect(onEdge[0]?.length).toBeGreaterThan(1)
    expect(onEdge[1]).toEqual(onEdge[0])
  }
})

test('hostile geometries are tiled as far as possible, and every polygon is valid', async () => {
  const spiral = Array.from({ length: 3_000 }, (_, i) => [Math.cos(i) * 5 * (i / 3_000), Math.sin(i) * 5 * (i / 3_000)])
  const features = [
    feature(
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [4, 4],
            [4, 0],
            [0, 4],
            [0, 0],
          ],
        ],
      },
      { what: 'bow tie' },
    ),
    feature(null, { what: 'none' }),
    feature({ type: 'Polygon', coordinates: [] }, { what: 'empty' }),
    feature({ type: 'GeometryCollection', geometries: [] }, { what: 'empty collection' }),
    feature({ type: 'Point', coordinates: [] }, { what: 'empty point' }),
    feature({ type: 'Point', coordinates: [12, 12, 300] }, { what: '3D' }),
    feature({ type: 'Point', coordinates: [10, 90] }, { what: 'pole' }),
    feature({ type: 'Point', coordinates: [180, 0] }, { what: 'antimeridian' }),
    feature(
      {
        type: 'LineString',
        coordinates: [
          [175, 10],
          [185, 12],
        ],
      },
      { what: 'beyond' },
    ),
    feature(
      {
        type: 'LineString',
        coordinates: [
          [1, 1],
          [1, 1],
        ],
      },
      { what: 'no length' },
    ),
    feature(
      { type: 'GeometryCollection', geometries: [square(20, 20, 1), { type: 'Point', coordinates: [20, 20] }] },
      { what: 'mixed' },
    ),
    feature({ type: 'Polygon', coordinates: [[...spiral, spiral[0]]] }, { what: 'spiral' }),
    feature(square(30, 30, 1e-9), { what: 'tiny' }),
    feature({ type: 'Point', coordinates: [40, 40] }, { 'имя 名 "quoted"': 'ok' }),
  ]
  const { built, tile, output } = await build(geojson('hostile', features), 'geojson', { maxZoom: 4 })
  expect(built?.maxZoom).toBe(4)
  const world = (await tile(0, 0, 0))?.layers.city
  const shown = new Set(Array.from({ length: world?.length ?? 0 }, (_, i) => world?.feature(i).properties.what))
  for (const what of ['3D', 'pole', 'antimeridian', 'beyond', 'mixed', 'spiral', 'bow tie'])
    expect(shown).toContain(what)
  // Features across the antimeridian appear at both ends of the world.
  for (const x of [0, 1]) expect((await tile(1, x, 0))?.layers.city?.length).toBeGreaterThan(0)
  for (const zoom of [0, 2, 4]) await expectValid(tile, zoom, output)
})

/** Validates polygons with GEOS, in GDAL's SQLite dialect. */
async function expectValid(tile: Awaited<ReturnType<typeof build>>['tile'], zoom: number, folder: string) {
  const side = 2 ** zoom
  const features: object[] = []
  for (let x = 0; x < side; x++) {
    for (let y = 0; y < side; y++) {
      const layer = (await tile(zoom, x, y))?.layers.city
      for (let i = 0; i < (layer?.length ?? 0); i++) {
        const one = layer?.feature(i).toGeoJSON(0, 0, 12)
        if (layer?.feature(i).type === 3) features.push({ ...one, properties: {} })
      }
    }
  }
  if (features.length === 0 || !HAS_GDAL) return
  const file = join(folder, `polygons-${zoom}.geojson`)
  fs.writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features }))
  const sql = `SELECT count(*) AS invalid FROM "polygons-${zoom}" WHERE ST_IsValid(geometry) <> 1`
  const said = execFileSync('ogrinfo', ['-q', file, '-dialect', 'SQLITE', '-sql', sql]).toString()
  expect(said).toContain('invalid (Integer) = 0')
}

test('more points in one place than a tile may have are thinned out and counted', async () => {
  const count = 210_000
  const file = join(home, 'place.geojsonl')
  const line = JSON.stringify(feature({ type: 'Point', coordinates: [8, 47] }))
  fs.writeFileSync(file, `${line}\n`.repeat(count))
  const { built, tile } = await build(file, 'geojson_sequence', { maxZoom: 1 })
  expect(built?.leftOut['0']).toBe(count - 1)
  const shown = (await tile(1, 1, 0))?.layers.city?.length as number
  expect(shown).toBeLessThanOrEqual(200_000)
  expect(shown).toBe(count - (built?.leftOut['1'] as number))
}, 120_000)

test('a truncated file leaves a message, and no archive', async () => {
  const file = join(home, 'cut.geojson')
  fs.writeFileSync(file, '{"type":"FeatureCollection","features":[{"type":"Feature"')
  await expect(build(file, 'geojson')).rejects.toThrow()
  expect(fs.existsSync(join(home, `build-${made}`, INDEX_FILE))).toBe(false)
})
