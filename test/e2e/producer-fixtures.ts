import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'

export const execute = promisify(execFile)

/** Returns a colour that encodes the place: red grows to the east, green to the south, in degrees of longitude and latitude. */
export function colourAt(longitude: number, latitude: number): readonly [number, number, number] {
  return [((longitude + 180) / 360) * 250, ((90 - latitude) / 180) * 250, 80]
}

/** Makes a georeferenced picture of the whole world in which each place has the colour of `colourAt`. */
export async function worldImage(folder: string): Promise<string> {
  const [width, height] = [1440, 720]
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = colourAt(((x + 0.5) / width) * 360 - 180, 90 - ((y + 0.5) / height) * 180)
      pixels.set(colour.map(Math.round), (y * width + x) * 3)
    }
  }
  const png = join(folder, 'world.png')
  await sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toFile(png)
  const tif = join(folder, 'world.tif')
  const place = ['-a_srs', 'EPSG:4326', '-a_ullr', '-180', '90', '180', '-90']
  await execute('gdal_translate', ['-q', ...place, png, tif])
  return tif
}

export async function gdal2tiles(image: string, folder: string, options: readonly string[]): Promise<void> {
  await execute('gdal2tiles.py', ['-q', '-z', '0-3', '-r', 'near', ...options, image, folder])
}

/** Flips the rows of a folder, as in QGIS ("Generate XYZ tiles (Directory)", inverted) and MapProxy's caches of a grid with origin sw. */
export async function flipRows(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true })
  for (const z of (await readdir(to)).filter((name) => /^\d+$/.test(name))) {
    for (const x of await readdir(join(to, z))) {
      const column = join(to, z, x)
      await rename(column, `${column}.old`)
      await mkdir(column)
      for (const name of await readdir(`${column}.old`)) {
        const row = 2 ** Number(z) - 1 - Number.parseInt(name, 10)
        await rename(join(`${column}.old`, name), join(column, `${row}.${name.split('.')[1]}`))
      }
      await rm(`${column}.old`, { recursive: true })
    }
  }
}

/** The page that QGIS 3.34 writes on request (qgsalgorithmxyztiles.cpp), limited to its statements about the tiles. */
export function qgisPage(folder: string, tms: boolean): string {
  const options = `{minZoom: 0, maxZoom: 3, tms: ${tms}, attribution: 'Created by QGIS'}`
  return `<!DOCTYPE html><html><head><title>Leaflet preview</title></head><body><div id="map"></div><script>var map = L.map('map', {attributionControl: false}).setView([0, 0], 1);L.control.attribution({prefix: false}).addTo(map);var osm_layer = L.tileLayer('https://tile.openstreetmap.org/{z}/{x}/{y}.png', {minZoom: 0, maxZoom: 3, attribution: '&copy;'}).addTo(map);var tilesource_layer = L.tileLayer('file:///${folder}/{z}/{x}/{y}.png', ${options}).addTo(map);</script></body></html>`
}

/** True if this machine has MapProxy (Debian: python3-mapproxy). */
export async function hasMapProxy(): Promise<boolean> {
  return execute('/usr/bin/python3', ['-c', 'import mapproxy.seed.script']).then(
    () => true,
    () => false,
  )
}

/** A cache of MapProxy: its directory, and one of its two Web Mercator grids. */
export interface MapProxyCache {
  readonly cache: string
  readonly grid: 'GLOBAL_MERCATOR' | 'GLOBAL_WEBMERCATOR' | 'GLOBAL_GEODETIC'
}

/** Makes MapProxy fill one cache from an XYZ URL. */
export async function seedMapProxy(folder: string, address: string, { cache, grid }: MapProxyCache): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'mapproxy.yaml'),
    `services: {demo: }
sources: {tiles: {type: tile, grid: GLOBAL_WEBMERCATOR, url: '${address}'}}
caches: {out: {sources: [tiles], grids: [${grid}], format: image/png, cache: ${cache}}}
globals: {cache: {base_dir: '${folder}/cache', lock_dir: '${folder}/locks', meta_size: [1, 1], meta_buffer: 0}}
layers: [{name: out, title: out, sources: [out]}]
`,
  )
  await writeFile(
    join(folder, 'seed.yaml'),
    `seeds: {all: {caches: [out], grids: [${grid}], levels: {from: 0, to: 3}, refresh_before: {minutes: 0}}}\n`,
  )
  const call = 'import sys; from mapproxy.seed.script import main; sys.argv = ["seed"] + sys.argv[1:]; main()'
  const files = ['-f', join(folder, 'mapproxy.yaml'), '-s', join(folder, 'seed.yaml')]
  await execute('/usr/bin/python3', ['-c', call, '-q', '-c', '1', ...files, '--seed', 'ALL'], { cwd: folder })
}

/** Makes a GeoJSON file with one square for each place, named `place0`, `place1` ... */
export async function places(folder: string, points: readonly (readonly [number, number])[]): Promise<string> {
  const square = ([x, y]: readonly [number, number]) => [
    [
      [x - 1, y - 1],
      [x + 1, y - 1],
      [x + 1, y + 1],
      [x - 1, y + 1],
      [x - 1, y - 1],
    ],
  ]
  const features = points.map((point, i) => ({
    type: 'Feature',
    properties: { name: `place${i}` },
    geometry: { type: 'Polygon', coordinates: square(point) },
  }))
  const file = join(folder, 'places.geojson')
  await writeFile(file, JSON.stringify({ type: 'FeatureCollection', features }))
  return file
}
