import type { Bounds, KnownTileMatrixSetId, TileMatrices, TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { isKnownGrid, MAX_ZOOM } from './address.js'
import { codeOf, extentOfZone, matrixSize, ownSetId, tileMetres, type Zone, zoneOf } from './gauss-krueger.js'

/** A tile matrix set (OGC Two Dimensional Tile Matrix Set, 2.0): a quadtree of tiles of 256 pixels where nothing else is said, or a set's own. */
export interface TileMatrixSet {
  readonly id: TileMatrixSetId
  readonly title: string
  /** name in the field `crs` of a version */
  readonly crs: `EPSG:${number}`
  /** WMTS 1.0.0 names systems by URN */
  readonly urn: string
  /** the OGC APIs name systems by URI */
  readonly uri: string
  /** the set's entry in the OGC register; null: not registered */
  readonly registered: string | null
  /** name in WMTS 1.0.0, annex E; null: no name */
  readonly wellKnownScaleSet: string | null
  /** the upper left corner in the axis order of `urn` */
  readonly topLeft: readonly [number, number]
  /** at zoom 0, for pixels of 0.28 mm */
  readonly scaleDenominator: number
  /** at zoom 0, for tiles of 256 pixels: units of the system per pixel */
  readonly cellSize: number
  /** columns at zoom 0 of a quadtree, whose rows are 2^z; null: a grid of a set's own */
  readonly columns: 1 | 2 | null
  /** null: a quadtree */
  readonly own: OwnMatrices | null
  /** west, south, east, north of all tiles, in the system's own units, easting first */
  readonly extent: Bounds
  /** the same in degrees */
  readonly world: Bounds
}

/** The data of a set's own grid, which replace a quadtree's rules. */
export interface OwnMatrices {
  readonly zone: Zone
  readonly numbers: TileMatrices
  /** by zoom */
  readonly matrices: readonly TileMatrix[]
}

/** One zoom: units of the system for each pixel of its tiles, and the numbers of its columns and rows. */
export interface TileMatrix {
  readonly cellSize: number
  /** for pixels of 0.28 mm */
  readonly scaleDenominator: number
  readonly columns: number
  readonly rows: number
}

const HALF = 20037508.342789244
/** Maximum latitude of Web Mercator in degrees. */
const MERCATOR_NORTH = 85.0511287798066
const MERCATOR_SCALE = 559082264.0287178
const GEOGRAPHIC_SCALE = 279541132.0143589

const geographic: Pick<
  TileMatrixSet,
  'topLeft' | 'scaleDenominator' | 'cellSize' | 'columns' | 'own' | 'extent' | 'world'
> = {
  topLeft: [90, -180],
  scaleDenominator: GEOGRAPHIC_SCALE,
  cellSize: 180 / 256,
  columns: 2,
  own: null,
  extent: [-180, -90, 180, 90],
  world: [-180, -90, 180, 90],
}

export const TILE_MATRIX_SETS: Readonly<Record<KnownTileMatrixSetId, TileMatrixSet>> = {
  WebMercatorQuad: {
    id: 'WebMercatorQuad',
    title: 'Web Mercator',
    crs: 'EPSG:3857',
    urn: 'urn:ogc:def:crs:EPSG::3857',
    uri: 'http://www.opengis.net/def/crs/EPSG/0/3857',
    registered: 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad',
    wellKnownScaleSet: 'urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible',
    topLeft: [-HALF, HALF],
    scaleDenominator: MERCATOR_SCALE,
    cellSize: (2 * HALF) / 256,
    columns: 1,
    own: null,
    extent: [-HALF, -HALF, HALF, HALF],
    // TileJSON 3.0's own default for `bounds`.
    world: [-180, -85.05112877980659, 180, MERCATOR_NORTH],
  },
  WorldCRS84Quad: {
    ...geographic,
    id: 'WorldCRS84Quad',
    title: 'Longitude and latitude, WGS 84',
    crs: 'EPSG:4326',
    urn: 'urn:ogc:def:crs:EPSG::4326',
    uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    registered: 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WorldCRS84Quad',
    wellKnownScaleSet: 'urn:ogc:def:wkss:OGC:1.0:GoogleCRS84Quad',
  },
  CGCS2000Quad: {
    ...geographic,
    id: 'CGCS2000Quad',
    title: 'Longitude and latitude, CGCS2000',
    crs: 'EPSG:4490',
    urn: 'urn:ogc:def:crs:EPSG::4490',
    uri: 'http://www.opengis.net/def/crs/EPSG/0/4490',
    registered: null,
    wellKnownScaleSet: null,
  },
}

const ownSets = new WeakMap<TileMatrices, TileMatrixSet>()

/** Returns the tile matrix set of a version or a probe. `tileMatrices` may be present next to a known grid that an operator has set. */
export function matrixSetOf({
  tileMatrixSet,
  tileMatrices,
}: {
  readonly tileMatrixSet: TileMatrixSetId
  readonly tileMatrices?: TileMatrices | null
}): TileMatrixSet {
  if (isKnownGrid(tileMatrixSet)) return TILE_MATRIX_SETS[tileMatrixSet]
  if (tileMatrices == null) throw new Error(`the numbers of the grid ${tileMatrixSet} are not known`)
  const known = ownSets.get(tileMatrices) ?? ownSet(tileMatrices)
  ownSets.set(tileMatrices, known)
  return known
}

/** Metres of a pixel of the standard's display (OGC Two Dimensional Tile Matrix Set, 7.1.5). */
const PIXEL_METRES = 0.000_28

function ownSet(numbers: TileMatrices): TileMatrixSet {
  const code = codeOf(numbers.crs)
  const zone = zoneOf(code)
  const matrices = numbers.resolutions.map((cellSize, zoom) => {
    const [columns, rows] = matrixSize(numbers, zoom)
    return { cellSize, scaleDenominator: cellSize / PIXEL_METRES, columns, rows }
  })
  const [east, north] = numbers.origin
  return {
    id: ownSetId(numbers),
    title: `CGCS2000 / 3-degree Gauss-Kruger (EPSG:${code}), origin ${east}, ${north}`,
    crs: numbers.crs,
    urn: `urn:ogc:def:crs:EPSG::${code}`,
    uri: `http://www.opengis.net/def/crs/EPSG/0/${code}`,
    registered: null,
    wellKnownScaleSet: null,
    topLeft: [north, east],
    scaleDenominator: matrices[0]?.scaleDenominator ?? Number.NaN,
    cellSize: matrices[0]?.cellSize ?? Number.NaN,
    columns: null,
    own: { zone, numbers, matrices },
    extent: extentOfZone(numbers),
    world: zone.world,
  }
}

/**
 * Returns a zoom of a set with tiles of this size in pixels (tiles of a set's own grid have its own size); null if the set does not have this zoom.
 */
export function matrixAt(set: TileMatrixSet, zoom: number, pixels = 256): TileMatrix | null {
  if (set.own !== null) return set.own.matrices[zoom] ?? null
  if (zoom > MAX_ZOOM) return null
  const rows = 2 ** zoom
  const scale = 256 / pixels / rows
  return {
    cellSize: set.cellSize * scale,
    scaleDenominator: set.scaleDenominator * scale,
    columns: rows * (set.columns ?? 1),
    rows,
  }
}

/** True if a set has a tile at this position. The arguments are whole numbers from 0. */
export function isInSet(set: TileMatrixSet, z: number, x: number, y: number): boolean {
  const matrix = matrixAt(set, z)
  return matrix !== null && x < matrix.columns && y < matrix.rows
}

/** The rows and columns of a zoom that a set's tiles lie in. */
export interface TileMatrixLimits {
  readonly zoom: number
  readonly minRow: number
  readonly maxRow: number
  readonly minColumn: number
  readonly maxColumn: number
}

/** Fraction of a tile's width that counts as rounding: bounds that end at a tile's edge do not reach into the next tile. */
const TOUCH = 1e-9

/**
 * Returns the limits of one zoom by bounds in degrees (west greater than east: across the antimeridian, which spans every column). null: the
 * whole matrix.
 */
export function tileMatrixLimits(set: TileMatrixSet, zoom: number, bounds: Bounds | null): TileMatrixLimits {
  if (set.own !== null) return ownLimits(set, set.own, zoom, bounds)
  const rows = 2 ** zoom
  const columns = rows * (set.columns ?? 1)
  const [west, south, east, north] = bounds ?? [-180, -90, 180, 90]
  const [minColumn, maxColumn] =
    west > east ? [0, columns - 1] : between(column(west) * columns, column(east) * columns, columns)
  const [minRow, maxRow] = between(row(set, north) * rows, row(set, south) * rows, rows)
  return { zoom, minRow, maxRow, minColumn, maxColumn }
}

function ownLimits(
  { extent }: TileMatrixSet,
  { zone, numbers, matrices }: OwnMatrices,
  zoom: number,
  bounds: Bounds | null,
): TileMatrixLimits {
  const { columns = 1, rows = 1 } = matrices[zoom] ?? {}
  if (bounds === null || bounds[0] > bounds[2])
    return { zoom, minRow: 0, maxRow: rows - 1, minColumn: 0, maxColumn: columns - 1 }
  const [west, south, east, north] = zone.toMetres(cutTo(zone.world, bounds))
  const tile = tileMetres(numbers, zoom)
  const [minColumn, maxColumn] = between((west - extent[0]) / tile, (east - extent[0]) / tile, columns)
  const [minRow, maxRow] = between((extent[3] - north) / tile, (extent[3] - south) / tile, rows)
  return { zoom, minRow, maxRow, minColumn, maxColumn }
}

function cutTo([left, bottom, right, top]: Bounds, [west, south, east, north]: Bounds): Bounds {
  const within = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value))
  return [within(west, left, right), within(south, bottom, top), within(east, left, right), within(north, bottom, top)]
}

