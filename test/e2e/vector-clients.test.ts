import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { MAPLIBRE, OPENLAYERS, useClientPages } from '../clients/pages.js'
import { CITIES, coloursAt, IN_PLACE, makeCityVector } from '../clients/world.js'
import { useGateway } from '../harness/use-gateway.js'

const execute = promisify(execFile)

/** Files that a developer looks at after a run; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const COLOURS = Object.fromEntries(Object.entries(CITIES).map(([name, { colour }]) => [name, `rgb(${colour})`]))
/** Half of the side of a city's square, in degrees; the grid of tiles may move an edge a little. */
const HALF = 4
const EXTENT = [-70.65 - HALF, -33.45 - HALF, 116.4 + HALF, 64.1 + HALF].map((value) => expect.closeTo(value, 1))

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ vector_codes: ['cities'] })).token
  await makeCityVector(started)
})

const openClient = useClientPages({ ol: OPENLAYERS, maplibre: MAPLIBRE })

describe.each([
  ['OpenLayers', 'ol', 'vector-tiles', 'EPSG:3857'],
  ['OpenLayers', 'ol', 'features', 'EPSG:3857'],
  ['OpenLayers', 'ol', 'features', 'EPSG:4326'],
  ['MapLibre', 'maplibre', 'vector', 'EPSG:3857'],
] as const)('%s (%s)', (_, library, by, grid) => {
  test(`shows every city of a vector in its place by ${by} in ${grid}`, async () => {
    const client = await openClient(library)
    const spec = { base: gateway().url, token, code: 'cities', room: 'vectors', by, grid }
    const places = await client.draw({ ...spec, cities: CITIES, colours: COLOURS })
    const picture = await client.picture()
    await writeFile(join(ARTIFACTS, `${library}-${by}-${grid.slice(5)}-vector.png`), picture)
    await client.page.close()
    expect(await coloursAt(picture, places)).toEqual(IN_PLACE)
  })
})

/** A layer as GDAL reads it; `ogrinfo` of this version writes no JSON, so that a copy as GeoJSON is read. */
async function readByGdal(source: string, name: string, options: readonly string[]) {
  const copy = join(gateway().home, `${name}.geojson`)
  const quiet = ['--config', 'GDAL_HTTP_HEADERS', `X-Access-Token: ${token}`]
  const { stderr } = await execute('ogr2ogr', [
    '-f',
    'GeoJSON',
    '-t_srs',
    'EPSG:4326',
    copy,
    source,
    ...options,
    ...quiet,
  ])
  expect(stderr).toBe('')
  const { stdout } = await execute('ogrinfo', ['-so', '-al', copy])
  const extent = /Extent: \((\S+), (\S+)\) - \((\S+), (\S+)\)/.exec(stdout)?.slice(1).map(Number)
  const count = Number(/Feature Count: (\d+)/.exec(stdout)?.[1])
  const { stdout: all } = await execute('ogrinfo', ['-al', '-geom=NO', copy])
  const names = [...all.matchAll(/name \(String\) = (\w+)/g)].map(([, value]) => value)
  return { count, extent, names: [...new Set(names)].sort() }
}

describe('GDAL', () => {
  test('by its OAPIF driver reads the features of a collection, in pages and by an attribute filter', async () => {
    const source = `OAPIF:${gateway().url}/ogc/collections/cities?token=${token}`
    const names = Object.keys(CITIES).sort()
    const paged = await readByGdal(source, 'paged', ['-oo', 'PAGE_SIZE=3'])
    expect(paged).toEqual({ count: 4, extent: EXTENT, names })
    const some = await readByGdal(source, 'some', ['-where', "name = 'beijing'"])
    expect([some.count, some.names]).toEqual([1, ['beijing']])
    const near = await readByGdal(source, 'near', ['-spat', '30', '-10', '40', '5'])
    expect([near.count, near.names]).toEqual([1, ['nairobi']])
  })

  test('by its MVT driver reads the tiles of a zoom, with layer and fields from the TileJSON', async () => {
    const described = await fetch(`${gateway().url}/vectors/cities/tilejson.json?token=${token}`)
    const { maxzoom } = (await described.json()) as { maxzoom: number }
    const tiles = await readByGdal(`MVT:${gateway().url}/vectors/cities/tiles/${maxzoom}`, 'tiles', [
      ...['-oo', 'TILE_EXTENSION=mvt'],
      ...['-oo', `METADATA_FILE=${gateway().url}/vectors/cities/tilejson.json?token=${token}`],
    ])
    // A square that tiles cut comes in parts.
    expect(tiles.count).toBeGreaterThanOrEqual(4)
    expect(tiles).toMatchObject({ extent: EXTENT, names: Object.keys(CITIES).sort() })
  })
})
