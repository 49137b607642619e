import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { CITIES, makeGauss, makeWorld } from '../clients/world.js'
import { useGateway } from '../harness/use-gateway.js'

const execute = promisify(execFile)

let token: string
const gateway = useGateway({}, async (started) => {
  token = (await started.issueToken({ basemap_codes: ['*'] })).token
  await makeWorld(started)
  await makeFurtherSets(started.home)
  await makeGauss(started.home, join(started.home, 'further/gauss'))
  await started.admin.scanSource('further', 'basemap', join(started.home, 'further'))
})

/** South-west and north-east corners of the sets with a part of the world: all of Beijing's disc, and sea around it. */
const PART = { west: 100, south: 25, east: 135, north: 55 }

const TOWN = { west: 116, south: 39.5, east: 117, north: 40.3 }

/**
 * Makes further sets from the picture that `makeWorld` leaves: `webp`, and of a part of the world, from zoom 2 on, `late` and `late4326`.
 * `deep` is deeper than other sets, so that their common matrix set is deeper than they are; `town` is a small part of the disc.
 */
async function makeFurtherSets(home: string): Promise<void> {
  const [world, part] = [join(home, 'world.tif'), join(home, 'part.tif')]
  const { west, south, east, north } = PART
  const window = [west, north, east, south].map(String)
  await execute('gdal_translate', ['-q', '-projwin', ...window, world, part])
  const tiles = (code: string, profile: string, zooms: string, source: string, more: string[] = []) => {
    const out = join(home, 'further', code)
    return execute('gdal2tiles.py', ['-q', '-w', 'none', '-p', profile, '-z', zooms, ...more, source, out])
  }
  await Promise.all([
    tiles('webp', 'mercator', '0-3', world, ['--xyz', '--tiledriver=WEBP', '--webp-lossless']),
    tiles('late', 'mercator', '2-4', part, ['--xyz']),
    tiles('late4326', 'geodetic', '2-3', part, ['--tmscompatible']),
    tiles('deep', 'mercator', '0-5', part, ['--xyz']),
  ])
  // A town smaller than a pixel of the tile of zoom 0.
  const town = join(home, 'town.tif')
  const { west: left, north: top, east: right, south: bottom } = TOWN
  await execute('gdal_translate', ['-q', '-projwin', ...[left, top, right, bottom].map(String), world, town])
  await tiles('town', 'mercator', '0-9', town, ['--xyz'])
}

type Place = readonly [lon: number, lat: number]

const SEA = [190, 220, 235]
const { beijing } = CITIES
/** Five places of the world: the four cities and the sea. */
const OF_THE_WORLD: readonly (readonly [Place, readonly number[]])[] = [
  ...Object.values(CITIES).map(({ lon, lat, colour }) => [[lon, lat], colour] as const),
  [[-120, 20], SEA],
]
/** Five places of the part: the middle of the disc, two near its edge, and the sea beyond two others. */
const OF_THE_PART: readonly (readonly [Place, readonly number[]])[] = [
  [[beijing.lon, beijing.lat], beijing.colour],
  [[beijing.lon - 3, beijing.lat], beijing.colour],
  [[beijing.lon, beijing.lat + 2.5], beijing.colour],
  [[beijing.lon + 6, beijing.lat], SEA],
  [[beijing.lon, beijing.lat - 6], SEA],
]
const OF_THE_TOWN: readonly (readonly [Place, readonly number[]])[] = [
  [116.1, 39.6],
  [116.75, 39.6],
  [116.75, 40.1],
  [116.1, 40.1],
  [116.5, 39.9],
].map(([lon = 0, lat = 0]) => [[lon, lat], beijing.colour])
const PLACES = {
  mercator: OF_THE_WORLD,
  geodetic: OF_THE_WORLD,
  mb4326: OF_THE_WORLD,
  mb4490: OF_THE_WORLD,
  large: OF_THE_WORLD,
  webp: OF_THE_WORLD,
  late: OF_THE_PART,
  late4326: OF_THE_PART,
  deep: OF_THE_PART,
  town: OF_THE_TOWN,
} as const
type Code = keyof typeof PLACES
const CODES = Object.keys(PLACES) as Code[]

/** URLs as a user writes them for GDAL, without zoom, extent or matrix set. */
const ADDRESSES = {
  WMTS: (code: string) => `WMTS:${gateway().url}/wmts?token=${token},layer=${code}`,
  'WMTS of one layer': (code: string) => `WMTS:${gateway().url}/wmts?only=${code}&token=${token}`,
  'OGC API – Tiles': (code: string) => `OGCAPI:${gateway().url}/ogc/collections/${code}?token=${token}`,
  TMS: (code: string) => `${gateway().url}/tms/1.0.0/${code}?token=${token}`,
}

