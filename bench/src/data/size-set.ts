import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { Bodies } from './bodies.js'
import { seededRandom } from './random.js'
import type { Address } from './traffic.js'

/** Version of the data. Increment it with every change. */
const VERSION = 1
const SEED = 20_261_123
const KB = 1024
/** Sizes of hot bodies, in KB. */
export const SIZES = [1, 2, 4, 8, 12, 16, 24, 32, 40, 64, 128, 160, 256, 512, 1024, 4096] as const
/** Limits per size: total bytes, and a number of tiles such that nginx can keep those of all sizes open. */
const MOST_BYTES = 32 * KB * KB
const MOST_TILES = 1_000
const ZOOM = 6
const BOUNDS = [-180, -85, 180, 85] as never

export const sizeDirectory = (): string => join(tmpdir(), `gateway-bench-sizes-${VERSION}`, 'basemaps')

export function tilesOfSize(kilobytes: number): Address[] {
  const count = Math.min(MOST_TILES, MOST_BYTES / (kilobytes * KB))
  return Array.from({ length: Math.floor(count) }, (_, i) => ({ z: ZOOM, x: i % 2 ** ZOOM, y: i >> ZOOM }))
}

/** Returns the source directory of a gateway: for each size `size{n}k`, a folder, and `sizepm{n}k`, the same tiles in an archive. Created once: about 900 MB. */
export async function sizeSet(): Promise<string> {
  const basemaps = sizeDirectory()
  if (existsSync(basemaps)) return basemaps
  process.stderr.write(`Making the data in ${basemaps}, once ...\n`)
  const unfinished = `${basemaps}-${process.pid}`
  const bodies = new Bodies(seededRandom(SEED))
  for (const size of SIZES) {
    const tiles = tilesOfSize(size).map((address) => ({ ...address, data: bodies.body(size * KB) }))
    for (const { z, x, y, data } of tiles) {
      const file = join(unfinished, `size${size}k/v1/${z}/${x}/${y}.png`)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, data)
    }
    await mkdir(join(unfinished, `sizepm${size}k`))
    await writePmtiles(join(unfinished, `sizepm${size}k/v1.pmtiles`), tiles, {
      format: 'png',
      encoding: 'identity',
      bounds: BOUNDS,
      metadata: { name: `${size} KB` },
    })
  }
  await rm(basemaps, { recursive: true, force: true })
  await rename(unfinished, basemaps)
  return basemaps
}
