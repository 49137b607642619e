import fs from 'node:fs/promises'
import path from 'node:path'
import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { currentRealRoot, isBelow } from '@gateway/files/real-root.js'
import { isInPyramid, MAX_ZOOM, parseIndex } from '../address.js'
import { formatOfExtension } from '../formats.js'

/** Limit: columns of one zoom whose rows are listed. Zooms up to 6 are listed whole, deeper ones by evenly spread columns. */
const MAX_LISTED_COLUMNS = 64

/** Limit: file names read for one zoom, so that deep zooms of the whole world do not take minutes. */
const MAX_LISTED_ROWS = 100_000

export interface SampleTile {
  readonly path: string
  readonly extension: string
}

/** What listing folders told about one zoom. Columns and rows are as in the names: rows not flipped. */
export interface ZoomListing {
  readonly z: number
  readonly folder: string
  /** all columns, ascending */
  readonly columns: readonly number[]
  /** whether every column's rows were listed */
  readonly complete: boolean
  readonly minColumn: number
  readonly maxColumn: number
  readonly minRow: number
  readonly maxRow: number
  /** one tile for each extension met */
  readonly samples: ReadonlyMap<string, SampleTile>
  /** how many of the listed files have each extension */
  readonly counts: ReadonlyMap<string, number>
}

/** Lists the zoom folders below `folder` that hold tiles, by ascending zoom. Reads folders only; follows no link out of `root`. */
export async function listZooms(root: string, folder: string, grid: TileMatrixSetId): Promise<ZoomListing[]> {
  const zooms = (await listNumbers(root, folder)).filter((z) => z <= MAX_ZOOM)
  const listings: ZoomListing[] = []
  for (const z of zooms) {
    const listing = await listZoom(root, path.join(folder, String(z)), z, grid)
    if (listing !== null) listings.push(listing)
  }
  return listings
}

/** At most `limit` entries, evenly spread, the first and the last among them. */
export function spread<T>(entries: readonly T[], limit: number): T[] {
  if (entries.length <= limit) return [...entries]
  return Array.from({ length: limit }, (_, i) => entries[Math.round((i * (entries.length - 1)) / (limit - 1))]!)
}

async function listZoom(root: string, folder: string, z: number, grid: TileMatrixSetId): Promise<ZoomListing | null> {
  const columns = (await listNumbers(root, folder)).filter((x) => isInPyramid(z, x, 0, grid))
  const samples = new Map<string, SampleTile>()
  const counts = new Map<string, number>()
  const listed: number[] = []
  const rows = { min: Number.POSITIVE_INFINITY, max: -1, read: 0 }
  for (const x of spread(columns, MAX_LISTED_COLUMNS)) {
    if (rows.read > MAX_LISTED_ROWS) break
    const column = path.join(folder, String(x))
    let found = false
    for (const name of await listNames(root, column)) {
      rows.read++
      const tile = parseTileName(z, name)
      if (tile === null) continue
      found = true
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
  return { z, folder, columns, complete, minColumn, maxColumn, minRow: rows.min, maxRow: rows.max, samples, counts }
}

export function parseTileName(z: number, name: string): { y: number; extension: string } | null {
  const dot = name.indexOf('.')
  if (dot < 1) return null
  const y = parseIndex(name.slice(0, dot))
  const extension = name.slice(dot + 1)
  return y >= 0 && isInPyramid(z, 0, y) && formatOfExtension(extension) !== null ? { y, extension } : null
}

/** The numbers among the names in a folder, ascending; otherwise as `listNames`. */
export async function listNumbers(root: string, folder: string): Promise<number[]> {
  const numbers = (await listNames(root, folder)).map(parseIndex).filter((n) => n >= 0)
  return numbers.sort((a, b) => a - b)
}

/** The names in a folder below `root`; none where it is gone, no folder, or a link that leads out of `root`. */
export async function listNames(root: string, folder: string): Promise<string[]> {
  try {
    const real = await fs.realpath(folder)
    return isBelow(currentRealRoot(root), real) ? await fs.readdir(real) : []
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return []
    throw error
  }
}
