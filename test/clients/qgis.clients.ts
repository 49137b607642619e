import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type PostgisServer, startPostgis } from '@gateway/vectors/postgis/testing/server.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { CITIES, coloursAt, GAUSS, IN_PLACE, makeCityVector, makeGauss, makeStyle, makeWorld } from './world.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const SCRIPT = fileURLToPath(new URL('qgis_maps.py', import.meta.url))

/** Half the width of the world in metres; the world is as wide as the picture. */
const HALF = Math.PI * 6378137
const EXTENTS = { 'EPSG:3857': [-HALF, -HALF / 2, HALF, HALF / 2], geographic: [-180, -90, 180, 90] }
/** The systems in which `/wms` draws; QGIS puts the latitude first where WMS 1.3.0 wants it. */
const WMS_SYSTEMS = ['EPSG:3857', 'EPSG:4326', 'EPSG:4490', 'CRS:84']
const COLOURS = Object.fromEntries(Object.entries(CITIES).map(([name, { colour }]) => [name, `${colour},255`]))

let server: PostgisServer
beforeAll(async () => {
  server = await startPostgis()
})
afterAll(() => server?.stop())

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })).token
  await makeWorld(started)
  await makeStyle(started, 'drawn')
  await makeCityVector(started)
  const deep = join(started.home, 'deep')
  await mkdir(join(deep, 'deep/6/0'), { recursive: true })
  await copyFile(join(started.home, 'world/mercator/0/0/0.png'), join(deep, 'deep/6/0/0.png'))
  await makeGauss(started.home, join(deep, 'gauss'))
  await started.admin.scanSource('deep', 'basemap', deep)
})

/** Catalogues the squares of the cities as the table `public-places` in a system of metres. */
async function makeCityTable(): Promise<void> {
  await server.owner.unsafe(`
    CREATE TABLE places (id int PRIMARY KEY, name text, geom geometry(Polygon, 3857));
    CREATE INDEX ON places USING gist (geom);
    GRANT SELECT ON places TO reader`)
  for (const [id, [name, { lon, lat }]] of Object.entries(CITIES).entries()) {
    const box = [lon - 4, lat - 4, lon + 4, lat + 4]
    await server.owner.unsafe(
      `INSERT INTO places VALUES (${id + 1}, '${name}', ST_Transform(ST_MakeEnvelope(${box}, 4326), 3857))`,
    )
  }
  await server.owner.unsafe('ANALYZE places')
  const url = server.readerUrl.replace('reader@', 'reader:secret@')
  await gateway().admin.expect('/scan-sources', { method: 'POST', body: { code: 'db', kind: 'postgis', url } })
  await gateway().admin.rescan('db')
}

function wms(code: string, crs: string): string {
  const url = encodeURIComponent(`${gateway().url}/wms?token=${token}`)
  return `contextualWMSLegend=0&crs=${crs}&dpiMode=7&format=image/png&layers=${code}&styles=&url=${url}`
}

function wmts(code: string, set: string, crs: string, more = ''): string {
  const url = encodeURIComponent(`${gateway().url}/wmts?token=${token}${more}`)
  return `contextualWMSLegend=0&crs=${crs}&dpiMode=7&format=image/png&layers=${code}&styles=default&tileMatrixSet=${set}&url=${url}`
}

/** A WMTS of one layer in Tianditu's form, whose matrices are counted from 1. */
function tianditu(code: string, set: string, own: string, crs: string): string {
  const url = encodeURIComponent(`${gateway().url}/tianditu/${code}_${set}/wmts?tk=${token}`)
  return `contextualWMSLegend=0&crs=${crs}&dpiMode=7&format=tiles&layers=${code}&styles=default&tileMatrixSet=${own}&url=${url}`
}

function arcgis(code: string, crs: string): string {
  return `crs='${crs}' format='PNG32' layer='0' url='${gateway().url}/arcgis/rest/services/${code}/MapServer'`
}

