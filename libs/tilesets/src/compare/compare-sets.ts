import { gunzipSync } from 'node:zlib'
import type { Bounds, TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import { bytesOf } from '../export/stored-tiles.js'
import { openFolder } from '../folder/source.js'
import { encodingOf } from '../formats.js'
import { openListed } from '../listed-source.js'
import { openDatabase } from '../mbtiles/database.js'
import { prepareTileQuery } from '../mbtiles/queries.js'
import { openPmtiles } from '../pmtiles/source.js'

import type { Source, SourceSpec, StoredSet, Tile, TilePlace } from '../source.js'
import { matrixSetOf, type TileMatrixLimits, tileMatrixLimits } from '../tile-matrix-sets.js'
import type { TileEncoding } from '../tile-set.js'

/** A set on a disk of this machine. */
export interface ComparedSet extends StoredSet {
  readonly minZoom: number
  readonly maxZoom: number
  /** degrees; null: unknown, treated as the whole grid */
  readonly bounds: Bounds | null
}

export interface CompareTask {
  readonly left: ComparedSet
  readonly right: ComparedSet
  /** the grid of both */
  readonly tileMatrixSet: TileMatrixSetId
  /** its numbers, unless the grid has a name */
  readonly tileMatrices?: TileMatrices | null
  /** the requested range of the zooms that either set has */
  readonly minZoom: number
  readonly maxZoom: number
  /** maximum number of addresses that are compared; each zoom gets its share */
  readonly maxTiles: number
  /** milliseconds after which no further tile is read */
  readonly limitMs: number
}

/** Limit: bytes of one tile, unpacked. SQLite's is the same (`openDatabase`). */
const MAX_TILE_BYTES = 32 * 1024 * 1024

/** Column and row, XYZ. */
export type Place = readonly [x: number, y: number]

export interface ComparedZoom {
  readonly zoom: number
  /** number of addresses in the bounds of either set */
  readonly addresses: number
  /** distance in columns and rows between compared addresses; 1: all */
  readonly step: number
  /** number of compared addresses, including those without a tile in either set */
  readonly compared: number
  readonly same: number
  readonly different: readonly Place[]
  readonly onlyLeft: readonly Place[]
  readonly onlyRight: readonly Place[]
}

export interface Comparison {
  /** ascending; without the zooms for which no time was left */
  readonly zooms: readonly ComparedZoom[]
  /** false: the time limit was reached, and the last zoom is partial */
  readonly complete: boolean
}

/** Returns the bytes of a tile, for vector tiles before compression; null if the set has no such tile. */
type Read = (place: TilePlace) => Promise<Uint8Array | null>

interface OpenSet {
  readonly read: Read
  close(): void
}

/** A comparison that cannot be made, for a reason that its owner can remove. */
export class NotCompared extends Error {
  override readonly name = 'NotCompared'
}

/**
 * Compares two sets tile by tile: for vector tiles the bytes before compression, for images the file. If a zoom has more addresses than its
 * share, a regular grid of them is compared, so that the results are spread over the bounds. It waits for the disk and SQLite without limit, so it
 * must run in a separate process. Throws `NotCompared`, `BrokenArchiveError` and the disk's errors.
 */
export async function compareSets(task: CompareTask, now: () => number = () => performance.now()): Promise<Comparison> {
  const end = now() + task.limitMs
  const left = await openSet(task.left)
  let right: OpenSet | null = null
  try {
    right = await openSet(task.right)
    if (left === null || right === null) throw new NotCompared(sentence('said.version_files_absent'))
    const zooms: ComparedZoom[] = []
    let remaining = task.maxTiles
    const minZoom = Math.max(task.minZoom, Math.min(task.left.minZoom, task.right.minZoom))
    const maxZoom = Math.min(task.maxZoom, Math.max(task.left.maxZoom, task.right.maxZoom))
    for (let zoom = minZoom; zoom <= maxZoom; zoom++) {
      const share = Math.floor(remaining / (maxZoom - zoom + 1))
      const compared = await compareZoom(task, zoom, share, left, right, () => now() >= end)
      zooms.push(compared.zoom)
      if (!compared.complete) return { zooms, complete: false }
      remaining -= compared.zoom.compared
    }
    return { zooms, complete: true }
  } finally {
    left?.close()
    right?.close()
  }
}

async function compareZoom(
  { left: { bounds: leftBounds }, right: { bounds: rightBounds }, ...grid }: CompareTask,
  zoom: number,
  share: number,
  left: OpenSet,
  right: OpenSet,
  isLate: () => boolean,
): Promise<{ readonly zoom: ComparedZoom; readonly complete: boolean }> {
  const limitsOf = (bounds: Bounds | null) => tileMatrixLimits(matrixSetOf(grid), zoom, bounds)
  const limits = around([limitsOf(leftBounds), limitsOf(rightBounds)])
  const [width, height] = [limits.maxColumn - limits.minColumn + 1, limits.maxRow - limits.minRow + 1]
  const step = stepFor(width, height, share)
  // The middle of each block, which represents the tiles around it.
  const shift = Math.floor((step - 1) / 2)
  let [compared, same] = [0, 0]
  const found = { different: [] as Place[], onlyLeft: [] as Place[], onlyRight: [] as Place[] }
  const result = (complete: boolean) => ({
    zoom: { zoom, addresses: width * height, step, compared, same, ...found },
    complete,
  })
  for (let blockX = limits.minColumn; blockX <= limits.maxColumn; blockX += step) {
    for (let blockY = limits.minRow; blockY <= limits.maxRow; blockY += step) {
      if (isLate()) return result(false)
      const x = Math.min(blockX + shift, limits.maxColumn)
      const y = Math.min(blockY + shift, limits.maxRow)
      const [one, other] = [await left.read({ z: zoom, x, y }), await right.read({ z: zoom, x, y })]
      compared++
      if (one === null && other === null) continue
      if (one === null) found.onlyRight.push([x, y])
      else if (other === null) found.onlyLeft.push([x, y])
      else if (Buffer.compare(one, other) === 0) same++
      else found.different.push([x, y])
    }
  }
  return result(true)
}

/** Returns the union of limits. */
function around(all: readonly TileMatrixLimits[]): Omit<TileMatrixLimits, 'zoom'> {
  return {
    minColumn: Math.min(...all.map((one) => one.minColumn)),
    maxColumn: Math.max(...all.map((one) => one.maxColumn)),
    minRow: Math.min(...all.map((one) => one.minRow)),
    maxRow: Math.max(...all.map((one) => one.maxRow)),
  }
}

/** Returns the smallest step at which a grid over this number of columns and rows has at most `share` positions, or one position. */
export function stepFor(width: number, height: number, share: number): number {
  const places = (step: number) => Math.ceil(width / step) * Math.ceil(height / step)
  const most = Math.max(1, share)
  let step = Math.max(Math.floor(Math.sqrt((width * height) / most)), Math.ceil(Math.max(width, height) / most))
  while (places(step) > most) step++
  return step
}

export async function openSet(set: ComparedSet): Promise<OpenSet | null> {
  const { storage, root, path } = set
  if (storage === 'mbtiles') {
    const opened = openDatabase(root, path)
    if (!opened.ok) return null
    const query = prepareTileQuery(opened.database, opened.size, set.rowsFromNorth)
    const read: Read = async ({ z, x, y }) => {
      const data = query(z, x, y)
      return data === null ? null : plain(data, encodingOf(data))
    }
    return { read, close: () => opened.database.close() }
  }
  const spec: SourceSpec = { ...set, id: 0, isRemote: false }
  const source = await openPlain(spec)
  if (source === null) return null
  const read: Read = async (place) => {
    const tile = await source.tile(place)
    if (tile === 'busy') throw new NotCompared(sentence('said.version_disk_silent'))
    return tile === null ? null : plain(await contentOf(tile), tile.encoding)
  }
  return { read, close: () => source.close() }
}

function openPlain(spec: SourceSpec): Promise<Source | null> {
  if (spec.storage === 'pmtiles') return openPmtiles(spec, null)
  return spec.storage === 'xyz' || spec.storage === 'tms' ? openFolder(spec, null) : openListed(spec)
}

async function contentOf({ body }: Tile): Promise<Uint8Array> {
  if (body instanceof Uint8Array || body.length <= MAX_TILE_BYTES) return bytesOf({ body })
  body.release()
  throw new NotCompared(`a tile has more than ${MAX_TILE_BYTES} bytes`)
}

/** The same tile may be compressed in many ways. Data that cannot be decompressed is compared unchanged. */
function plain(data: Uint8Array, encoding: TileEncoding): Uint8Array {
  if (encoding === 'identity') return data
  try {
    return gunzipSync(data, { maxOutputLength: MAX_TILE_BYTES })
  } catch {
    return data
  }
}
