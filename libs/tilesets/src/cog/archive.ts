import {
  directoryOf,
  INDEX_BYTES,
  MAX_RECORD_LENGTH,
  MAX_RECORD_OFFSET,
  madeDirectories,
  NO_TILES,
  rootOfBlocks,
} from '../esri/bundle-directory.js'
import { BUNDLE_SIDE } from '../esri/cache.js'
import type { Directory } from '../pmtiles/directory.js'
import { MAX_PMTILES_ZOOM } from '../pmtiles/layout.js'
import type { ArchiveOfRanges } from '../ranges/source.js'
import type { TilePlace } from '../source.js'
import { type Cog, SOI } from './pyramid.js'
import { numbersFrom, type Reads } from './tiff.js'

const RECORD_BYTES = 8
/** Limit: blocks of a COG, as many as the bundles of a package. */
const MAX_BLOCKS = 100_000

/** A COG as an archive whose leaves are blocks of 128 by 128 tiles, as in a bundle. null: PMTiles cannot number the tiles, or they have different tables. */
export function archiveOfCog(cog: Cog): ArchiveOfRanges | null {
  const zooms = [...cog.zooms.keys()].sort((a, b) => a - b)
  const [minZoom, maxZoom] = [zooms[0] as number, zooms.at(-1) as number]
  const heads = [...cog.zooms.values()].map(({ head }) => Buffer.from(head ?? []))
  const [head = Buffer.alloc(0)] = heads
  if (cog.grid !== 'WebMercatorQuad' || maxZoom > MAX_PMTILES_ZOOM || heads.some((one) => !one.equals(head)))
    return null
  const blocks = blocksOf(cog)
  if (blocks === null) return null
  return {
    minZoom,
    maxZoom,
    ...rootOfBlocks(blocks),
    ...(head.length > 0 && { head }),
    *leaf({ z, x, y }, identity) {
      const block = { z, x: x - (x % BUNDLE_SIDE), y: y - (y % BUNDLE_SIDE) }
      const key = `${identity} ${z}/${block.x}/${block.y}`
      const known = madeDirectories.get(key)
      if (known !== undefined) return known
      const made = yield* leafOf(cog, block)
      madeDirectories.set(key, made)
      return made
    },
  }
}

function blocksOf({ zooms }: Cog): TilePlace[] | null {
  const blocks: TilePlace[] = []
  for (const [z, { column, row, columns, rows }] of zooms) {
    const side = 2 ** z
    for (let y = row - (row % BUNDLE_SIDE); y < Math.min(row + rows, side); y += BUNDLE_SIDE) {
      for (let x = column - (column % BUNDLE_SIDE); x < Math.min(column + columns, side); x += BUNDLE_SIDE) {
        if (blocks.length >= MAX_BLOCKS) return null
        blocks.push({ z, x, y })
      }
    }
  }
  return blocks
}

/** Reads a block's part of the tables of offsets and sizes. Empty if a tile has an impossible position, which a request for that tile reports. */
function* leafOf({ path, isLittle, size, zooms }: Cog, block: TilePlace): Reads<Directory> {
  const zoom = zooms.get(block.z)
  if (zoom === undefined) return NO_TILES
  const { column, row, columns, rows, offsets, sizes, head } = zoom
  const skipped = head === null ? 0 : SOI.length
  const [left, top] = [Math.max(block.x, column), Math.max(block.y, row)]
  const side = 2 ** block.z
  const right = Math.min(block.x + BUNDLE_SIDE, column + columns, side)
  const bottom = Math.min(block.y + BUNDLE_SIDE, row + rows, side)
  const records = Buffer.alloc(INDEX_BYTES)
  for (let y = top; y < bottom; y++) {
    const part = { index: (y - row) * columns + (left - column), count: right - left }
    const lengthsOfRow = yield* numbersFrom(path, sizes, part, isLittle)
    const offsetsOfRow = yield* numbersFrom(path, offsets, part, isLittle)
    for (const [i, stored] of lengthsOfRow.entries()) {
      if (stored === 0) continue
      const [offset, length] = [(offsetsOfRow[i] as number) + skipped, stored - skipped]
      const isRight = length > 0 && length < MAX_RECORD_LENGTH && offset < MAX_RECORD_OFFSET && offset + length <= size
      if (!isRight) return NO_TILES
      const record = ((y % BUNDLE_SIDE) * BUNDLE_SIDE + ((left + i) % BUNDLE_SIDE)) * RECORD_BYTES
      records.writeUIntLE(offset, record, 5)
      records.writeUIntLE(length, record + 5, 3)
    }
  }
  return directoryOf(block, records, (offset) => offset)
}
