import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { Bodies } from './bodies.js'
import { below, type Random, seededRandom } from './random.js'
import { type Address, mapAddresses, type Weighted } from './traffic.js'

/** Version of the data. Increment it with every change: data of another version is created again. */
const VERSION = 2
const SEED = 20_260_101
const TILES = 4_000
const COLD_TILES = 20_000
/** Number of files in the basemap `many`: more than fit into the edge's memory, and than nginx keeps open. */
const MANY_TILES = 40_000
/** A basemap for each size, in which all tiles have that size. */
export const LARGE_BODIES = { '128k': 128 * 1024, '160k': 160 * 1024, '256k': 256 * 1024, '1m': 1024 * 1024 } as const
const LARGE_TILES = 60
const LARGE_ZOOM = 3
const COLD_ZOOM = 14
const MANY_ZOOM = 10
const MEDIUM_DOWNLOAD_BYTES = 4 * 1024 * 1024
export const LARGE_DOWNLOAD_BYTES = 200 * 1000 * 1000
const WORLD = [-180, -85, 180, 85] as const

/** All data of a measurement, in one directory that is kept for later runs. */
export interface DataSet {
  readonly dir: string
  /** the source directories of a gateway, and the document root of a file server */
  readonly basemaps: string
  readonly vectors: string
  /** the tiles of the basemaps `mix`, `mixmb` and `mixpm`: folders, MBTiles and PMTiles of the same tiles, version `v1` */
  readonly tiles: readonly Weighted[]
  readonly meanTileBytes: number
  /** the one of `tiles` whose size is nearest to the mean */
  readonly hotTile: Address & { readonly bytes: number }
  /** the tiles of `cold`, a PMTiles archive */
  readonly coldTiles: readonly Address[]
  /** the tiles of `many`, a folder */
  readonly manyTiles: readonly Address[]
  /** the tiles of each basemap of LARGE_BODIES */
  readonly largeTiles: readonly Address[]
}

type Made = Pick<DataSet, 'meanTileBytes' | 'hotTile'>

/** Creates the data unless it exists, the same on every machine: about 1.7 GB in the system's temporary directory. */
export async function dataSet(): Promise<DataSet> {
  const dir = join(tmpdir(), `gateway-bench-data-${VERSION}`)
  if (!existsSync(join(dir, 'complete.json'))) {
    process.stderr.write(`Making the data in ${dir}, once ...\n`)
    await make(dir)
  }
  const made = JSON.parse(readFileSync(join(dir, 'complete.json'), 'utf8')) as Made
  return {
    ...made,
    dir,
    basemaps: join(dir, 'basemaps'),
    vectors: join(dir, 'vectors'),
    tiles: mapAddresses(TILES),
    coldTiles: grid(COLD_ZOOM, COLD_TILES),
    manyTiles: grid(MANY_ZOOM, MANY_TILES),
    largeTiles: grid(LARGE_ZOOM, LARGE_TILES),
  }
}

async function make(dir: string): Promise<void> {
  const unfinished = `${dir}-${process.pid}`
  const random = seededRandom(SEED)
  const bodies = new Bodies(random)
  const basemaps = join(unfinished, 'basemaps')
  const made = await makeMix(basemaps, bodies)
  for (const [name, size] of Object.entries(LARGE_BODIES)) {
    for (const address of grid(LARGE_ZOOM, LARGE_TILES)) {
      await writeTile(join(basemaps, `b${name}`), address, bodies.body(size))
    }
  }
  for (const address of grid(MANY_ZOOM, MANY_TILES)) {
    await writeTile(join(basemaps, 'many'), address, bodies.body(bodies.tileSize()))
  }
  await mkdir(join(basemaps, 'cold'))
  await writePmtiles(
    join(basemaps, 'cold/v1.pmtiles'),
    grid(COLD_ZOOM, COLD_TILES).map((address) => ({ ...address, data: bodies.body(bodies.tileSize()) })),
    { format: 'png', encoding: 'identity', bounds: WORLD as never, metadata: { name: 'cold' } },
  )
  await mkdir(join(unfinished, 'vectors'))
  await writeGeojson(join(unfinished, 'vectors/medium.geojson'), MEDIUM_DOWNLOAD_BYTES, random)
  await writeGeojson(join(unfinished, 'vectors/large.geojson'), LARGE_DOWNLOAD_BYTES, random)
  await writeFile(join(unfinished, 'complete.json'), JSON.stringify(made))
  await rm(dir, { recursive: true, force: true })
  await rename(unfinished, dir)
}

/** Writes the same tiles as files, as MBTiles and as PMTiles. */
async function makeMix(basemaps: string, bodies: Bodies): Promise<Made> {
  const tiles = mapAddresses(TILES).map(({ z, x, y }) => ({ z, x, y, data: bodies.body(bodies.tileSize()) }))
  for (const { data, ...address } of tiles) await writeTile(join(basemaps, 'mix'), address, data)
  for (const name of ['mixmb', 'mixpm']) await mkdir(join(basemaps, name))
  const bounds = WORLD as never
  await writeMbtiles(join(basemaps, 'mixmb/v1.mbtiles'), tiles, { name: 'mix', format: 'png', bounds, metadata: {} })
  const description = { format: 'png', encoding: 'identity', bounds, metadata: { name: 'mix' } } as const
  await writePmtiles(join(basemaps, 'mixpm/v1.pmtiles'), tiles, description)
  const meanTileBytes = Math.round(tiles.reduce((sum, tile) => sum + tile.data.length, 0) / tiles.length)
  const distance = (tile: { data: Buffer }): number => Math.abs(tile.data.length - meanTileBytes)
  const { data, ...address } = tiles.reduce((best, tile) => (distance(tile) < distance(best) ? tile : best))
  return { meanTileBytes, hotTile: { ...address, bytes: data.length } }
}

async function writeTile(basemap: string, { z, x, y }: Address, data: Buffer): Promise<void> {
  const file = join(basemap, `v1/${z}/${x}/${y}.png`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, data)
}

/** Writes a valid collection of points with exactly this many bytes. */
async function writeGeojson(file: string, bytes: number, random: Random): Promise<void> {
  const start = '{"type":"FeatureCollection","features":[\n'
  const end = '\n]}\n'
  const feature = (): string => {
    const at = `[${(random() * 360 - 180).toFixed(5)},${(random() * 170 - 85).toFixed(5)}]`
    return `{"type":"Feature","properties":{"n":${below(random, 1e6)}},"geometry":{"type":"Point","coordinates":${at}}}`
  }
  const some = Array.from({ length: 1_000 }, feature)
  const block = `${some.join(',\n')},\n`
  const last = some[0] as string
  const parts = [start]
  let left = bytes - start.length - end.length - last.length
  for (; left >= block.length; left -= block.length) parts.push(block)
  // White space is allowed between any two features.
  parts.push(' '.repeat(left), last, end)
  await writeFile(file, parts.join(''))
}

function grid(z: number, count: number): Address[] {
  return Array.from({ length: count }, (_, i) => ({ z, x: i % 2 ** z, y: Math.floor(i / 2 ** z) }))
}