/** True if a tile intersects an area in degrees (west above east: across the antimeridian). */
export function tileTouches(
  set: TileMatrixSet,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
  area: Bounds,
): boolean {
  return touchedLimits(set, z, area).some(
    ({ minRow, maxRow, minColumn, maxColumn }) => x >= minColumn && x <= maxColumn && y >= minRow && y <= maxRow,
  )
}

/** Returns the limits of the tiles of a zoom that have a part of an area: two, if it crosses the antimeridian, or fewer. */
export function touchedLimits(
  set: TileMatrixSet,
  zoom: number,
  [west, south, east, north]: Bounds,
): readonly TileMatrixLimits[] {
  const parts: readonly Bounds[] =
    west > east
      ? [
          [west, south, 180, north],
          [-180, south, east, north],
        ]
      : [[west, south, east, north]]
  return parts
    .filter(
      // An area outside of the grid would be counted as its outermost tiles.
      (part) =>
        part[0] < part[2] &&
        part[1] < set.world[3] &&
        part[3] > set.world[1] &&
        part[0] < set.world[2] &&
        part[2] > set.world[0],
    )
    .map((part) => tileMatrixLimits(set, zoom, part))
}

/**
 * Returns an area in degrees as boxes (left, top, right, bottom) in units of a tile, where 0 and 1 are the tile's edges: also one world to the west
 * and to the east, since the margin of a tile at the antimeridian reaches there, and without an end at the poles. Returns null for a set's own grid,
 * in which an area is not a box.
 */
