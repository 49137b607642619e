import { type Bounds, isVectorFormat } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import { tileIdToZxy } from 'pmtiles'
import { storedTiles } from '../export/stored-tiles.js'
import { MAX_PMTILES_ZOOM } from '../pmtiles/layout.js'
import { matrixSetOf, tileMatrixLimits, tileTouches } from '../tile-matrix-sets.js'
import { ArchivePair, type ChangedRun } from './archive-changes.js'
import { CHANGES, type ChangedTile } from './column-changes.js'
import { type ComparedSet, type CompareTask, NotCompared, openSet } from './compare-sets.js'
import { folderChanges, folderPair } from './folder-changes.js'
import { joinTiles, type TileChange } from './join-tiles.js'

export type ChangesTask = Pick<CompareTask, 'left' | 'right' | 'tileMatrixSet' | 'tileMatrices'> & {
  /** the requested area in degrees; null for everywhere */
  readonly area: Bounds | null
}

/** Maximum number of changes of one zoom that are sorted at once, of 8 bytes each. A zoom with more is read again for the rest. */
const SORTED_AT_ONCE = 8_000_000

/**
 * Yields the tiles that differ between two sets of one grid, by zoom, column and row. Bytes are compared; for vector tiles, those before compression.
 * Reads every tile once, in the order of the storage, and decodes none. It waits for the disk and SQLite without limit, so it must run in a separate
 * process. Throws `NotCompared`, `BrokenArchiveError` and the disk's errors.
 */
export async function* changedTiles(task: ChangesTask, sortedAtOnce = SORTED_AT_ONCE): AsyncGenerator<ChangedTile> {
  const { left, right, tileMatrixSet, area } = task
  const set = matrixSetOf(task)
  const maxZoom = Math.max(left.maxZoom, right.maxZoom)
  const isNumbered = tileMatrixSet === 'WebMercatorQuad' && maxZoom <= MAX_PMTILES_ZOOM
  const folders = folderPair(left, right)
  const changesOf = (z: number) => {
    if (folders !== null) return folderChanges(folders, z, tileMatrixLimits(set, z, area))
    return isNumbered ? numberedChanges(task, z, sortedAtOnce) : addressedChanges(task, z)
  }
  for (let z = Math.min(left.minZoom, right.minZoom); z <= maxZoom; z++)
    for await (const tile of changesOf(z)) if (area === null || tileTouches(set, tile, area)) yield tile
}

/** Handles sets in Web Mercator, whose tiles have numbers: each storage lists its tiles. */
async function* numberedChanges(task: ChangesTask, z: number, sortedAtOnce: number): AsyncGenerator<ChangedTile> {
  const rows = 2 ** z
  for (let from = 0; from < Number.POSITIVE_INFINITY; ) {
    const lowest = new LowestPlaces(from, sortedAtOnce)
    for await (const { tileId, runLength, change } of changedRuns(task, z)) {
      for (let id = tileId; id < tileId + runLength; id++) {
        const [, x, y] = tileIdToZxy(id)
        lowest.add(x * rows + y, change)
      }
    }
    for (const [place, change] of lowest.sorted()) yield { z, x: Math.floor(place / rows), y: place % rows, change }
    from = lowest.end
  }
}

/** Returns the number of the first tile of a zoom (PMTiles 3). */
function firstNumber(z: number): number {
  return (4 ** z - 1) / 3
}

/** Yields the runs of a zoom that differ, in ascending order of their numbers. */
async function* changedRuns({ left, right, area }: ChangesTask, z: number): AsyncGenerator<ChangedRun> {
  // An area selects single tiles, so the rest would be compared for nothing.
  const archives = area === null ? await ArchivePair.open(left, right) : null
  if (archives !== null) {
    try {
      yield* archives.changes(firstNumber(z), firstNumber(z + 1))
    } finally {
      archives.close()
    }
    return
  }
  const [ones, others] = await Promise.all([tilesOf(left, area, z), tilesOf(right, area, z)])
  try {
    const isPacked = isVectorFormat(left.format) && isVectorFormat(right.format)
    for await (const { tileId, runLength, change } of joinTiles(ones.tiles, others.tiles, isPacked))
      if (change !== 'same') yield { tileId, runLength, change }
  } finally {
    ones.close()
    others.close()
  }
}

async function tilesOf(set: ComparedSet, bounds: Bounds | null, z: number) {
  const tiles = await storedTiles(set, { minZoom: z, maxZoom: z, bounds })
  if (tiles === null) throw new NotCompared(sentence('said.version_files_absent'))
  return tiles
}

/** Collects the lowest places from one on, in any order of arrival, as many as are sorted at once. */
class LowestPlaces {
  readonly #from: number
  readonly #most: number
  readonly #places: Record<TileChange, number[]> = { added: [], changed: [], removed: [] }
  #count = 0
  /** positions from here on are left for another pass; infinite if all are done */
  end = Number.POSITIVE_INFINITY

  constructor(from: number, most: number) {
    this.#from = from
    this.#most = Math.max(2, most)
  }

  add(place: number, change: TileChange): void {
    if (place < this.#from || place >= this.end) return
    this.#places[change].push(place)
    this.#count++
    if (this.#count > this.#most) this.#leaveUpperHalf()
  }

  *sorted(): Generator<readonly [place: number, change: TileChange]> {
    const columns = CHANGES.map((change) => ({ change, places: Float64Array.from(this.#places[change]).sort(), at: 0 }))
    for (let left = this.#count; left > 0; left--) {
      let next = columns[0] as (typeof columns)[0]
      const placeOf = ({ places, at }: typeof next) => places[at] ?? Number.POSITIVE_INFINITY
      for (const column of columns) if (placeOf(column) < placeOf(next)) next = column
      yield [placeOf(next), next.change]
      next.at++
    }
  }

  #leaveUpperHalf(): void {
    const all = Float64Array.from(CHANGES.flatMap((change) => this.#places[change])).sort()
    this.end = all[Math.ceil(all.length / 2)] as number
    this.#count = 0
    for (const change of CHANGES) {
      this.#places[change] = this.#places[change].filter((place) => place < this.end)
      this.#count += this.#places[change].length
    }
  }
}

/** Handles all other sets: reads each address within the bounds of either set. */
async function* addressedChanges({ left, right, ...grid }: ChangesTask, z: number): AsyncGenerator<ChangedTile> {
  const one = await openSet(left)
  let other: Awaited<ReturnType<typeof openSet>> = null
  try {
    other = await openSet(right)
    if (one === null || other === null) throw new NotCompared(sentence('said.version_files_absent'))
    const limits = [left, right].map(({ bounds }) => tileMatrixLimits(matrixSetOf(grid), z, bounds))
    const [minX, maxX] = [Math.min(...limits.map((l) => l.minColumn)), Math.max(...limits.map((l) => l.maxColumn))]
    const [minY, maxY] = [Math.min(...limits.map((l) => l.minRow)), Math.max(...limits.map((l) => l.maxRow))]
    for (let x = minX; x <= maxX; x++) {
      for (let y = minY; y <= maxY; y++) {
        const [before, after] = [await one.read({ z, x, y }), await other.read({ z, x, y })]
        if (before === null && after === null) continue
        if (before === null) yield { z, x, y, change: 'added' }
        else if (after === null) yield { z, x, y, change: 'removed' }
        else if (Buffer.compare(before, after) !== 0) yield { z, x, y, change: 'changed' }
      }
    }
  } finally {
    one?.close()
    other?.close()
  }
}
