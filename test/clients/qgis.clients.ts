import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { CITIES, coloursAt, GAUSS, IN_PLACE, makeCityVector, makeGauss, makeStyle, makeWorld } from './world.js'

const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))
const SCRIPT = fileURLToPath(new URL('qgis_maps.py', import.meta.url))

/** Half the width of the world in metres; the world is as wide as the picture. */
const HALF = Math.PI * 6378137
const EXTENTS = { 'EPSG:3857': [-HALF, -HALF / 2, HALF, HALF / 2], geographic: [-180, -90, 180, 90] }
const COLOURS = Object.fromEntries(Object.entries(CITIES).map(([name, { colour }]) => [name, `${colour},255`]))

let token: string
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ basemap_codes: ['*'], vector_codes: ['cities'] })).token
  await makeWorld(started)
  await makeStyle(started)
  await makeCityVector(started)
  const deep = join(started.home, 'deep')
  await mkdir(join(deep, 'deep/6/0'), { recursive: true })
  await copyFile(join(started.home, 'world/mercator/0/0/0.png'), join(deep, 'deep/6/0/0.png'))
  await makeGauss(started.home, join(deep, 'gauss'))
  await started.admin.scanSource('deep', 'basemap', deep)
})

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

test('QGIS shows every city in its place: WMTS in all grids, XYZ, vector tiles, OGC API Tiles by GDAL, ArcGIS REST, Tianditu, styles, vectors as tiles and as features', async () => {
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
      name: 'ogc-geodetic',
      kind: 'gdal',
      crs: 'EPSG:4326',
      uri: `OGCAPI:${gateway().url}/ogc/collections/geodetic?token=${token}`,
    },
  ].map((map) => ({
    cities: CITIES,
    extent: EXTENTS[map.crs === 'EPSG:3857' ? 'EPSG:3857' : 'geographic'],
    ...map,
    colours: COLOURS,
    token,
    file: join(ARTIFACTS, `qgis-${map.name}.png`),
  }))
  const places = (await drawn(maps)) as Record<string, Record<string, [number, number]>>
  for (const { name, file } of maps) {
    expect([name, places[name]]).not.toEqual([name, { error: expect.anything() }])
    const near = Object.keys(places[name] ?? {}).map((city) => [city, IN_PLACE[city]])
    expect([name, await coloursAt(await readFile(file), places[name] ?? {})]).toEqual([name, Object.fromEntries(near)])
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
