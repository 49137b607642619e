import fs from 'node:fs'
import { join } from 'node:path'
import { FEATURE_FILE } from './feature-file.js'
import { TilePacker } from './pack-tile.js'
import type { Survey } from './survey.js'
import { TileSorter } from './tile-sorter.js'
import { ZoomPass } from './zoom-pass.js'

/** The input for the tiles of all zooms; threads share it. */
export interface ZoomsTask {
  readonly folder: string
  readonly layers: readonly string[]
  readonly fields: readonly string[]
  readonly known: Survey
  readonly maxZoom: number
  /** maximum number of 32-bit words of records in memory */
  readonly maxWords: number
}

/** Number of bytes written at a time. */
const GATHERED_BYTES = 1024 * 1024

/** Bytes before each tile in the file of a zoom. */
export const HEAD_BYTES = 12

/** Path of the file with a zoom's tiles: for each its id (double), its length (32 bits) and the tile, in the order of their ids. */
export function zoomFile(folder: string, zoom: number): string {
  return join(folder, `.zoom-${zoom}`)
}

/** Writes the tiles of a zoom; returns the number of features that occur in none of them. */
export function buildZoom(task: ZoomsTask, packer: TilePacker, zoom: number, onStep: () => void): number {
  const { folder, known, maxZoom, maxWords } = task
  const scratch = join(folder, `.sort-${zoom}`)
  fs.mkdirSync(scratch)
  const fd = fs.openSync(zoomFile(folder, zoom), 'wx')
  const shown = new Uint8Array(known.last + 1)
  let gathered: Uint8Array[] = []
  let bytes = 0
  const flush = () => {
    const whole = Buffer.concat(gathered)
    for (let done = 0; done < whole.length; ) done += fs.writeSync(fd, whole, done)
    gathered = []
    bytes = 0
  }
  try {
    const sorter = new TileSorter(scratch, maxWords)
    new ZoomPass(known, sorter, zoom, zoom === maxZoom).run(join(folder, FEATURE_FILE), onStep)
    for (const tile of sorter.tiles()) {
      const packed = packer.pack(tile)
      if (packed === null) continue
      for (const at of packed.offsets) shown[tile.words[at + 1] as number] = 1
      const head = Buffer.allocUnsafe(HEAD_BYTES)
      head.writeDoubleLE(tile.tileId)
      head.writeUInt32LE(packed.data.length, 8)
      gathered.push(head, packed.data)
      bytes += HEAD_BYTES + packed.data.length
      if (bytes >= GATHERED_BYTES) flush()
      onStep()
    }
    flush()
  } finally {
    fs.closeSync(fd)
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  return known.count - shown.reduce((sum, one) => sum + one, 0)
}

export function packerOf({ layers, fields }: ZoomsTask): TilePacker {
  return new TilePacker(layers, fields)
}
