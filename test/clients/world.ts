import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SliceJob } from '@gateway/contracts/slice.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import sharp from 'sharp'
import { expect } from 'vitest'
import type { Gateway } from '../harness/gateway.js'
import { tilesBuilt } from '../harness/tiles-built.js'

const execute = promisify(execFile)

/** Cities in all quarters of the world, each drawn as a disc in a distinct colour. */
export const CITIES = {
  beijing: { lon: 116.4, lat: 39.9, colour: [225, 30, 30] },
  nairobi: { lon: 36.8, lat: -1.3, colour: [20, 160, 60] },
  santiago: { lon: -70.65, lat: -33.45, colour: [30, 60, 220] },
  reykjavik: { lon: -21.9, lat: 64.1, colour: [240, 200, 0] },
} as const
export type City = keyof typeof CITIES

const SEA = [190, 220, 235] as const
/** Pixels per degree of the picture, which shows the world in 2048 by 1024 pixels. */
const PIXELS = 2048 / 360
const RADIUS_DEGREES = 4

/** A hill in the sea: a cone of heights in metres above a plain at 100 m. */
export const HILL = { lon: 10, lat: 45, height: 2000, degrees: 4 }
const PLAIN = 100

/**
 * Makes the same picture of the world in every grid and storage: `mercator` and `geodetic` by gdal2tiles, `mb4326` and `mb4490` (MBTiles in
 * longitude and latitude), `large` (one tile of 512 pixels), `streets` (vector tiles of the cities, by GDAL). Returns the message of the
 * scan, which also finds a set in UTM.
 */
export async function makeWorld({ home, admin }: Gateway): Promise<string> {
  const root = join(home, 'world')
  const picture = join(home, 'world.tif')
  for (const code of ['utm', 'large']) await mkdir(join(root, code, '0/0'), { recursive: true })
  await makePicture(home, picture)
  const tiles = (profile: string, zooms: string, more: string[] = []) =>
    execute('gdal2tiles.py', [
      '-q',
      '-n',
      '-w',
      'none',
      '-p',
      profile,
      '-z',
      zooms,
      ...more,
      picture,
      join(root, profile),
    ])
  await Promise.all([
    tiles('mercator', '0-3', ['--xyz']),
    tiles('geodetic', '0-2', ['--tmscompatible']),
    makeCityTiles(home, join(root, 'streets.mbtiles')),
  ])
  for (const crs of ['4326', '4490']) {
    await writeMbtiles(join(root, `mb${crs}.mbtiles`), tilesOf(join(root, 'geodetic')), {
      name: crs,
      format: 'png',
      bounds: [-180, -90, 180, 90],
      metadata: { crs: `EPSG:${crs}` },
    })
  }
  await copyFile(join(root, 'mercator/0/0/0.png'), join(root, 'utm/0/0/0.png'))
  await sharp(join(root, 'mercator/0/0/0.png')).resize(512).toFile(join(root, 'large/0/0/0.png'))
  await writeFile(join(root, 'utm/tilejson.json'), JSON.stringify({ crs: 'EPSG:32650' }))
  return (await admin.scanSource('world', 'basemap', root)).message ?? ''
}