describe.each(Object.entries(ADDRESSES))('GDAL by %s', (service, addressOf) => {
  test.each(CODES)('finds five places of %s in their colours', async (code) => {
    const places = PLACES[code]
    const found = await coloursAt(
      addressOf(code),
      places.map(([place]) => place),
    )
    expect(found).toEqual(places.map(([, colour]) => colour.map((value) => expect.closeTo(value, -1.2))))
  })

  test.each(CODES)('knows the system and the extent of %s', async (code) => {
    const { coordinateSystem, wgs84Extent } = await infoOf(addressOf(code))
    expect(coordinateSystem.wkt).toMatch(SYSTEMS[code])
    const corners = wgs84Extent.coordinates.flat()
    const [lons, lats] = [0, 1].map((axis) => corners.map((corner) => corner[axis] as number)) as [number[], number[]]
    const extent = [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)]
    // GDAL knows one extent of a tile map: that of the whole grid.
    const bounds = service === 'TMS' ? GRIDS[code] : await boundsOf(code)
    // The extent ends at a pixel.
    expect(extent).toEqual(bounds.map((value) => expect.closeTo(value, -0.3)))
  })
})

const GEOGRAPHIC = /"(WGS 84 \(CRS84\)|WGS 84)"[\s\S]*(CRS84"|4326)\]/
const MERCATOR = /ID\["EPSG",3857\]\]$/
const SYSTEMS: Record<Code, RegExp> = {
  ...(Object.fromEntries(CODES.map((code) => [code, MERCATOR])) as Record<Code, RegExp>),
  geodetic: GEOGRAPHIC,
  mb4326: GEOGRAPHIC,
  late4326: GEOGRAPHIC,
  mb4490: /ID\["EPSG",4490\]\]$/,
}
const GRIDS = Object.fromEntries(
  CODES.map((code) => [code, SYSTEMS[code] === MERCATOR ? [-180, -85.05, 180, 85.05] : [-180, -90, 180, 90]]),
) as Record<Code, number[]>

async function boundsOf(code: string): Promise<number[]> {
  const answer = await fetch(`${gateway().url}/tiles/${code}/tilejson.json?token=${token}`)
  return ((await answer.json()) as { bounds: number[] }).bounds
}

/** Returns the bands of the pixels at places in degrees, at the finest resolution that GDAL reads. */
async function coloursAt(source: string, places: readonly Place[], more: readonly string[] = []): Promise<number[][]> {
  const running = execute('gdallocationinfo', ['-valonly', '-wgs84', source, ...quietly(), ...more])
  running.child.stdin?.end(places.map((place) => `${place.join(' ')}\n`).join(''))
  const values = (await running).stdout.split('\n').filter((line) => line !== '')
  const bands = values.length / places.length
  return places.map((_, i) => values.slice(i * bands, i * bands + 3).map(Number))
}

interface Info {
  readonly wgs84Extent: {
    readonly coordinates: readonly (readonly (readonly number[])[])[]
  }
  readonly coordinateSystem: { readonly wkt: string }
  readonly metadata: {
    readonly SUBDATASETS?: Readonly<Record<string, string>>
  }
}

async function infoOf(source: string): Promise<Info> {
  const { stdout } = await execute('gdalinfo', ['-json', source, ...quietly()], { maxBuffer: 1e8 })
  return JSON.parse(stdout)
}

/** Keeps GDAL's cache with the gateway, not in the working directory. */
const quietly = () => ['--config', 'GDAL_DEFAULT_WMS_CACHE_PATH', join(gateway().home, 'gdal')]

describe('GDAL with details of a service', () => {
  test.each([
    ['WMTS', () => `WMTS:${gateway().url}/wmts?token=${token}`],
    ['OGC API – Tiles', () => `OGCAPI:${gateway().url}/ogc?token=${token}`],
    ['TMS', () => `${gateway().url}/tms/1.0.0?token=${token}`],
  ] as const)('opens each layer that the %s lists', async (_, address) => {
    const { SUBDATASETS = {} } = (await infoOf(address())).metadata
    const names = Object.entries(SUBDATASETS).flatMap(([key, name]) => (key.endsWith('_NAME') ? [name] : []))
    for (const code of CODES) {
      const named = names.find((name) => new RegExp(`[/=]${code}(?![a-z0-9])`).test(name)) as string
      const [place, colour] = PLACES[code][0] as (typeof OF_THE_WORLD)[0]
      expect([code, await coloursAt(named, [place])]).toEqual([
        code,
        [colour.map((value) => expect.closeTo(value, -1.2))],
      ])
    }
  })

  test.each(['WMTS', 'WMTS of one layer', 'OGC API – Tiles'] as const)(
    'reads a set that begins at zoom 2 by %s as small as it likes',
    async (service) => {
      const out = join(gateway().home, 'small.png')
      const { west, south, east, north } = PART
      const window = ['-projwin_srs', 'EPSG:4326', '-projwin', west, north, east, south].map(String)
      const source = ADDRESSES[service]('late')
      await execute('gdal_translate', ['-q', '-of', 'PNG', '-outsize', '35', '0', ...window, source, out, ...quietly()])
      const { data, info } = await sharp(out).removeAlpha().raw().toBuffer({ resolveWithObject: true })
      const colours = new Set<number>()
      for (let i = 0; i < data.length; i += info.channels) colours.add(data.readUIntBE(i, 3))
      expect(colours).toContain((beijing.colour[0] << 16) | (beijing.colour[1] << 8) | beijing.colour[2])
    },
  )
})

