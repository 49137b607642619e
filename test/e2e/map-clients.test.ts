import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ClientPage, LEAFLET, MAPLIBRE, OPENLAYERS, useClientPages } from '../clients/pages.js'
import {
  CITIES,
  coloursAt,
  HILL,
  IN_PLACE,
  makeHill,
  makeStyle,
  makeWorld,
  submit,
  succeeded,
} from '../clients/world.js'
import { makeGeotiff } from '../harness/fixtures/imagery.js'
import { addresses } from '../harness/fixtures/tile-image.js'
import { useGateway } from '../harness/use-gateway.js'
import { mapIsDrawn, open, shot, useBrowser } from './console-browser.js'

const execute = promisify(execFile)

/** Screenshots for inspection after a run; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/clients/', import.meta.url))

let token: string
let slicer: string
let scanned: string
/** Jobs that run while other tests draw. */
let jobs: Record<'terrarium' | 'mapbox' | 'grown', string>
const gateway = useGateway({}, async (started) => {
  await mkdir(ARTIFACTS, { recursive: true })
  token = (await started.issueToken({ basemap_codes: ['*'] })).token
  slicer = (await started.issueToken({ scopes: ['slice'] })).token
  const bounds = [-180, -85, 180, 85] as const
  const image = (name: string) => join(started.home, `${name}.tif`)
  await makeGeotiff(image('red'), { bounds, colour: RED })
  await makeGeotiff(image('blue'), { bounds, colour: BLUE })
  const hill = { source_path: await makeHill(started.home), zoom_max: 6, tile_format: 'png' }
  const queue = (job: object) => submit(started, { ...job }, slicer)
  jobs = {
    terrarium: await queue({ ...hill, target_code: 'terrarium', encoding: 'terrarium' }),
    mapbox: await queue({ ...hill, target_code: 'mapbox', encoding: 'mapbox' }),
    grown: await queue(grownBy(image('red'))),
  }
  scanned = await makeWorld(started)
  await makeStyle(started)
  // The same world without its first zooms.
  for (const zoom of ['2', '3'])
    await cp(join(started.home, 'world/mercator', zoom), join(started.home, 'begins/late', zoom), { recursive: true })
  await started.admin.scanSource('begins', 'basemap', join(started.home, 'begins'))
})

/** A job that adds an image of the whole world to the layer `grown`. */
const grownBy = (image: string) => ({ target_code: 'grown', source_path: image, zoom_max: 3, tile_format: 'png' })

const RED = { r: 200, g: 30, b: 30 }
const BLUE = { r: 30, g: 30, b: 200 }

const openClient = useClientPages({ ol: OPENLAYERS, leaflet: LEAFLET, maplibre: MAPLIBRE })
const openConsole = useBrowser()

const COLOURS = Object.fromEntries(Object.entries(CITIES).map(([name, { colour }]) => [name, `rgb(${colour})`]))

/** One page per library for all tests, because loading takes longer than drawing a map. */
const pages = new Map<string, Promise<ClientPage>>()
function sharedPage(library: string): Promise<ClientPage> {
  const page = pages.get(library) ?? openClient(library)
  pages.set(library, page)
  return page
}

interface Drawn {
  readonly code: string
  readonly by?: string
  readonly grid?: string
  readonly set?: string
}

/** Draws a layer and returns the pixels at the positions that the library reports for the cities. */
async function citiesBy(library: string, spec: Drawn) {
  const client = await sharedPage(library)
  const places = await client.draw({ base: gateway().url, token, cities: CITIES, colours: COLOURS, ...spec })
  const picture = await client.picture()
  await writeFile(join(ARTIFACTS, `${library}-${spec.by ?? 'xyz'}-${spec.code}.png`), picture)
  return coloursAt(picture, places)
}