/** QGIS decodes the URL once. */
function xyz(code: string, extension: string): string {
  const url = `${gateway().url}/tiles/${code}/current/{z}/{x}/{y}.${extension}?token=${token}`
  return `type=xyz&zmin=0&zmax=2&url=${encodeURIComponent(url).replaceAll('%7B', '{').replaceAll('%7D', '}')}`
}

/** A catalogued vector by its tiles. */
function vectorTiles(code: string, zooms: string): string {
  const url = `${gateway().url}/vectors/${code}/tiles/{z}/{x}/{y}.mvt?token=${token}`
  return `type=xyz&${zooms}&url=${encodeURIComponent(url).replaceAll('%7B', '{').replaceAll('%7D', '}')}`
}

/** A catalogued vector by OGC API – Features. */
function features(code: string): string {
  const paging = "pageSize='2' pagingEnabled='true' restrictToRequestBBOX='1'"
  return `${paging} typename='${code}' url='${gateway().url}/ogc?token=${token}'`
}

/** Vector tiles that QGIS draws by a style of the gateway. */
function styled(code: string, style: string): string {
  return `${xyz(code, 'pbf')}&styleUrl=${encodeURIComponent(`${gateway().url}/styles/${style}/style.json?token=${token}`)}`
}

test('QGIS shows every city in its place: WMTS in all grids, XYZ, vector tiles, OGC API Tiles by GDAL, ArcGIS REST, Tianditu, styles, vectors and a table of PostGIS as tiles and as features, WMS in four systems, a style as pictures', async () => {
  await makeCityTable()
  const answer = await fetch(`${gateway().url}/tiles/gauss/tilejson.json?token=${token}`)
  const gauss = (await answer.json()) as { tile_matrix_set: string }
  // As wide as the picture, around Beijing.
  const zone = {
    crs: GAUSS.crs,
    extent: [-450_000, 3_950_000, 1_350_000, 4_850_000],
    cities: { beijing: CITIES.beijing },
  }
  const maps = [
    { ...zone, name: 'wmts-gauss', kind: 'wmts', uri: wmts('gauss', gauss.tile_matrix_set, GAUSS.crs) },
    { ...zone, name: 'arcgis-gauss', kind: 'arcgis', uri: arcgis('gauss', GAUSS.crs) },
    { name: 'wmts-mercator', kind: 'wmts', crs: 'EPSG:3857', uri: wmts('mercator', 'WebMercatorQuad', 'EPSG:3857') },
    // Deeper than the layer, but not than the common grid, since another layer has zoom 6.
    {
      name: 'wmts-mercator-near',
      kind: 'wmts',
      crs: 'EPSG:4326',
      uri: wmts('mercator', 'WebMercatorQuad', 'EPSG:3857', '&only=mercator'),
      extent: [114.4, 38.9, 118.4, 40.9],
      cities: { beijing: CITIES.beijing },
    },
    { name: 'wmts-geodetic', kind: 'wmts', crs: 'EPSG:4326', uri: wmts('geodetic', 'WorldCRS84Quad', 'EPSG:4326') },
    { name: 'wmts-mb4326', kind: 'wmts', crs: 'EPSG:4326', uri: wmts('mb4326', 'WorldCRS84Quad', 'EPSG:4326') },
    { name: 'wmts-mb4490', kind: 'wmts', crs: 'EPSG:4490', uri: wmts('mb4490', 'CGCS2000Quad', 'EPSG:4490') },
    { name: 'arcgis-mercator', kind: 'arcgis', crs: 'EPSG:3857', uri: arcgis('mercator', 'EPSG:3857') },
    { name: 'arcgis-geodetic', kind: 'arcgis', crs: 'EPSG:4326', uri: arcgis('geodetic', 'EPSG:4326') },
    { name: 'tianditu-mercator', kind: 'wmts', crs: 'EPSG:3857', uri: tianditu('mercator', 'w', 'w', 'EPSG:3857') },
    { name: 'tianditu-mb4490', kind: 'wmts', crs: 'EPSG:4490', uri: tianditu('mb4490', 'c', 'c', 'EPSG:4490') },
    { name: 'xyz-mercator', kind: 'xyz', crs: 'EPSG:3857', uri: xyz('mercator', 'png') },
    { name: 'vector-streets', kind: 'vector', crs: 'EPSG:3857', uri: xyz('streets', 'pbf') },
    { name: 'style-streets', kind: 'style', crs: 'EPSG:3857', uri: styled('streets', 'streets') },
    { name: 'vector-cities', kind: 'vector', crs: 'EPSG:3857', uri: vectorTiles('cities', 'zmin=0&zmax=2') },
    { name: 'features-cities', kind: 'features', crs: 'EPSG:3857', uri: features('cities') },
    { name: 'features-cities-4326', kind: 'features', crs: 'EPSG:4326', uri: features('cities') },
    {
      name: 'vector-postgis',
      kind: 'vector',
      layer: 'public-places',
      crs: 'EPSG:3857',
      uri: vectorTiles('public-places', 'zmin=0&zmax=4'),
    },
    { name: 'features-postgis', kind: 'features', crs: 'EPSG:3857', uri: features('public-places') },
    { name: 'features-postgis-4326', kind: 'features', crs: 'EPSG:4326', uri: features('public-places') },
    ...WMS_SYSTEMS.map((crs) => ({
      name: `wms-mercator-${crs.replace(':', '')}`,
      kind: 'wms',
      crs: crs.replace('CRS:84', 'OGC:CRS84'),
      uri: wms('mercator', crs),
    })),
    { name: 'wms-geodetic', kind: 'wms', crs: 'EPSG:4326', uri: wms('geodetic', 'EPSG:4326') },
    { name: 'rendered-wms', kind: 'wms', crs: 'EPSG:3857', uri: wms('drawn', 'EPSG:3857') },
    { name: 'rendered-wms-4326', kind: 'wms', crs: 'EPSG:4326', uri: wms('drawn', 'EPSG:4326') },
    { name: 'rendered-wmts', kind: 'wmts', crs: 'EPSG:3857', uri: wmts('drawn', 'WebMercatorQuad', 'EPSG:3857') },
    {
      name: 'ogc-geodetic',
      kind: 'gdal',
      crs: 'EPSG:4326',
      uri: `OGCAPI:${gateway().url}/ogc/collections/geodetic?token=${token}`,
    },
  ].map((map) => ({
    cities: CITIES,
    layer: 'cities',
    extent: EXTENTS[map.crs === 'EPSG:3857' ? 'EPSG:3857' : 'geographic'],
    ...map,
    colours: COLOURS,
    token,
    file: join(ARTIFACTS, `qgis-${map.name}.png`),
  }))
  const places = (await drawn(maps)) as Record<string, Record<string, [number, number]>>
  for (const { name, file } of maps) {
    const at = places[name] ?? {}
    expect.soft([name, at]).not.toEqual([name, { error: expect.anything() }])
    const near = Object.keys(at).map((city) => [city, IN_PLACE[city]])
    const seen = 'error' in at ? {} : await coloursAt(await readFile(file), at)
    expect.soft([name, seen]).toEqual([name, Object.fromEntries(near)])
  }
}, 300_000)

async function drawn(maps: readonly object[]): Promise<unknown> {
  const { home } = gateway()
  const process_ = spawn('/usr/bin/python3', [SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: home,
    env: { ...process.env, QT_QPA_PLATFORM: 'offscreen', HOME: home, XDG_RUNTIME_DIR: home },
  })
  process_.stdin.end(JSON.stringify(maps))
  const [out] = await Promise.all([text(process_.stdout), once(process_, 'exit')])
  return JSON.parse(out)
}