describe('GDAL in a zone of Gauss-Kruger', () => {
  test.each([
    ['WMTS', ADDRESSES.WMTS],
    ['WMTS of one layer', ADDRESSES['WMTS of one layer']],
    ['OGC API – Tiles', ADDRESSES['OGC API – Tiles']],
  ] as const)('finds the tiles in their places by %s', async (_, addressOf) => {
    const address = addressOf('gauss')
    const found = await coloursAt(
      address,
      OF_THE_PART.map(([place]) => place),
    )
    expect(found).toEqual(OF_THE_PART.map(([, colour]) => colour.map((value) => expect.closeTo(value, -1.2))))
  })

  test('knows the system by WMTS', async () => {
    const { coordinateSystem } = await infoOf(ADDRESSES.WMTS('gauss'))
    expect(coordinateSystem.wkt).toMatch(/ID\["EPSG",4548\]\]$/)
  })
})

/** Systems with the box of the world; GDAL is told an order that begins with the latitude. */
const WMS_SYSTEMS = {
  'EPSG:3857 by 1.3.0': 'VERSION=1.3.0&CRS=EPSG:3857&BBOX=-20037508.34,-20037508.34,20037508.34,20037508.34',
  'EPSG:4326 by 1.3.0': 'VERSION=1.3.0&CRS=EPSG:4326&BBOX=-90,-180,90,180&BBOXORDER=yxYX',
  'EPSG:4490 by 1.1.1': 'VERSION=1.1.1&SRS=EPSG:4490&BBOX=-180,-90,180,90',
  'CRS:84 by 1.3.0': 'VERSION=1.3.0&CRS=CRS:84&BBOX=-180,-90,180,90',
}

describe('GDAL by WMS', () => {
  test.each(Object.entries(WMS_SYSTEMS))('finds five places of sets of three grids in %s', async (_, parameters) => {
    for (const code of ['mercator', 'mb4326', 'gauss'] as const) {
      const places = code === 'gauss' ? OF_THE_PART : PLACES[code]
      const found = await coloursAt(
        `WMS:${gateway().url}/wms?token=${token}&SERVICE=WMS&REQUEST=GetMap&LAYERS=${code}&STYLES=&${parameters}`,
        places.map(([place]) => place),
      )
      expect(found).toEqual(places.map(([, colour]) => colour.map((value) => expect.closeTo(value, -1.2))))
    }
  })

  test('lists the layers', async () => {
    const { SUBDATASETS = {} } = (await infoOf(`WMS:${gateway().url}/wms?token=${token}`)).metadata
    const layers = Object.values(SUBDATASETS).flatMap((name) => /LAYERS=([a-z0-9]+)/.exec(name)?.[1] ?? [])
    expect(layers).toEqual(expect.arrayContaining(['gauss', ...CODES]))
  })
})

/** GDAL asks for tiles of a map service without the query of its address: the token goes into a header. */
const BY_HEADER = () => ['--config', 'GDAL_HTTP_HEADERS', `X-Access-Token: ${token}`]
const FOREIGN = {
  'ArcGIS REST': (code: string) => `${gateway().url}/arcgis/rest/services/${code}/MapServer?f=json`,
  'requests of Tianditu': (code: string, set: string) =>
    `WMTS:${gateway().url}/tianditu/${code}_${set}/wmts?SERVICE=WMTS&REQUEST=GetCapabilities&tk=${token}`,
}

describe.each(Object.entries(FOREIGN))('GDAL by %s', (_, addressOf) => {
  test.each([
    ['mercator', 'w'],
    ['geodetic', 'c'],
    ['mb4490', 'c'],
    ['late', 'w'],
  ] as const)('finds five places of %s in their colours', async (code, set) => {
    const places = PLACES[code]
    const found = await coloursAt(
      addressOf(code, set),
      places.map(([place]) => place),
      BY_HEADER(),
    )
    expect(found).toEqual(places.map(([, colour]) => colour.map((value) => expect.closeTo(value, -1.2))))
  })
})
