import fs from 'node:fs'
import path from 'node:path'
import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { fileCall } from '@gateway/core/files/paced-calls.js'
import { readAhead } from '@gateway/core/files/read-ahead.js'
import { liesBelow, liesBelowLater } from '@gateway/core/files/real-root.js'
import { isInPyramid, isKnownGrid, MAX_ZOOM, parseIndex } from '../address.js'
import { formatOfExtension } from '../formats.js'
import type { ZoomExtent } from './extent.js'

/** Maximum number of columns of one zoom whose rows are listed. Zooms up to 6 are listed completely, deeper ones by evenly spread columns. */
const MAX_LISTED_COLUMNS = 64

/** Maximum number of file names that are read for one zoom, so that deep zooms of the whole world do not take minutes. */
const MAX_LISTED_ROWS = 100_000

export interface SampleTile {
  readonly path: string
  readonly extension: string
}

/** The result of listing one zoom. Columns and rows are as in the names, without flipping rows. */
export interface ZoomListing extends ZoomExtent {
  readonly folder: string
  /** all columns, ascending */
  readonly columns: readonly number[]
  /** one tile for each extension */
  readonly samples: ReadonlyMap<string, SampleTile>
  /** number of listed files with each extension */
  readonly counts: ReadonlyMap<string, number>
  /** rows of the listed columns, at most `MAX_KEPT_ROWS` */
  readonly rows: ReadonlyMap<number, readonly number[]>
  /** number of column folders and tiles outside of this zoom in every supported grid */
  readonly beyond: number
}

/** Maximum number of folders that are listed at the same time. A slow mount serves them together, and one that hangs blocks no more of them. */
const LISTED_AT_ONCE = 8

/** Maximum number of rows of one zoom that are kept, to check how zooms belong together. */
const MAX_KEPT_ROWS = 20_000

/**
 * Lists the zoom folders below `folder` that have tiles, by ascending zoom. Reads only folders, and follows no link out of `root`.
 * @param numbers the numeric names in the folder
 */
export async function listZooms(
  root: string,
  folder: string,
  grid: TileMatrixSetId,
  numbers: readonly number[],
): Promise<ZoomListing[]> {
  const listings: ZoomListing[] = []
  for (const z of numbers.filter((number) => number <= MAX_ZOOM)) {
    const listing = await listZoom(root, path.join(folder, String(z)), z, grid)
    if (listing !== null) listings.push(listing)
  }
  return listings
}

/** Returns at most `limit` entries, evenly spread, including the first and the last; for a limit of one the middle. */
export function spread<T>(entries: readonly T[], limit: number): T[] {
  if (entries.length <= limit) return [...entries]
  if (limit === 1) return [entries[entries.length >> 1]!]
  return Array.from({ length: limit }, (_, i) => entries[Math.round((i * (entries.length - 1)) / (limit - 1))]!)
}

async function listZoom(root: string, folder: string, z: number, grid: TileMatrixSetId): Promise<ZoomListing | null> {
  const numbered = await listNumbers(root, folder)
  const columns = numbered.filter((x) => isInPyramid(z, x, 0, grid))
  const widest = isKnownGrid(grid) ? WIDEST : grid
  let beyond = numbered.filter((x) => !isInPyramid(z, x, 0, widest)).length
  const kept = new Map<number, number[]>()
  let keptRows = 0
  const samples = new Map<string, SampleTile>()
  const counts = new Map<string, number>()
  const listed: number[] = []
  const rows = { min: Number.POSITIVE_INFINITY, max: -1, read: 0 }
  const looked = spread(columns, MAX_LISTED_COLUMNS)
  const list = readAhead(looked, LISTED_AT_ONCE, (x) => listNames(root, path.join(folder, String(x))))
  for (const x of looked) {
    if (rows.read > MAX_LISTED_ROWS) break
    const column = path.join(folder, String(x))
    let found = false
    for (const name of await list()) {
      rows.read++
      const tile = parseTileName(z, name, widest)
      if (tile === null) {
        if (isTileName(name)) beyond++
        continue
      }
      found = true
      if (keptRows++ < MAX_KEPT_ROWS) keep(kept, x, tile.y)
      if (tile.y < rows.min) rows.min = tile.y
      if (tile.y > rows.max) rows.max = tile.y
      if (!samples.has(tile.extension)) {
        samples.set(tile.extension, { path: path.join(column, name), extension: tile.extension })
      }
      counts.set(tile.extension, (counts.get(tile.extension) ?? 0) + 1)
    }
    if (found) listed.push(x)
  }
  if (listed.length === 0) return null
  const complete = columns.length <= MAX_LISTED_COLUMNS && rows.read <= MAX_LISTED_ROWS
  const [minColumn, maxColumn] = complete ? [listed[0]!, listed.at(-1)!] : [columns[0]!, columns.at(-1)!]
  const extent = { minColumn, maxColumn, minRow: rows.min, maxRow: rows.max }
  return { z, folder, columns, complete, ...extent, samples, counts, rows: kept, beyond }
}

/** The grid with the most columns. */
export const WIDEST: TileMatrixSetId = 'WorldCRS84Quad'

/** True for a row's number with the extension of a tile, whether or not any zoom has such a row. */
export function isTileName(name: string): boolean {
  const dot = name.indexOf('.')
  return dot > 0 && parseIndex(name.slice(0, dot)) >= 0 && formatOfExtension(name.slice(dot + 1)) !== null
}

function keep(rows: Map<number, number[]>, x: number, y: number): void {
  const same = rows.get(x)
  if (same === undefined) rows.set(x, [y])
  else same.push(y)
}

export function parseTileName(
  z: number,
  name: string,
  grid: TileMatrixSetId | null = WIDEST,
): { y: number; extension: string } | null {
  const dot = name.indexOf('.')
  if (dot < 1) return null
  const y = parseIndex(name.slice(0, dot))
  const extension = name.slice(dot + 1)
  return y >= 0 && isInPyramid(z, 0, y, grid) && formatOfExtension(extension) !== null ? { y, extension } : null
}

/** Returns the numeric names in a folder, ascending, like `listNames`. */
export async function listNumbers(root: string, folder: string): Promise<number[]> {
  return numbersIn(await listNames(root, folder))
}

/** Returns the numeric names, ascending. */
export function numbersIn(names: readonly string[]): number[] {
  return names
    .map(parseIndex)
    .filter((n) => n >= 0)
    .sort((a, b) => a - b)
}

/** Returns the names in a folder below `root`; empty if it has gone, is not a folder, or is a link that leads out of `root`. */
export async function listNames(root: string, folder: string): Promise<string[]> {
  try {
    return await fileCall(
      () => {
        const real = fs.realpathSync.native(folder)
        return liesBelow(root, real) ? fs.readdirSync(real) : []
      },
      async () => {
        const real = await fs.promises.realpath(folder)
        return (await liesBelowLater(root, real)) ? await fs.promises.readdir(real) : []
      },
    )
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return []
    throw error
  }
}