export function areaInTile(
  set: TileMatrixSet,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
  [west, south, east, north]: Bounds,
): [left: number, top: number, right: number, bottom: number][] | null {
  if (set.own !== null) return null
  const rows = 2 ** z
  const columns = rows * (set.columns ?? 1)
  const top = north >= set.world[3] ? Number.NEGATIVE_INFINITY : row(set, north) * rows - y
  const bottom = south <= set.world[1] ? Number.POSITIVE_INFINITY : row(set, south) * rows - y
  const right = column(west > east ? east + 360 : east) * columns - x
  const left = column(west) * columns - x
  return [-columns, 0, columns].map((world) => [left + world, top, right + world, bottom])
}

/** True if a tile with a margin, in units of a tile, is completely inside an area; false for a grid in which the area is no box. */
export function liesWithin(
  set: TileMatrixSet,
  place: { readonly z: number; readonly x: number; readonly y: number },
  area: Bounds,
  margin: number,
): boolean {
  const world = 2 ** place.z * (set.columns ?? 1)
  return (areaInTile(set, place, area) ?? []).some(
    ([left, top, right, bottom]) =>
      (right - left >= world || (left <= -margin && right >= 1 + margin)) && top <= -margin && bottom >= 1 + margin,
  )
}

/** Returns west, south, east, north of a tile, in degrees. */
export function tileBounds(
  set: TileMatrixSet,
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
): Bounds {
  if (set.own !== null) {
    const tile = tileMetres(set.own.numbers, z)
    const [left, , , top] = set.extent
    return set.own.zone.toDegrees([left + x * tile, top - (y + 1) * tile, left + (x + 1) * tile, top - y * tile])
  }
  const rows = 2 ** z
  const columns = rows * (set.columns ?? 1)
  const longitude = (column: number) => (column / columns) * 360 - 180
  return [longitude(x), latitude(set, (y + 1) / rows), longitude(x + 1), latitude(set, y / rows)]
}

