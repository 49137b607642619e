import type { KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import type { ZoomExtent } from './extent.js'
import { spread, type ZoomListing } from './listing.js'

/** `rows` undefined: only the extremes are known. */
type Numbered = ZoomExtent & Pick<ZoomListing, 'beyond'> & Partial<Pick<ZoomListing, 'rows'>>

/** Maximum number of tiles of one zoom whose parents are checked, among the listed ones. */
const MAX_SAMPLED = 256
/** Minimum for a decision: a single tile may have been added by hand. */
const MIN_SAMPLED = 4

/** The grid of tiles according to their numbers, with doubts about it as messages for the operator. */
export interface NumberedGrid {
  readonly grid: KnownTileMatrixSetId
  readonly warnings: readonly string[]
}

/**
 * Decides the grid of a set whose metadata names none, by the numbers of its tiles, which were listed in the widest grid. Only a geographic grid has
 * columns from 2^z on. It is chosen if every such tile has its parents, from the first zoom on. In other cases only an operator can decide.
 */
export function gridByNumbers(zooms: readonly Numbered[]): NumberedGrid {
  const wide = zooms.filter(isWide)
  const [first] = wide
  if (first === undefined) return { grid: 'WebMercatorQuad', warnings: [] }
  const seen = `zoom ${first.z} has a column ${first.maxColumn}, which Web Mercator does not have`
  if (isOverhang(zooms, wide))
    return { grid: 'WebMercatorQuad', warnings: [`${seen}; it and its like repeat the west and are not served`] }
  if (first === zooms[0] && zooms.every(({ beyond }) => beyond === 0) && orphans(zooms) === null) {
    const why = `${seen}, and the tiles form the pyramid of a geographic grid: it is served as WorldCRS84Quad`
    return { grid: 'WorldCRS84Quad', warnings: [`${why}; ${OVERRIDE_GRID}`] }
  }
  return { grid: 'WebMercatorQuad', warnings: [`${seen}; the grid is unknown. ${OVERRIDE_GRID}`] }
}

/**
 * True if Web Mercator explains the columns from 2^z on. GDAL's writer of vector tiles draws features near the 180th meridian also into one column
 * east of it, at every zoom and whatever their extent. A geographic set spans more columns at deeper zooms, unless it lies at the prime meridian.
 */
function isOverhang(zooms: readonly Numbered[], wide: readonly Numbered[]): boolean {
  const deepest = zooms.at(-1)!
  const spansWest = deepest.minColumn < 2 ** deepest.z - 2
  return zooms.length > 1 && spansWest && wide.every(({ z, maxColumn }) => maxColumn === 2 ** z)
}

const OVERRIDE_GRID = 'if that is wrong, override tile_matrix_set'

function isWide({ z, maxColumn }: Numbered): boolean {
  return maxColumn >= 2 ** z
}

export interface LayoutDoubts {
  readonly warnings: readonly string[]
  /** reason why nothing can be served; null: it can */
  readonly unserved: string | null
}

/** Returns contradictions between the numbers of tiles, independent of the metadata. */
export function layoutDoubts(zooms: readonly Numbered[]): LayoutDoubts {
  const warnings: string[] = []
  const beyond = zooms.filter((zoom) => zoom.beyond > 0)
  const [worst] = beyond
  if (worst !== undefined) {
    const all = beyond.reduce((sum, zoom) => sum + zoom.beyond, 0)
    const named = `${all} folders or files of zoom ${worst.z}${beyond.length > 1 ? ' and other zooms' : ''} have numbers of 2^z or more`
    if (beyond.length * 2 > zooms.length && all > 1) {
      const unserved = `${named}, which are outside of every served grid: the layout is not {z}/{x}/{y}, or the set has another grid`
      return { warnings, unserved }
    }
    warnings.push(`${named}, which the grid does not have: they are not served`)
  }
  const lost = orphans(zooms)
  if (lost !== null) {
    warnings.push(
      `most tiles of zoom ${lost + 1} have no tile above them at zoom ${lost}: this is not a pyramid of {z}/{x}/{y}, or zooms are missing. ` +
        'Look at the map, and override tile_matrix_set or storage if it is in the wrong place',
    )
  }
  return { warnings, unserved: null }
}

/** Returns the first zoom that lacks the parents of most tiles of the next one, as far as both were listed, or null. */
function orphans(zooms: readonly Numbered[]): number | null {
  for (const [i, parent] of zooms.entries()) {
    const child = zooms[i + 1]
    if (child?.z !== parent.z + 1 || !parent.complete || parent.rows === undefined) continue
    const tiles = spread(addressesOf(child), MAX_SAMPLED)
    const parents = new Map([...parent.rows].map(([x, rows]) => [x, new Set(rows)]))
    const lost = tiles.filter(([x, y]) => !parents.get(x >> 1)?.has(y >> 1)).length
    if (tiles.length >= MIN_SAMPLED && lost * 2 > tiles.length) return parent.z
  }
  return null
}

function addressesOf({ rows = new Map() }: Numbered): (readonly [x: number, y: number])[] {
  return [...rows].flatMap(([x, ys]) => ys.map((y) => [x, y] as const))
}