describe('OpenLayers', () => {
  test.each([
    ['style', 'streets', 'EPSG:3857', ''],
    ['wmts', 'mercator', 'EPSG:3857', 'WebMercatorQuad'],
    ['wmts', 'geodetic', 'EPSG:4326', 'WorldCRS84Quad'],
    ['wmts', 'mb4326', 'EPSG:4326', 'WorldCRS84Quad'],
    ['wmts', 'mb4490', 'EPSG:4490', 'CGCS2000Quad'],
    ['wmts', 'late', 'EPSG:3857', 'WebMercatorQuad'],
    ['ogc', 'mercator', 'EPSG:3857', 'WebMercatorQuad'],
    ['ogc', 'late', 'EPSG:3857', 'WebMercatorQuad'],
    ['ogc', 'geodetic', 'EPSG:4326', 'WorldCRS84Quad'],
    ['xyz', 'mercator', 'EPSG:3857', ''],
    ['xyz', 'geodetic', 'EPSG:4326', ''],
    ['vector', 'streets', 'EPSG:3857', ''],
    ['arcgis', 'mercator', 'EPSG:3857', ''],
    ['arcgis', 'geodetic', 'EPSG:4326', ''],
    ['tianditu', 'mercator', 'EPSG:3857', 'w'],
    ['tianditu', 'mb4490', 'EPSG:4490', 'c'],
  ])('by %s shows every city of %s in its place', async (by, code, grid, set) => {
    expect(await citiesBy('ol', { by, code, grid, set })).toEqual(IN_PLACE)
  })
})

describe('Leaflet', () => {
  test.each([
    ['mercator', 'EPSG:3857'],
    ['late', 'EPSG:3857'],
    ['geodetic', 'EPSG:4326'],
    ['mb4490', 'EPSG:4326'],
  ])('shows every city of %s in its place', async (code, grid) => {
    expect(await citiesBy('leaflet', { code, grid })).toEqual(IN_PLACE)
  })

  test.each([
    ['esri', 'mercator', 'EPSG:3857', ''],
    ['esri', 'late', 'EPSG:3857', ''],
    ['tianditu', 'mercator', 'EPSG:3857', 'w'],
    ['tianditu', 'mb4490', 'EPSG:4326', 'c'],
  ])('by %s shows every city of %s in its place', async (by, code, grid, set) => {
    expect(await citiesBy('leaflet', { by, code, grid, set })).toEqual(IN_PLACE)
  })
})

describe('MapLibre', () => {
  test.each([
    ['raster', 'mercator'],
    ['raster', 'late'],
    ['vector', 'streets'],
  ])('by a %s source shows every city in its place', async (by, code) => {
    expect(await citiesBy('maplibre', { by, code })).toEqual(IN_PLACE)
  })

  test.each(['terrarium', 'mapbox'] as const)(
    'draws hills from an elevation model that was sliced as %s',
    async (encoding) => {
      await succeeded(gateway(), jobs[encoding], slicer)
      const client = await sharedPage('maplibre')
      const cities = { top: HILL, plain: { lon: HILL.lon + 6, lat: HILL.lat } }
      const spec = {
        base: gateway().url,
        token,
        code: encoding,
        by: 'raster-dem',
        cities,
        center: [HILL.lon, HILL.lat],
        zoom: 4,
      }
      const heights = await client.draw<{ top: number; plain: number }>(spec)
      await writeFile(join(ARTIFACTS, `maplibre-${encoding}.png`), await client.picture())
      // The map's mesh cuts off the peak.
      expect(heights.plain).toBeCloseTo(100, 0)
      expect(heights.top - heights.plain).toBeGreaterThan(0.9 * HILL.height)
      expect(heights.top - heights.plain).toBeLessThan(1.01 * HILL.height)
    },
  )

  test('an open map stays with its version while another becomes the default; a reload shows only the other', async () => {
    const root = join(gateway().home, 'two')
    await makePlainFolder(join(root, 'plain/1'), RED)
    await makePlainFolder(join(root, 'plain/2'), BLUE)
    await gateway().admin.scanSource('two', 'basemap', root)
    const setDefault = async (version: string) => {
      await gateway().admin.expect('/basemaps/plain/default-version', { body: { version } })
      await gateway().caughtUp()
    }
    await setDefault('1')
    const shown = await openPlain('plain')
    expect(await shown.colours()).toEqual([RED])
    await setDefault('2')
    expect(await shown.colours(2)).toEqual([RED])
    expect(await shown.reloaded()).toEqual([BLUE])
  })

  test('a reload after an accumulating job shows only the new content, whatever the browser has cached', async () => {
    await succeeded(gateway(), jobs.grown, slicer)
    const shown = await openPlain('grown')
    expect(await shown.colours()).toEqual([RED])
    await succeeded(gateway(), await submit(gateway(), grownBy(join(gateway().home, 'blue.tif')), slicer), slicer)
    expect(await shown.reloaded()).toEqual([BLUE])
    expect(await shown.colours(2)).toEqual([BLUE])
  })
})

