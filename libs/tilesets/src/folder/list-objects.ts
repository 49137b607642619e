import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { ListEntry, ObjectStore, ReadOptions } from '@gateway/core/object-storage/object-store.js'
import { isInPyramid, isKnownGrid, MAX_ZOOM, parseIndex } from '../address.js'
import { parseTileName, type SampleTile, spread, WIDEST, type ZoomListing } from './listing.js'

export interface ListLimits {
  /** maximum keys of a zoom that is listed key by key; a larger one is listed by columns */
  readonly whole: number
  /** number of columns of a larger zoom whose rows are listed concurrently */
  readonly columns: number
  /** maximum keys of each column */
  readonly rows: number
}

/** One page of a list has 1,000 keys. */
const LIMITS: ListLimits = { whole: 1000, columns: 16, rows: 20_000 }

/** A zoom, with marks that change when a listed tile changes. */
export interface ListedZoom extends ZoomListing {
  readonly marks: readonly string[]
}

/**
 * `listZooms` for objects below a prefix, which ends with a slash or is empty. The number of requests grows with the zooms, not with the tiles: some
 * twenty for each deep zoom.
 */
export async function listObjectZooms(
  store: ObjectStore,
  prefix: string,
  grid: TileMatrixSetId,
  options: ReadOptions = {},
  limits = LIMITS,
): Promise<ListedZoom[]> {
  const zooms = (await numbersBelow(store, prefix, options)).filter((z) => z <= MAX_ZOOM)
  const listings: ListedZoom[] = []
  for (const z of zooms) {
    const listing = await listZoom(store, { z, grid, folder: `${prefix}${z}/`, limits }, options)
    if (listing !== null) listings.push(listing)
  }
  return listings
}

interface Rows {
  readonly x: number
  readonly tiles: readonly (SampleTile & { readonly y: number })[]
}

interface Zoom {
  readonly z: number
  readonly grid: TileMatrixSetId
  readonly folder: string
  readonly limits: ListLimits
}

async function listZoom(
  store: ObjectStore,
  { z, grid, folder, limits }: Zoom,
  options: ReadOptions,
): Promise<ListedZoom | null> {
  const marks: string[] = []
  const whole = await listTo(store.list(folder, options), limits.whole)
  const isInGrid = (x: number) => isInPyramid(z, x, 0, grid)
  const widest = isKnownGrid(grid) ? WIDEST : grid
  const isBeyond = (x: number) => !isInPyramid(z, x, 0, widest)
  if (whole !== null) {
    const all = rowsByColumn(whole, folder, z, marks)
    const columns = all.filter(({ x }) => isInGrid(x))
    const found = { columns: columns.map(({ x }) => x), listed: columns, complete: true, marks }
    return listingOf(z, folder, { ...found, beyond: all.filter(({ x }) => isBeyond(x)).length })
  }
  const numbered = await numbersBelow(store, folder, options)
  const columns = numbered.filter(isInGrid)
  const looked = spread(columns, limits.columns)
  const listed = await Promise.all(
    looked.map(async (x) => {
      const keys = await listTo(store.list(`${folder}${x}/`, options), limits.rows)
      return keys === null ? [] : rowsByColumn(keys, folder, z, marks)
    }),
  )
  const complete = columns.length <= limits.columns
  // Columns respond in any order.
  return listingOf(z, folder, {
    columns,
    listed: listed.flat(),
    complete,
    marks: marks.sort(),
    beyond: numbered.filter(isBeyond).length,
  })
}

interface Found {
  readonly columns: readonly number[]
  readonly listed: readonly Rows[]
  readonly complete: boolean
  readonly marks: readonly string[]
  readonly beyond: number
}

function listingOf(z: number, folder: string, { columns, listed, complete, marks, beyond }: Found): ListedZoom | null {
  const tiles = listed.flatMap((column) => column.tiles)
  if (tiles.length === 0) return null
  const samples = new Map<string, SampleTile>()
  const counts = new Map<string, number>()
  let [minRow, maxRow] = [Number.POSITIVE_INFINITY, -1]
  for (const tile of tiles) {
    minRow = Math.min(minRow, tile.y)
    maxRow = Math.max(maxRow, tile.y)
    if (!samples.has(tile.extension)) samples.set(tile.extension, { path: tile.path, extension: tile.extension })
    counts.set(tile.extension, (counts.get(tile.extension) ?? 0) + 1)
  }
  const [minColumn, maxColumn] = [columns[0]!, columns.at(-1)!]
  const rows = new Map(listed.map(({ x, tiles }) => [x, tiles.map(({ y }) => y)]))
  return { z, folder, columns, complete, minColumn, maxColumn, minRow, maxRow, samples, counts, marks, rows, beyond }
}

/** Returns the tiles among keys below a zoom's folder, by ascending column. */
function rowsByColumn(entries: readonly ListEntry[], folder: string, z: number, marks: string[]): Rows[] {
  const byColumn = new Map<number, Rows['tiles'][number][]>()
  for (const entry of entries) {
    if (!('key' in entry)) continue
    const [column = '', name = '', ...deeper] = entry.key.slice(folder.length).split('/')
    const x = parseIndex(column)
    const tile = deeper.length > 0 ? null : parseTileName(z, name, null)
    if (x < 0 || tile === null) continue
    marks.push(`${entry.key} ${entry.facts.etag}`)
    const same = byColumn.get(x)
    const found = { ...tile, path: entry.key }
    if (same === undefined) byColumn.set(x, [found])
    else same.push(found)
  }
  return [...byColumn].map(([x, tiles]) => ({ x, tiles })).sort((a, b) => a.x - b.x)
}

/** Returns the numbered folders directly below a prefix, ascending. */
async function numbersBelow(store: ObjectStore, prefix: string, options: ReadOptions): Promise<number[]> {
  const numbers: number[] = []
  for await (const entry of store.list(prefix, { ...options, delimiter: '/' })) {
    const n = 'prefix' in entry ? parseIndex(entry.prefix.slice(prefix.length, -1)) : -1
    if (n >= 0) numbers.push(n)
  }
  return numbers.sort((a, b) => a - b)
}

/** Returns null if there are more than `limit`. */
async function listTo(entries: AsyncIterable<ListEntry>, limit: number): Promise<ListEntry[] | null> {
  const listed: ListEntry[] = []
  for await (const entry of entries) {
    if (listed.push(entry) > limit) return null
  }
  return listed
}
