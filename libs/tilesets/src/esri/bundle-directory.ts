import { LRUCache } from 'lru-cache'
import { zxyToTileId } from 'pmtiles'
import { type Directory, directoryBytes } from '../pmtiles/directory.js'
import type { ArchiveOfRanges } from '../ranges/source.js'
import type { TilePlace } from '../source.js'
import { BUNDLE_SIDE } from './cache.js'

/** Tiles of a bundle, and the zoom from which on it is a block of the curve by which PMTiles numbers tiles: 128 is 2^7. */
const TILES = BUNDLE_SIDE * BUNDLE_SIDE
const BLOCK_ZOOM = Math.log2(BUNDLE_SIDE)
const RECORD_BYTES = 8

/** Tiles of the zooms above: PMTiles 3, 4.1. */
const tilesAbove = (zoom: number) => (4 ** zoom - 1) / 3

/** The index of a bundle in bytes: a record of eight for each tile, five of offset and three of size. */
export const INDEX_BYTES = TILES * RECORD_BYTES
/** Beyond what a record can hold. */
export const MAX_RECORD_OFFSET = 2 ** 40
export const MAX_RECORD_LENGTH = 2 ** 24

export const NO_TILES: Directory = {
  tileIds: new Float64Array(),
  runLengths: new Float64Array(),
  offsets: new Float64Array(),
  lengths: new Uint32Array(),
}

/** Limit: bytes of the directories that were made of archives of ranges, of all in this process; those used last stay. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Made directories by the identity of their file and a name in it. */
export const madeDirectories = new LRUCache<string, Directory>({
  maxSize: MAX_DIRECTORY_BYTES,
  sizeCalculation: (directory) => Math.max(1, directoryBytes(directory)),
})

/**
 * Returns a root directory with one leaf for each block of tiles. `blocks` has one tile of each block. The tiles of a block have consecutive numbers,
 * so a look-up finds the block by the number of its first tile. A leaf has no real offset: its offset is the position of the block in `blocks` plus one.
 */
export function rootOfBlocks(blocks: readonly TilePlace[]): Pick<ArchiveOfRanges, 'root' | 'leafOf'> {
  // The names of bundles may differ by their case only.
  const tileIds = Float64Array.from(new Set(blocks.map(firstOfBundle))).sort()
  const { length } = tileIds
  const root = {
    tileIds,
    runLengths: new Float64Array(length),
    offsets: Float64Array.from({ length }, (_, i) => i + 1),
    lengths: new Uint32Array(length).fill(1),
  }
  return { root, leafOf: (place) => indexOf(tileIds, firstOfBundle(place)) + 1 }
}

/** Returns -1 if the number is not in the list. */
function indexOf(sorted: Float64Array, wanted: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < wanted) low = middle + 1
    else high = middle
  }
  return sorted[low] === wanted ? low : -1
}

/** Returns the number of the first tile of a tile's bundle; the other tiles of the bundle follow it. */
export function firstOfBundle({ z, x, y }: TilePlace): number {
  const above = tilesAbove(z)
  return z < BLOCK_ZOOM ? above : above + Math.floor((zxyToTileId(z, x, y) - above) / TILES) * TILES
}

/** The ways in which the curve may run through a block: its columns and rows swapped or not, and each counted from either end. */
const TURNS = Array.from({ length: 8 }, (_, i) => {
  const last = BUNDLE_SIDE - 1
  const [isSwapped, fromEast, fromSouth] = [(i & 1) === 1, (i & 2) === 2, (i & 4) === 4]
  return (x: number, y: number): readonly [number, number] => {
    const [u, v] = [fromEast ? last - x : x, fromSouth ? last - y : y]
    return isSwapped ? [v, u] : [u, v]
  }
})
/** Tiles that distinguish the rotations from one another. */
const PROBES = [
  [0, 0],
  [1, 0],
  [0, 1],
  [BUNDLE_SIDE - 1, 0],
] as const

let blockOrder: Uint16Array | null = null

/** The number of a tile along the curve of its zoom, which is at most BLOCK_ZOOM: faster than for any zoom, since a process waits for it. */
function alongCurve(zoom: number, column: number, row: number): number {
  let x = column
  let y = row
  let number = 0
  for (let side = (1 << zoom) >> 1; side > 0; side >>= 1) {
    const isEast = (x & side) !== 0
    const isSouth = (y & side) !== 0
    number += side * side * (isEast ? (isSouth ? 2 : 3) : isSouth ? 1 : 0)
    if (isSouth) continue
    const before = x
    x = isEast ? side - 1 - (y & (side - 1)) : y
    y = isEast ? side - 1 - (before & (side - 1)) : before
  }
  return number
}

/** How the tiles of zoom 7, row by row, come along the curve. */
function orderOfBlock(): Uint16Array {
  blockOrder ??= Uint16Array.from({ length: TILES }, (_, i) => {
    return alongCurve(BLOCK_ZOOM, i % BUNDLE_SIDE, Math.floor(i / BUNDLE_SIDE))
  })
  return blockOrder
}

/** The records of a bundle as a directory of PMTiles: its tiles in the order of their numbers, as sections of the file. */
export function directoryOf(
  { z, x, y }: TilePlace,
  records: Buffer,
  place: (offset: number, length: number) => number,
): Directory {
  const first = firstOfBundle({ z, x, y })
  const [left, top] = [x - (x % BUNDLE_SIDE), y - (y % BUNDLE_SIDE)]
  const numberOf = numbering({ z, x: left, y: top }, first)
  const recordOf = new Int32Array(TILES).fill(-1)
  let count = 0
  for (let i = 0; i < TILES; i++) {
    if (records.readUIntLE(i * RECORD_BYTES + 5, 3) === 0) continue
    const number = numberOf(i % BUNDLE_SIDE, Math.floor(i / BUNDLE_SIDE))
    if (number < 0) continue
    recordOf[number] = i
    count++
  }
  const directory = {
    tileIds: new Float64Array(count),
    runLengths: new Float64Array(count).fill(1),
    offsets: new Float64Array(count),
    lengths: new Uint32Array(count),
  }
  let at = 0
  for (let number = 0; number < TILES; number++) {
    const record = recordOf[number] as number
    if (record < 0) continue
    const length = records.readUIntLE(record * RECORD_BYTES + 5, 3)
    directory.tileIds[at] = first + number
    directory.lengths[at] = length
    directory.offsets[at++] = place(records.readUIntLE(record * RECORD_BYTES, 5), length)
  }
  return directory
}

/** Maps a tile's column and row in the bundle to its number, counted from the bundle's first tile; below 0: the zoom has no such tile. */
function numbering(corner: TilePlace, first: number): (x: number, y: number) => number {
  const { z, x: left, y: top } = corner
  if (z < BLOCK_ZOOM) return (x, y) => (Math.max(x, y) < 2 ** z ? alongCurve(z, x, y) : -1)
  const order = orderOfBlock()
  const inOrder = (turn: (typeof TURNS)[number], x: number, y: number) => {
    const [u, v] = turn(x, y)
    return order[v * BUNDLE_SIDE + u] as number
  }
  const turn = TURNS.find((one) =>
    PROBES.every(([x, y]) => inOrder(one, x, y) === zxyToTileId(z, left + x, top + y) - first),
  )
  return turn === undefined ? (x, y) => zxyToTileId(z, left + x, top + y) - first : (x, y) => inOrder(turn, x, y)
}
