import { tileIdToZxy } from 'pmtiles'
import type { ZoomExtent } from '../folder/extent.js'
import type { ZoomRange } from '../zoom-range.js'
import { type PmtilesArchive, zoomOf } from './archive.js'
import type { Directory } from './directory.js'
import { MAX_LEAF_DEPTH, MAX_PMTILES_ZOOM } from './layout.js'
import { type Leaves, leafAt, type Search } from './source.js'

export interface ListedTiles extends ZoomRange {
  /** columns and rows of each zoom; empty if they are not known, because the archive has too many tiles or directories */
  readonly extents: readonly ZoomExtent[]
}

/** Maximum number of tiles whose columns and rows are computed, which takes about a microsecond for each zoom. */
const MAX_LISTED_TILES = 50_000

type Listed = Pick<PmtilesArchive, 'header' | 'root'>

/**
 * Finds the zooms of the tiles by the first and the last number, and their extents in a small archive.
 * @param maxLeaves maximum number of leaf directories that are read for the extents; more yield none
 */
export function* listTiles(archive: Listed, leaves: Leaves, maxLeaves: number): Search<ListedTiles> {
  const end = yield* endOf(archive, leaves)
  return {
    minZoom: zoomOf(archive.root.tileIds[0]!),
    maxZoom: zoomOf(end - 1),
    extents: yield* extentsOf(archive, leaves, maxLeaves),
  }
}

/** Returns the number after that of the last tile. */
function* endOf(archive: Listed, leaves: Leaves): Search<number> {
  let directory = archive.root
  for (let depth = 0; ; depth++) {
    const last = directory.tileIds.length - 1
    const run = directory.runLengths[last]!
    // A search for the tile reports leaves that are nested too deep.
    if (run > 0 || depth === MAX_LEAF_DEPTH) return directory.tileIds[last]! + Math.max(run, 1)
    directory = yield* leafAt(archive, leaves, directory, last)
  }
}

function* extentsOf(archive: Listed, leaves: Leaves, maxLeaves: number): Search<ZoomExtent[]> {
  const { root } = archive
  const directories: Directory[] = [root]
  for (const [i, run] of root.runLengths.entries()) {
    if (run > 0) continue
    if (directories.length > maxLeaves) return []
    directories.push(yield* leafAt(archive, leaves, root, i))
  }
  const found = new Map<number, ZoomExtent>()
  let count = 0
  for (const directory of directories) {
    for (const [i, first] of directory.tileIds.entries()) {
      const run = directory.runLengths[i]!
      if (run === 0 && directory !== root) return []
      count += run
      if (count > MAX_LISTED_TILES || zoomOf(first + run) === MAX_PMTILES_ZOOM) return []
      for (let tileId = first; tileId < first + run; tileId++) add(found, tileIdToZxy(tileId))
    }
  }
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