async function makePlainFolder(folder: string, background: typeof RED): Promise<void> {
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background } })
    .png()
    .toBuffer()
  for (const { z, x, y } of addresses(0, 3)) {
    await mkdir(join(folder, `${z}/${x}`), { recursive: true })
    await writeFile(join(folder, `${z}/${x}/${y}.png`), tile)
  }
}

/** Opens a MapLibre map of a layer in a browser with a normal cache. */
async function openPlain(code: string) {
  const { page, draw, picture } = await openClient('maplibre')
  onTestFinished(() => page.close())
  const show = () => draw({ base: gateway().url, token, cities: {}, by: 'raster', code })
  await show()
  /** Returns all colours of the map after it has reached this zoom. */
  const colours = async (zoom?: number) => {
    if (zoom !== undefined)
      await page.evaluate(`new Promise((resolve) => map.jumpTo({ zoom: ${zoom} }).once('idle', resolve))`)
    return allColours(await picture())
  }
  const reloaded = async () => {
    await page.reload()
    await show()
    return colours()
  }
  return { colours, reloaded }
}

/** Timeout for drawing a map on a busy machine without a graphics card. */
const DRAWN = { timeout: 90_000 }

describe('the console', () => {
  test('shows a whole geographic set at first', async () => {
    const { page, expectClean } = await openConsole(gateway())
    await open(page, '/basemaps/mb4490/versions/default')
    await mapIsDrawn(page)
    const canvas = page.locator('canvas.maplibregl-canvas')
    await expect.poll(async () => citiesSomewhereIn(await canvas.screenshot()), DRAWN).toEqual(Object.keys(CITIES))
    await shot(page, 'map-of-mb4490')
    await expectClean()
  })

  test('draws a geographic set in longitude and latitude, and finds its tiles', async () => {
    // The map's height is a share of the window's, and has to show Reykjavik.
    const { page, expectClean } = await openConsole(gateway(), { viewport: { width: 1280, height: 1400 } })
    await open(page, '/basemaps/geodetic/versions/default?at=1.00/0.00000/0.00000&grid=on')
    await mapIsDrawn(page)
    const canvas = page.locator('canvas.maplibregl-canvas')
    const { width, height } = (await canvas.boundingBox()) as { width: number; height: number }
    // At zoom 1 the world is 1024 pixels wide, and Beijing is outside of the map.
    const { beijing: _, ...near } = CITIES
    const places = Object.fromEntries(
      Object.entries(near).map(([city, { lon, lat }]) => {
        return [city, [width / 2 + (lon / 360) * 1024, height / 2 - (lat / 360) * 1024] as [number, number]]
      }),
    )
    const inPlace = Object.fromEntries(Object.keys(near).map((city) => [city, IN_PLACE[city]]))
    await expect.poll(async () => coloursAt(await canvas.screenshot(), places), DRAWN).toEqual(inPlace)
    const [x, y] = places.nairobi as [number, number]
    await canvas.click({ position: { x, y } })
    // The zoom has four columns and two rows.
    await expect.poll(() => page.getByLabel('Tile z/x/y').inputValue(), DRAWN).toBe('1/2/1')
    await page.getByRole('img', { name: 'Tile 1/2/1' }).waitFor()
    await shot(page, 'map-of-geodetic')
    await expectClean()
  })
})

/** Returns the cities whose colours occur anywhere in a picture. */
async function citiesSomewhereIn(picture: Buffer): Promise<string[]> {
  const found = await allColours(picture)
  return Object.entries(CITIES)
    .filter(([, { colour }]) =>
      found.some(({ r, g, b }) => colour.every((value, i) => Math.abs(value - [r, g, b][i]!) < 3)),
    )
    .map(([city]) => city)
}

