import type { KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { UsageAmounts } from '@gateway/contracts/usage.js'
import type { SampledTile } from '@gateway/native-edge/hot-tiles/response-counts.js'
import type { StoredVersion } from '@gateway/store/basemaps.js'
import { isInPyramid, isKnownGrid, parseTileAddress } from '@gateway/tilesets/address.js'
import type { Catalog, UsageName } from '../sync/catalog.js'
import { type Cell, type CellGrid, cellGridOf, cellOf, MAX_CELL_ZOOM } from './cell-grid.js'
import { Sampler, type Sampling } from './sampler.js'
import { batchOf, type TileNotes, type UsageBatch } from './usage-counts.js'

/**
 * Sampling of a process's responses with a tile, and of those without one, between two reports (5 s): the first ones count individually, and one in
 * every few of the others counts for all of them. The counts are exact up to 800 responses per second of a kind, and further responses cost almost
 * nothing.
 */
export const TILE_SAMPLING = { exact: 4_096, every: 64 }

const DAY_MS = 86_400_000
const VERSION = 'version:'

/** A version with its requested tiles. Thousands of samples are added at once, so cells have numbers here, and names only in the sums. */
interface Version {
  readonly tileMatrixSet: KnownTileMatrixSetId
  readonly grid: CellGrid
  readonly cells: Map<number, { readonly cell: Cell; readonly amounts: UsageAmounts }>
}

/** The map cells of the tiles of versions that were requested from this process since the last `take`. */
export class TileCounts implements TileNotes {
  readonly #found: Sampler
  readonly #missing: Sampler
  #sampled: SampledTile[] = []
  readonly #grids = new WeakMap<object, CellGrid>()

  constructor(sampling: Sampling) {
    this.#found = new Sampler(sampling)
    this.#missing = new Sampler(sampling)
  }

  /**
   * Notes a response with a tile, or that it does not exist. `path` is that of the tile, `.../{z}/{x}/{y}.{ext}`; a path with encoded digits is
   * ignored.
   */
  note(asked: UsageName, path: string, missing: boolean): void {
    const weight = (missing ? this.#missing : this.#found).weigh()
    if (weight === 0) return
    const [zoom = '', column = '', row = ''] = path.split('/').slice(-3)
    const address = parseTileAddress(zoom, column, row, null)
    if (!address.ok) return
    const { z, x, y } = address
    this.#sampled.push({ name: asked, z, x, y, weight, missing })
  }

  /**
   * Returns all samples, including the `natively` sampled ones, in cells of the versions that the catalog still has, for the current day in UTC.
   * Ignores tiles outside of their version's grid. Returns null if no sample counts. `nowMs` is since 1970.
   */
  take(natively: readonly SampledTile[], { basemaps }: Catalog, nowMs: number): UsageBatch | null {
    const versions = new Map<string, Version | null>()
    for (const sampled of [this.#sampled, natively]) {
      for (const tile of sampled) {
        let version = versions.get(tile.name)
        if (version === undefined) {
          version = this.#versionOf(tile.name, basemaps)
          versions.set(tile.name, version)
        }
        if (version === null || !isInPyramid(tile.z, tile.x, tile.y, version.tileMatrixSet)) continue
        const amounts = amountsIn(version.cells, cellOf(version.grid, tile))
        amounts.requests += tile.weight
        if (tile.missing) amounts.tile_404 += tile.weight
        else amounts.tiles += tile.weight
      }
    }
    this.#sampled = []
    this.#found.beginAnew()
    this.#missing.beginAnew()
    const cells = new Map<string, UsageAmounts>()
    for (const [name, version] of versions) {
      for (const { cell, amounts } of version?.cells.values() ?? [])
        cells.set(`cell:${name.slice(VERSION.length)}/${cell.z}/${cell.x}/${cell.y}`, amounts)
    }
    return batchOf(Math.floor(nowMs / DAY_MS) * DAY_MS, cells)
  }

  /** Returns null if the name is not that of a version, if the version no longer exists, or if it has its own grid, whose zooms do not nest. */
  #versionOf(name: string, basemaps: Catalog['basemaps']): Version | null {
    const [code = '', label = ''] = name.startsWith(VERSION) ? name.slice(VERSION.length).split('/') : []
    const stored = basemaps.get(code)?.versions.get(label)?.stored
    if (stored === undefined || !isKnownGrid(stored.tileMatrixSet)) return null
    const { tileMatrixSet } = stored
    return { tileMatrixSet, grid: this.#gridOf(stored, tileMatrixSet), cells: new Map() }
  }

  #gridOf(stored: Pick<StoredVersion, 'bounds'>, tileMatrixSet: KnownTileMatrixSetId): CellGrid {
    const known = this.#grids.get(stored)
    if (known !== undefined) return known
    const grid = cellGridOf({ tileMatrixSet, bounds: stored.bounds })
    this.#grids.set(stored, grid)
    return grid
  }
}

function amountsIn(cells: Version['cells'], cell: Cell): UsageAmounts {
  const number = (cell.z * 2 ** (MAX_CELL_ZOOM + 1) + cell.x) * 2 ** MAX_CELL_ZOOM + cell.y
  let found = cells.get(number)
  if (found === undefined) {
    found = { cell, amounts: { requests: 0, tiles: 0, tile_404: 0, refused: 0, bytes: 0 } }
    cells.set(number, found)
  }
  return found.amounts
}
