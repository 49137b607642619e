import type { Bounds, KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import { tileIdToZxy } from 'pmtiles'
import type { ZoomExtent } from '../folder/extent.js'
import { spread } from '../folder/listing.js'
import { boundsWithoutTiles } from '../rows/by-bounds.js'
import type { ZoomRange } from '../zoom-range.js'
import { type PmtilesArchive, zoomOf } from './archive.js'
import type { Directory } from './directory.js'
import { MAX_LEAF_DEPTH, MAX_PMTILES_ZOOM } from './layout.js'
import { type Leaves, leafAt, type Search } from './source.js'

/** An archive whose tiles are listed. */
export interface Listing<Archive extends Pick<PmtilesArchive, 'header' | 'root'> = PmtilesArchive> {
  readonly archive: Archive
  /** directories that were read already */
  readonly leaves: Leaves
  /** maximum number of leaf directories that are read to list all tiles */
  readonly maxLeaves: number
}
type AnyListing = Listing<Pick<PmtilesArchive, 'header' | 'root'>>

/** Maximum number of tiles of which one is looked for in the bounds before all are listed. */
const MAX_LOOKED_AT = 64
/** Maximum number of tiles whose columns and rows are computed, which takes about a microsecond for each zoom. */
const MAX_LISTED_TILES = 50_000

/** Returns the zooms of an archive by the numbers of its first and its last tile. */
export function* zoomsOfTiles(listing: AnyListing): Search<ZoomRange> {
  const end = yield* endOf(listing)
  return { minZoom: zoomOf(listing.archive.root.tileIds[0]!), maxZoom: zoomOf(end - 1) }
}

/**
 * Returns the columns and rows of each zoom, if none of the tiles that are looked at first lies in the bounds: most archives need no further directory.
 * Empty if one does, or if the archive has too many tiles or directories.
 */
export function* extentsBeside(listing: AnyListing, bounds: Bounds, grid: KnownTileMatrixSetId): Search<ZoomExtent[]> {
  const last = (yield* endOf(listing)) - 1
  const deepest = zoomOf(last)
  // Numbers of deeper zooms are not exact.
  if (deepest === MAX_PMTILES_ZOOM) return []
  const known = [...listing.archive.root.tileIds, last].filter((tileId) => zoomOf(tileId) === deepest)
  const isInBounds = (tileId: number) => boundsWithoutTiles(extentsOf([[tileId, 1]]), bounds, grid) === null
  if (spread(known, MAX_LOOKED_AT).some(isInBounds)) return []
  const runs = yield* runsOf(listing)
  const count = runs.reduce((sum, [, run]) => sum + run, 0)
  return count > MAX_LISTED_TILES ? [] : extentsOf(runs)
}

/** Returns the number after that of the last tile. */
function* endOf({ archive, leaves }: AnyListing): Search<number> {
  let directory = archive.root
  for (let depth = 0; ; depth++) {
    const last = directory.tileIds.length - 1
    const run = directory.runLengths[last]!
    // A search for the tile reports leaves that are nested too deep.
    if (run > 0 || depth === MAX_LEAF_DEPTH) return directory.tileIds[last]! + Math.max(run, 1)
    directory = yield* leafAt(archive, leaves, directory, last)
  }
}

type Run = readonly [first: number, length: number]

/** Returns all runs of tiles; none if they are in more directories than allowed. */
function* runsOf({ archive, leaves, maxLeaves }: AnyListing): Search<Run[]> {
  const { root } = archive
  const directories: Directory[] = [root]
  for (const [i, run] of root.runLengths.entries()) {
    if (run > 0) continue
    if (directories.length > maxLeaves) return []
    directories.push(yield* leafAt(archive, leaves, root, i))
  }
  const all = directories.flatMap(({ tileIds, runLengths }) =>
    [...tileIds].map((first, i): Run => [first, runLengths[i]!]),
  )
  const found = all.filter(([, run]) => run > 0)
  return found.length === all.length - (directories.length - 1) ? found : []
}

function extentsOf(runs: readonly Run[]): ZoomExtent[] {
  const found = new Map<number, ZoomExtent>()
  for (const [first, length] of runs)
    for (let tileId = first; tileId < first + length; tileId++) add(found, tileIdToZxy(tileId))
  return [...found.values()].sort((one, other) => one.z - other.z)
}

function add(found: Map<number, ZoomExtent>, [z, x, y]: readonly [number, number, number]): void {
  const known = found.get(z) ?? { minColumn: x, maxColumn: x, minRow: y, maxRow: y }
  found.set(z, {
    z,
    complete: true,
    minColumn: Math.min(known.minColumn, x),
    maxColumn: Math.max(known.maxColumn, x),
    minRow: Math.min(known.minRow, y),
    maxRow: Math.max(known.maxRow, y),
  })
}
