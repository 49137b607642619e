import type { UsageAmounts } from '@gateway/contracts/usage.js'
import type { SampledTile } from '@gateway/native-edge/hot-tiles/response-table.js'
import { isInPyramid, parseTileAddress } from '@gateway/tilesets/address.js'
import type { Catalog } from '../sync/catalog.js'
import { type CellGrid, cellGridOf, cellOf } from './cell-grid.js'
import { Sampler, type Sampling } from './sampler.js'
import { amountsOf, batchOf, type TileNotes, type UsageBatch, type UsageName } from './usage-counts.js'

/**
 * Of the answers with a tile that a process gives between two tellings (5 s), and of those without one, so many count one by one, and one in so many of the
 * others for all of them: what is told is exact as long as a process answers less than 800 a second of a kind, and what more costs is nearly nothing.
 */
export const TILE_SAMPLING = { exact: 4_096, every: 64 }

const DAY_MS = 86_400_000
const VERSION = 'version:'
/** The grid with the most columns: that of the version is looked at later. */
const WIDEST = 'WorldCRS84Quad'

/** Where on the map the tiles of versions were asked for, in this process, since it was last taken. */
export class TileCounts implements TileNotes {
  readonly #found: Sampler
  readonly #missing: Sampler
  #sampled: SampledTile[] = []
  readonly #grids = new WeakMap<object, CellGrid>()

  constructor(sampling: Sampling) {
    this.#found = new Sampler(sampling)
    this.#missing = new Sampler(sampling)
  }

  /** An answer with a tile, or that there is no such tile. `path`: of the tile, `.../{z}/{x}/{y}.{ext}`; with encoded digits it counts nowhere. */
  note(asked: UsageName, path: string, missing: boolean): void {
    const weight = (missing ? this.#missing : this.#found).weigh()
    if (weight === 0) return
    const [zoom = '', column = '', row = ''] = path.split('/').slice(-3)
    const address = parseTileAddress(zoom, column, row, WIDEST)
    if (!address.ok) return
    const { z, x, y } = address
    this.#sampled.push({ name: asked, z, x, y, weight, missing })
  }

  /**
   * All that was sampled, with what was `natively`, in cells of the versions that the catalog still has: for the day of now, in UTC. A tile beyond its
   * version's grid is in none. null: nothing. `nowMs`: since 1970.
   */
  take(natively: readonly SampledTile[], { basemaps }: Catalog, nowMs: number): UsageBatch | null {
    const cells = new Map<string, UsageAmounts>()
    for (const sampled of [this.#sampled, natively]) {
      for (const { name, weight, missing, ...tile } of sampled) {
        if (!name.startsWith(VERSION)) continue
        const version = name.slice(VERSION.length)
        const slash = version.indexOf('/')
        const stored = basemaps.get(version.slice(0, slash))?.versions.get(version.slice(slash + 1))?.stored
        if (stored === undefined || !isInPyramid(tile.z, tile.x, tile.y, stored.tileMatrixSet)) continue
        const { z, x, y } = cellOf(this.#gridOf(stored), tile)
        const amounts = amountsOf(cells, `cell:${version}/${z}/${x}/${y}`)
        amounts.requests += weight
        if (missing) amounts.tile_404 += weight
        else amounts.tiles += weight
      }
    }
    this.#sampled = []
    this.#found.beginAnew()
    this.#missing.beginAnew()
    return batchOf(Math.floor(nowMs / DAY_MS) * DAY_MS, cells)
  }

  #gridOf(stored: Parameters<typeof cellGridOf>[0]): CellGrid {
    const known = this.#grids.get(stored)
    if (known !== undefined) return known
    const grid = cellGridOf(stored)
    this.#grids.set(stored, grid)
    return grid
  }
}
