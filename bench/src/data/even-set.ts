import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { Bodies } from './bodies.js'
import type { DataSet } from './data-set.js'
import { seededRandom } from './random.js'
import type { Address } from './traffic.js'

/** Version of the data. Increment it with every change. */
const VERSION = 1
const SEED = 20_261_122
const VECTOR_TILES = 9_000
const VECTOR_ZOOM = 10
const BOUNDS = [-180, -85, 180, 85] as never

/** Data for even access, in addition to the folder `many` of the common data: its tiles as archives, and gzipped vector tiles. */
export interface EvenSet {
  /** source directory of a gateway: `evenmb` and `evenpm` are `many` as archives; `vt`, `vtmb` and `vtpm` are the same vector tiles */
  readonly basemaps: string
  readonly vectorTiles: readonly Address[]
}

export const evenDirectory = (): string => join(tmpdir(), `gateway-bench-even-${VERSION}`, 'basemaps')

/** Creates the data unless it exists: about 1.7 GB. */
export async function evenSet(data: DataSet): Promise<EvenSet> {
  const basemaps = evenDirectory()
  const vectorTiles = data.manyTiles.slice(0, VECTOR_TILES).map(({ x, y }) => ({ z: VECTOR_ZOOM, x, y }))
  if (!existsSync(basemaps)) {
    process.stderr.write(`Making the data in ${basemaps}, once ...\n`)
    await make(data, basemaps, vectorTiles)
  }
  return { basemaps, vectorTiles }
}

async function make(data: DataSet, basemaps: string, vectorTiles: readonly Address[]): Promise<void> {
  const unfinished = `${basemaps}-${process.pid}`
  for (const name of ['evenmb', 'evenpm', 'vtmb', 'vtpm']) await mkdir(join(unfinished, name), { recursive: true })
  const inTurn = async function* () {
    for (const { z, x, y } of data.manyTiles) {
      yield { z, x, y, data: await readFile(join(data.basemaps, `many/v1/${z}/${x}/${y}.png`)) }
    }
  }
  const raster = { format: 'png', encoding: 'identity', bounds: BOUNDS, metadata: { name: 'even' } } as const
  await writeMbtiles(join(unfinished, 'evenmb/v1.mbtiles'), inTurn(), { name: 'even', ...raster, metadata: {} })
  await writePmtiles(join(unfinished, 'evenpm/v1.pmtiles'), inTurn(), raster)
  const bodies = new Bodies(seededRandom(SEED))
  const vectors = vectorTiles.map((address) => ({
    ...address,
    data: gzipSync(bodies.body(bodies.tileSize()), { level: 1 }),
  }))
  const pbf = { format: 'pbf', bounds: BOUNDS } as const
  const layers = { vector_layers: [] }
  const rows = { json: JSON.stringify(layers) }
  await writeMbtiles(join(unfinished, 'vtmb/v1.mbtiles'), vectors, { name: 'vt', ...pbf, metadata: rows })
  await writePmtiles(join(unfinished, 'vtpm/v1.pmtiles'), vectors, { ...pbf, encoding: 'gzip', metadata: layers })
  for (const { z, x, y, data: bytes } of vectors) {
    const file = join(unfinished, `vt/v1/${z}/${x}/${y}.pbf`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
  }
  await rm(basemaps, { recursive: true, force: true })
  await rename(unfinished, basemaps)
}