async function allColours(picture: Buffer): Promise<{ r: number; g: number; b: number }[]> {
  const data = await sharp(picture).removeAlpha().raw().toBuffer()
  const found = new Set<number>()
  for (let i = 0; i < data.length; i += 3) found.add(data.readUIntBE(i, 3))
  return [...found].map((rgb) => ({ r: rgb >> 16, g: (rgb >> 8) & 255, b: rgb & 255 }))
}

describe('GDAL', () => {
  test('lists the layers of the WMTS with their grids', async () => {
    const { stdout } = await execute('gdalinfo', [`WMTS:${gateway().url}/wmts?token=${token}`, ...quietly()])
    for (const code of ['mercator', 'geodetic', 'mb4326', 'mb4490']) expect(stdout).toContain(`layer=${code}`)
  })

  test.each([
    ['mercator', 'EPSG:3857', 3, [0, 2, 1, 3]],
    ['geodetic', 'EPSG:4326', 2, [3, 0, 5, 1]],
    ['mb4490', 'EPSG:4490', 2, [5, 0, 7, 1]],
  ] as const)(
    'takes an area of %s (%s) out of the WMTS that is, pixel by pixel, its tiles',
    async (code, crs, zoom, area) => {
      const [left, top, right, bottom] = area
      const out = join(gateway().home, `${code}.png`)
      const size = crs === 'EPSG:3857' ? (2 * Math.PI * 6378137) / 2 ** zoom : 180 / 2 ** zoom
      const [west, north] = crs === 'EPSG:3857' ? [-Math.PI * 6378137, Math.PI * 6378137] : [-180, 90]
      const edges = [west + left * size, north - top * size, west + (right + 1) * size, north - (bottom + 1) * size]
      // Without a zoom GDAL uses the depth of the whole grid, which another layer may determine.
      const source = `WMTS:${gateway().url}/wmts?token=${token},layer=${code},zoom_level=${zoom}`
      await execute('gdal_translate', ['-q', '-of', 'PNG', '-projwin', ...edges.map(String), source, out, ...quietly()])
      const { stdout } = await execute('gdalsrsinfo', ['-e', '-o', 'epsg', out])
      expect(stdout).toContain(crs)
      expect(await pixels(out)).toEqual(await pixels(await tilesSideBySide(code, zoom, area)))
    },
  )

  test('reads tiles of 512 pixels unchanged', async () => {
    const out = join(gateway().home, 'large.png')
    const source = `WMTS:${gateway().url}/wmts?token=${token},layer=large,zoom_level=0`
    await execute('gdal_translate', ['-q', '-of', 'PNG', source, out, ...quietly()])
    expect(await pixels(out)).toEqual(await pixels(join(gateway().home, 'world/large/0/0/0.png')))
  })
})

/** Keeps GDAL's cache with the gateway, not in the working directory. */
const quietly = () => ['--config', 'GDAL_DEFAULT_WMS_CACHE_PATH', join(gateway().home, 'gdal')]

async function pixels(picture: Buffer | string) {
  const { data, info } = await sharp(picture).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, digest: createHash('sha256').update(data).digest('hex') }
}

async function tilesSideBySide(
  code: string,
  z: number,
  [left, top, right, bottom]: readonly [number, number, number, number],
) {
  const tiles = []
  for (let x = left; x <= right; x++) {
    for (let y = top; y <= bottom; y++) {
      const answer = await fetch(`${gateway().url}/tiles/${code}/current/${z}/${x}/${y}.png?token=${token}`)
      expect(answer.status).toBe(200)
      tiles.push({ input: Buffer.from(await answer.arrayBuffer()), left: (x - left) * 256, top: (y - top) * 256 })
    }
  }
  const [width, height] = [(right - left + 1) * 256, (bottom - top + 1) * 256]
  const background = { r: 0, g: 0, b: 0, alpha: 0 }
  return sharp({ create: { width, height, channels: 4, background } })
    .composite(tiles)
    .png()
    .toBuffer()
}

test('the scan refuses a set in UTM with a reason', async () => {
  expect(scanned).toContain('its tiles are in EPSG:32650')
  const answer = await fetch(`${gateway().url}/api/v1/catalog/basemaps/utm?token=${token}`)
  expect(answer.status).toBe(404)
})
