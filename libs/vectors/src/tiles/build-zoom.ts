import fs from 'node:fs'
import { join } from 'node:path'
import { FEATURE_FILE } from './feature-file.js'
import { TilePacker } from './pack-tile.js'
import type { Survey } from './survey.js'
import type { TileRecords } from './tile-records.js'
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

/** Bytes before each run of equal tiles in the file of a zoom. */
export const HEAD_BYTES = 16

/** Maximum number of words of a tile whose records are compared with those of the previous tile. */
const COMPARED_WORDS = 512

/**
 * Path of the file with a zoom's tiles, in the order of their ids: for each run of equal tiles the first id (double), the length of a tile, the number of
 * tiles (32 bits each) and the tile.
 */
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
    let run = null as Run | null
    const end = () => {
      if (run === null) return
      const head = Buffer.allocUnsafe(HEAD_BYTES)
      head.writeDoubleLE(run.first)
      head.writeUInt32LE(run.data.length, 8)
      head.writeUInt32LE(run.length, 12)
      gathered.push(head, run.data)
      bytes += HEAD_BYTES + run.data.length
      if (bytes >= GATHERED_BYTES) flush()
    }
    for (const tile of sorter.tiles()) {
      onStep()
      const records = recordsOf(tile)
      if (run !== null && records !== null && run.records?.equals(records) === true) {
        if (tile.tileId !== run.first + run.length) {
          end()
          run = { ...run, first: tile.tileId, length: 0 }
        }
        run.length++
        continue
      }
      const packed = packer.pack(tile)
      if (packed === null) continue
      for (const at of packed.offsets) shown[tile.words[at + 1] as number] = 1
      end()
      run = { first: tile.tileId, length: 1, data: packed.data, records: records && Buffer.from(records) }
    }
    end()
    flush()
  } finally {
    fs.closeSync(fd)
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  return known.count - shown.reduce((sum, one) => sum + one, 0)
}

/** Tiles with consecutive ids and equal content. */
interface Run {
  readonly first: number
  length: number
  readonly data: Buffer
  /** the records of each; null: too many to be compared */
  readonly records: Buffer | null
}

/** Returns the bytes of a tile's records; null if they are many. Inside of a large polygon neighbours have equal ones. */
function recordsOf({ words, offsets }: TileRecords): Buffer | null {
  let size = 0
  for (const at of offsets) size += words[at] as number
  if (size > COMPARED_WORDS) return null
  const parts = offsets.map((at) => Buffer.from(words.buffer, words.byteOffset + 4 * at, 4 * (words[at] as number)))
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

export function packerOf({ layers, fields }: ZoomsTask): TilePacker {
  return new TilePacker(layers, fields)
}
