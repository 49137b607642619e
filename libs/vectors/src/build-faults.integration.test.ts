import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles } from 'pmtiles'
import { afterAll, expect, test } from 'vitest'
import { type BuildTask, buildVector } from './build.js'
import { INDEX_FILE } from './index-file/index-description.js'
import { VectorReplaced } from './index-file/vector-fault.js'
import { DEFAULT_CRS } from './query/crs.js'
import { OpenIndex } from './query/run-query.js'
import { fingerprintOf, partsOf } from './source-parts.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-faults-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

let made = 0

function taskOf(path: string, more: Partial<BuildTask> = {}): BuildTask {
  const output = join(home, `build-${++made}`)
  fs.mkdirSync(output)
  return {
    ...{
      source: { root: home, path },
      kind: 'geojson',
      fingerprint: null,
      encoding: null,
      code: 'city',
      crs: 'OGC:CRS84',
    },
    ...{
      output,
      limits: { memoryMb: 1500 },
      name: 'City',
      minZoom: 0,
      maxZoom: null,
      fields: null,
    },
    ...more,
  }
}

async function build(path: string, more: Partial<BuildTask> = {}) {
  const task = taskOf(path, more)
  const built = await buildVector(task, () => {})
  const file = join(task.output, 'tiles.pmtiles')
  const archive = new PMTiles({
    getKey: () => file,
    getBytes: async (offset, length) => ({
      data: new Uint8Array(fs.readFileSync(file).subarray(offset, offset + length)).buffer,
    }),
  })
  const tile = async (z: number, x: number, y: number) => {
    const found = await archive.getZxy(z, x, y)
    return found === undefined ? undefined : new VectorTile(new PbfReader(Buffer.from(found.data))).layers.city
  }
  return { built, task, tile }
}

function geojson(name: string, features: readonly string[]): string {
  const file = join(home, `${name}.geojson`)
  fs.writeFileSync(file, `{"type":"FeatureCollection","features":[${features.join(',\n')}]}`)
  return file
}

const point = (coordinates: string, properties: object = {}) =>
  `{"type":"Feature","properties":${JSON.stringify(properties)},"geometry":{"type":"Point","coordinates":${coordinates}}}`

test('a feature with a million vertices is tiled within the limit of a tile, and found by its place', async () => {
  const count = 1_000_000
  const ring = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count
    const radius = 10 + Math.sin(angle * 5_000) / 50
    return `[${(radius * Math.cos(angle)).toFixed(7)},${(radius * Math.sin(angle)).toFixed(7)}]`
  })
  const geometry = `{"type":"Polygon","coordinates":[[${[...ring, ring[0]].join(',')}]]}`
  const file = geojson('million', [`{"type":"Feature","properties":{},"geometry":${geometry}}`])
  const { task, built, tile } = await build(file, { maxZoom: 6 })
  expect(built?.leftOut).toEqual({})
  for (const [z, x, y] of [
    [0, 0, 0],
    [3, 4, 3],
    [6, 32, 31],
  ] as const)
    expect((await tile(z, x, y))?.length).toBe(1)
  const index = new OpenIndex(join(task.output, INDEX_FILE))
  const at = (x: number, y: number) => {
    const bbox = [x, y, x, y]
    const filter = {
      op: 's_intersects',
      args: [{ property: 'geometry' }, { bbox }],
    } as const
    const all = {
      fields: [],
      selected: [],
      geometryType: 'Polygon',
      id: null,
      sort: [],
      limit: 10,
      offset: 0,
    }
    const rest = {
      after: null,
      crs: DEFAULT_CRS,
      format: 'csv',
      texts: null,
      maxBytes: 1e9,
    } as const
    return [...index.run({ index: '', filter, ...all, ...rest })].reduce((sum, { count: found }) => sum + found, 0)
  }
  expect([at(0, 0), at(9.9, 9.9)]).toEqual([1, 0])
  index.close()
}, 120_000)

test('coordinates that are no numbers or infinite leave the feature without a geometry, and the others as they are', async () => {
  const file = geojson('nan', [
    point('[1e999,50]', { what: 'infinite' }),
    point('[10,-1e999]', { what: 'minus infinite' }),
    point('[NaN,50]', { what: 'no number' }),
    point('[10,50]', { what: 'right' }),
    '{"type":"Feature","properties":{"what":"line"},"geometry":{"type":"LineString","coordinates":[[1,1],[1e999,2],[3,3]]}}',
  ])
  const { built, tile, task } = await build(file)
  const layer = await tile(0, 0, 0)
  expect([layer?.length, layer?.feature(0).properties.what]).toEqual([1, 'right'])
  expect(built?.maxZoom).toBeGreaterThan(0)
  const description = JSON.parse(fs.readFileSync(join(task.output, 'index.json'), 'utf8'))
  expect(description).toMatchObject({
    feature_count: 5,
    bounds: [10, 50, 10, 50],
  })
})

test('a file with 5,000 attributes is refused with the number that an index holds', async () => {
  const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, i]))
  await expect(build(geojson('fields', [point('[1,2]', properties)]))).rejects.toThrow('more than 1900 attributes')
})