function column(longitude: number): number {
  return (longitude + 180) / 360
}

/** Returns the position from 0 in the north to 1 in the south. */
function row(set: TileMatrixSet, latitude: number): number {
  if (set.columns === 2) return (90 - latitude) / 180
  const radians = (Math.max(-MERCATOR_NORTH, Math.min(MERCATOR_NORTH, latitude)) * Math.PI) / 180
  return 0.5 - Math.asinh(Math.tan(radians)) / (2 * Math.PI)
}

/** The inverse of `row`. */
function latitude(set: TileMatrixSet, row: number): number {
  if (set.columns === 2) return 90 - row * 180
  return (Math.atan(Math.sinh((0.5 - row) * 2 * Math.PI)) * 180) / Math.PI
}

function between(from: number, to: number, count: number): [number, number] {
  const first = Math.min(count - 1, Math.max(0, Math.floor(from + TOUCH)))
  const last = Math.min(count - 1, Math.max(first, Math.ceil(to - TOUCH) - 1))
  return [first, last]
}

/**
 * Returns bounds for clients without support for the antimeridian (TileJSON 3.0.0 forbids such bounds, and MapLibre requests no tile if west is
 * greater than east): a set on both sides of it gets the width of the world. null: the whole world.
 */
export function unbrokenBounds(set: TileMatrixSet, bounds: Bounds | null): Bounds {
  const [west, south, east, north] = bounds ?? set.world
  return west > east ? [-180, south, 180, north] : [west, south, east, north]
}

/** Degrees to the system's own units, easting first; latitudes beyond Web Mercator's end are cut off. */
export function inUnitsOf(set: TileMatrixSet, bounds: Bounds): Bounds {
  if (set.own !== null) return set.own.zone.toMetres(cutTo(set.world, bounds))
  const [west, south, east, north] = bounds
  if (set.columns === 2) return [west, south, east, north]
  const x = (longitude: number) => (longitude / 180) * HALF
  const y = (latitude: number) => (0.5 - row(set, latitude)) * 2 * HALF
  return [x(west), y(south), x(east), y(north)]
}