async function makePicture(home: string, path: string): Promise<void> {
  const discs = Object.values(CITIES).map(({ lon, lat, colour }) => {
    const place = `cx="${(lon + 180) * PIXELS}" cy="${(90 - lat) * PIXELS}" r="${RADIUS_DEGREES * PIXELS}"`
    return `<circle ${place} fill="rgb(${colour})" shape-rendering="crispEdges"/>`
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="2048" height="1024"><rect width="2048" height="1024" fill="rgb(${SEA})"/>${discs.join('')}</svg>`
  const png = join(home, 'world.png')
  await sharp(Buffer.from(svg)).removeAlpha().png().toFile(png)
  await execute('gdal_translate', ['-q', '-a_srs', 'EPSG:4326', '-a_ullr', '-180', '90', '180', '-90', png, path])
}

/** Beijing's disc and sea around it in a zone of Gauss-Kruger, as a folder that declares its grid: two zooms whose tiles do not nest. */
export const GAUSS = {
  crs: 'EPSG:4548',
  origin: [-5123200, 10002100],
  resolutions: [1000, 400],
  tile_size: 256,
} as const

/** Below `root`, out of the picture that `makeWorld` leaves. */
export async function makeGauss(home: string, root: string): Promise<void> {
  const [left, top] = GAUSS.origin
  await mkdir(root, { recursive: true })
  await writeFile(join(root, 'metadata.json'), JSON.stringify(GAUSS))
  for (const [z, resolution] of GAUSS.resolutions.entries()) {
    const span = resolution * GAUSS.tile_size
    const column = (x: number) => Math.floor((x - left) / span)
    const row = (y: number) => Math.floor((top - y) / span)
    const [x0, x1, y0, y1] = [column(0), column(1_000_000), row(4_900_000), row(3_700_000)]
    const extent = [left + x0 * span, top - (y1 + 1) * span, left + (x1 + 1) * span, top - y0 * span].map(String)
    const [warped, picture] = [join(home, `gauss-${z}.tif`), join(home, `gauss-${z}.png`)]
    const size = ['-tr', resolution, resolution].map(String)
    await execute('gdalwarp', ['-q', '-t_srs', GAUSS.crs, '-te', ...extent, ...size, join(home, 'world.tif'), warped])
    await execute('gdal_translate', ['-q', '-of', 'PNG', warped, picture])
    for (let x = x0; x <= x1; x++) {
      await mkdir(join(root, String(z), String(x)), { recursive: true })
      for (let y = y0; y <= y1; y++) {
        const part = { left: (x - x0) * 256, top: (y - y0) * 256, width: 256, height: 256 }
        await sharp(picture)
          .extract(part)
          .png()
          .toFile(join(root, `${z}/${x}/${y}.png`))
      }
    }
  }
}

/** A style that fills the squares of `streets` with the cities' colours, under each code. A basemap with the same code hides the pictures. */
export async function makeStyle({ home, admin }: Gateway, ...more: readonly string[]): Promise<string> {
  const root = join(home, 'styles')
  const layers = Object.entries(CITIES).map(([name, { colour }]) => ({
    id: name,
    type: 'fill',
    source: 'streets',
    'source-layer': 'cities',
    filter: ['==', ['get', 'name'], name],
    paint: { 'fill-antialias': false, 'fill-color': `rgb(${colour})` },
  }))
  const sources = { streets: { type: 'vector', url: 'gateway://basemaps/streets' } }
  const style = { version: 8, glyphs: 'gateway://fonts', sources, layers }
  for (const code of ['streets', ...more]) {
    await mkdir(join(root, code), { recursive: true })
    await writeFile(join(root, code, 'style.json'), JSON.stringify(style))
  }
  await admin.scanSource('styles', 'style', root)
  return 'streets'
}

/** Squares of the cities' sizes, with their names, as GeoJSON. */
function citySquares(): string {
  const features = Object.entries(CITIES).map(([name, { lon, lat }]) => {
    const [w, s, e, n] = [lon - RADIUS_DEGREES, lat - RADIUS_DEGREES, lon + RADIUS_DEGREES, lat + RADIUS_DEGREES]
    const coordinates = [[w, s], [e, s], [e, n], [w, n], [w, s]] // biome-ignore format: a ring
    return { type: 'Feature', properties: { name }, geometry: { type: 'Polygon', coordinates: [coordinates] } }
  })
  return JSON.stringify({ type: 'FeatureCollection', features })
}

/** Catalogues the squares as the vector `cities`, and waits for its tiles. */
export async function makeCityVector(gateway: Gateway): Promise<void> {
  const folder = join(gateway.home, 'city-vectors')
  await mkdir(folder)
  await writeFile(join(folder, 'cities.geojson'), citySquares())
  await gateway.admin.scanSource('city-vectors', 'vector', folder)
  await tilesBuilt(gateway, 'cities')
}

async function makeCityTiles(home: string, path: string): Promise<void> {
  const source = join(home, 'cities.geojson')
  await writeFile(source, citySquares())
  const options = ['-dsco', 'MINZOOM=0', '-dsco', 'MAXZOOM=2']
  await execute('ogr2ogr', ['-f', 'MBTILES', path, source, '-nln', 'cities', ...options])
}

/** Yields the tiles of a gdal2tiles folder with rows counted from the north. */
async function* tilesOf(folder: string) {
  for (const z of [0, 1, 2]) {
    for (const x of await readdir(join(folder, String(z)))) {
      for (const file of await readdir(join(folder, String(z), x))) {
        const data = await readFile(join(folder, String(z), x, file))
        yield { z, x: Number(x), y: 2 ** z - 1 - Number.parseInt(file, 10), data }
      }
    }
  }
}

/** Writes an elevation model of `HILL` as Float32 heights, by GDAL. */
export async function makeHill(home: string): Promise<string> {
  const [text, model] = [join(home, 'hill.asc'), join(home, 'hill.tif')]
  const size = 160
  const rows = Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => heightAt(x, y, size)))
  const header = `ncols ${size}\nnrows ${size}\nxllcorner 0\nyllcorner 35\ncellsize ${20 / size}\n`
  await writeFile(text, header + rows.map((row) => row.join(' ')).join('\n'))
  await execute('gdal_translate', ['-q', '-ot', 'Float32', '-a_srs', 'EPSG:4326', text, model])
  return model
}

/** Returns the height at a pixel of the model: 20 degrees a side, from 0 to 20 east and 35 to 55 north. */
function heightAt(x: number, y: number, size: number): string {
  const [lon, lat] = [((x + 0.5) / size) * 20, 55 - ((y + 0.5) / size) * 20]
  const distance = Math.hypot(lon - HILL.lon, lat - HILL.lat) / HILL.degrees
  return (PLAIN + Math.max(0, 1 - distance) * HILL.height).toFixed(3)
}

/** Submits a job and returns its id. */
export async function submit({ url }: Gateway, body: Record<string, unknown>, slicer: string): Promise<string> {
  const headers = { 'Content-Type': 'application/json', 'X-Access-Token': slicer }
  const answer = await fetch(`${url}/api/v1/slice/jobs`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(answer.status).toBe(202)
  return ((await answer.json()) as SliceJob).id
}

/** Waits until a job has succeeded and every edge process serves its result. */
export async function succeeded(gateway: Gateway, id: string, slicer: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${gateway.url}/api/v1/slice/jobs/${id}`, { headers: { 'X-Access-Token': slicer } })
    const { status, message } = (await answer.json()) as SliceJob
    if (status === 'succeeded') return gateway.caughtUp()
    if (status === 'failed') throw new Error(message)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Returns the colours of a picture at the positions that a client reports for the cities. */
export async function coloursAt(picture: Buffer, places: Readonly<Record<string, readonly [number, number]>>) {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return Object.fromEntries(
    Object.entries(places).map(([city, [x, y]]) => {
      const at = (Math.round(y) * info.width + Math.round(x)) * info.channels
      return [city, [...data.subarray(at, at + 3)]]
    }),
  )
}

/** Result of `coloursAt` if every city is in place. */
export const IN_PLACE = Object.fromEntries(
  Object.entries(CITIES).map(([city, { colour }]) => [city, colour.map((value) => expect.closeTo(value, -1.2))]),
)