test('names of attributes and layers are in any script, of any length, and with any sign', async () => {
  const names = [
    '名称',
    'имя',
    'اسم',
    'नाम',
    '🗺️ map',
    'a "quoted" name',
    "it's",
    'fid',
    'geom',
    'layer',
    'rowid',
    'x'.repeat(200),
  ]
  const properties = Object.fromEntries(names.map((name, i) => [name, `值 ${i}`]))
  const { built, tile } = await build(geojson('scripts', [point('[1,2]', properties)]), { code: 'city' })
  expect((await tile(0, 0, 0))?.feature(0).properties).toEqual(properties)
  expect(Object.keys(built?.vectorLayers[0]?.fields ?? {}).sort()).toEqual([...names].sort())
})

test('features at the poles and across the antimeridian are in the tiles of both sides', async () => {
  const ring = (coordinates: number[][]) => JSON.stringify({ type: 'Polygon', coordinates: [coordinates] })
  const feature = (what: string, geometry: string) =>
    `{"type":"Feature","properties":{"what":"${what}"},"geometry":${geometry}}`
  const file = geojson('edges', [
    point('[0,90]', { what: 'north' }),
    point('[0,-90]', { what: 'south' }),
    feature(
      'beyond',
      ring([
        [170, -5],
        [190, -5],
        [190, 5],
        [170, 5],
        [170, -5],
      ]),
    ),
    feature(
      'cap',
      ring([
        [-180, 80],
        [180, 80],
        [180, 90],
        [-180, 90],
        [-180, 80],
      ]),
    ),
  ])
  const { tile } = await build(file, { maxZoom: 2 })
  const whatIn = async (z: number, x: number, y: number) => {
    const layer = await tile(z, x, y)
    // One that crosses the antimeridian is drawn on each side.
    return [...new Set(Array.from({ length: layer?.length ?? 0 }, (_, i) => layer?.feature(i).properties.what))].sort()
  }
  expect(await whatIn(0, 0, 0)).toEqual(['beyond', 'cap', 'north', 'south'])
  expect(await whatIn(2, 3, 1)).toContain('beyond')
  expect(await whatIn(2, 0, 1)).toContain('beyond')
  for (const x of [0, 1, 2, 3]) expect(await whatIn(2, x, 0)).toContain('cap')
})

test('a million features in one place are thinned to the limit of a tile, and all of them are counted', async () => {
  const file = join(home, 'place.geojsonl')
  const count = 1_000_000
  const fd = fs.openSync(file, 'w')
  const lines = `${point('[8,47]')}\n`.repeat(10_000)
  for (let i = 0; i < count / 10_000; i++) fs.writeSync(fd, lines)
  fs.closeSync(fd)
  const { built, tile } = await build(file, {
    kind: 'geojson_sequence',
    maxZoom: 0,
  })
  const shown = (await tile(0, 0, 0))?.length ?? 0
  expect(shown).toBeGreaterThan(0)
  expect(shown).toBeLessThanOrEqual(200_000)
  expect(built?.leftOut).toEqual({ 0: count - shown })
}, 180_000)

test('a file that is another one than the scan has found is refused, whether before or while it is read', async () => {
  const file = geojson(
    'replaced',
    Array.from({ length: 100_000 }, (_, i) => point(`[${i % 90},1]`)),
  )
  const fingerprint = fingerprintOf(partsOf(file, 'geojson'))
  await expect(build(file, { fingerprint: 'another' })).rejects.toThrow(VectorReplaced)
  const task = taskOf(file, { fingerprint })
  let steps = 0
  const building = buildVector(task, () => {
    if (steps++ === 0) fs.appendFileSync(file, ' ')
  })
  await expect(building).rejects.toThrow(VectorReplaced)
  expect(steps).toBeGreaterThan(0)
  expect(fs.readdirSync(task.output)).toEqual([])
  await expect(build(file, { fingerprint: fingerprintOf(partsOf(file, 'geojson')) })).resolves.toBeDefined()
})

test('all parts of a shapefile are those that the scan has found', async () => {
  execFileSync('ogr2ogr', [join(home, 'shape.shp'), geojson('shape-source', [point('[1,2]', { a: 1 })])])
  const file = join(home, 'shape.shp')
  const fingerprint = fingerprintOf(partsOf(file, 'shapefile'))
  await expect(build(file, { kind: 'shapefile', fingerprint })).resolves.toBeDefined()
  fs.appendFileSync(join(home, 'shape.dbf'), ' ')
  await expect(build(file, { kind: 'shapefile', fingerprint })).rejects.toThrow(VectorReplaced)
})

test('the least memory that may be set is enough for both tools', async () => {
  const features = Array.from({ length: 30_000 }, (_, i) =>
    point(`[${(i % 300) / 10},${Math.floor(i / 300) / 10}]`, { i }),
  )
  const { built } = await build(geojson('small', features), {
    limits: { memoryMb: 256 },
    maxZoom: 8,
  })
  expect(built?.maxZoom).toBe(8)
})
