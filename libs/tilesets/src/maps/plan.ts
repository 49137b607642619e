import type { Bounds } from '@gateway/contracts/basemap.js'
import { codeOf } from '../gauss-krueger.js'
import { matrixAt, type TileMatrixLimits, type TileMatrixSet, touchedLimits } from '../tile-matrix-sets.js'
import { boundsIn, type Picture, type PlaneSystem, positionsOf, type TileGrid, turnsOf } from './positions.js'

/** A layer that is drawn from its tiles. */
export interface DrawnTiles {
  readonly set: TileMatrixSet
  /** pixels of a tile's side */
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  /** null for the whole grid */
  readonly bounds: Bounds | null
}

export interface PlannedTile {
  readonly x: number
  readonly y: number
  /** differs from `x` by the columns of whole turns if the picture shows the tile beyond 180 degrees */
  readonly column: number
}

/** The tiles that a picture shows of a layer. */
export interface TilePlan {
  readonly zoom: number
  readonly grid: TileGrid
  /** factor by which tiles are reduced before they are drawn: a power of two, more than 1 if even the first zoom is much finer than the picture */
  readonly shrink: number
  readonly tiles: readonly PlannedTile[]
  /** number of the tiles, which are not listed if they are more than the limit */
  readonly count: number
}

/** Part by which a zoom may be coarser than what is asked: clients round the numbers of their boxes. */
const ROUNDING = 1e-3
/** Steps of a pixel to which positions are rounded; half of one decides whether a neighbour has a weight. */
export const STEPS = 256
export const HALF_STEP = 0.5 / STEPS

/**
 * Chooses the coarsest zoom that is at least as fine as a picture, or else the deepest, and lists its tiles.
 * @param area of a token in degrees, outside of which no tile is read; null: everywhere
 * @param limit of tiles
 */
export function planTiles(picture: Picture, layer: DrawnTiles, area: Bounds | null, limit: number): TilePlan {
  const asked = finestStep(picture, layer)
  let zoom = layer.minZoom
  while (zoom < layer.maxZoom && gridAt(layer, zoom).cellSize > asked * (1 + ROUNDING)) zoom++
  const grid = gridAt(layer, zoom)
  const shrink = shrinkOf(asked / grid.cellSize, grid.tileSize)
  const seen = boxOf(picture, { ...grid, cellSize: grid.cellSize * shrink, tileSize: grid.tileSize / shrink })
  const limits = limitsOf(layer, zoom, area)
  // A set's own grid does not go round the earth.
  const columns = layer.set.own === null ? matrixAt(layer.set, zoom)!.columns : Number.NaN
  const turns = layer.set.own === null ? turnsOf(picture) : [0]
  const boxes = turns.flatMap((turn) => limits.flatMap((one) => overlap(one, turn === 0 ? 0 : turn * columns, seen)))
  const count = boxes.reduce((sum, box) => sum + (box.right - box.left + 1) * (box.bottom - box.top + 1), 0)
  return { zoom, grid, shrink, tiles: count > limit ? [] : tilesOf(boxes, columns), count }
}

function gridAt({ set, tileSize }: DrawnTiles, zoom: number): TileGrid {
  const pixels = set.own?.numbers.tileSize ?? tileSize
  const [left, , , top] = set.extent
  const cellSize = matrixAt(set, zoom, pixels)?.cellSize ?? Number.NaN
  return { system: systemOf(set), left, top, cellSize, tileSize: pixels }
}

function systemOf(set: TileMatrixSet): PlaneSystem {
  if (set.own !== null) return codeOf(set.own.numbers.crs)
  return set.columns === 2 ? 'geographic' : 'mercator'
}

/** Returns the units of the layer's system per pixel in the middle of a picture, or at the nearest place of the system; of both axes the finer. */
function finestStep(picture: Picture, layer: DrawnTiles): number {
  const { set } = layer
  const [left, , , top] = set.extent
  const grid = { system: systemOf(set), left, top, cellSize: 1, tileSize: 1 }
  const [west, south, east, north] = picture.bounds
  const world = boundsIn(picture.system, set.world)
  const x = Math.min(world[2], Math.max(world[0], (west + east) / 2))
  const y = Math.min(world[3], Math.max(world[1], (south + north) / 2))
  const [width, height] = [(east - west) / picture.width, (north - south) / picture.height]
  const around = { ...picture, bounds: [x - width, y - height, x + width, y + height] as Bounds, width: 2, height: 2 }
  const positions = positionsOf(around, grid)
  const [u, v] = [
    [new Float64Array(2), new Float64Array(2)],
    [new Float64Array(2), new Float64Array(2)],
  ] as const
  positions.row(0, u[0], v[0])
  positions.row(1, u[1], v[1])
  const at = (numbers: readonly Float64Array[], row: number, column: number) => numbers[row]?.[column] ?? Number.NaN
  const across = Math.hypot(at(u, 0, 1) - at(u, 0, 0), at(v, 0, 1) - at(v, 0, 0))
  const down = Math.hypot(at(u, 1, 0) - at(u, 0, 0), at(v, 1, 0) - at(v, 0, 0))
  const step = Math.min(across, down)
  // Outside of the system, nothing is drawn at any zoom.
  return Number.isFinite(step) && step > 0 ? step : Number.MAX_VALUE
}

/** Bilinear weights reach the next pixel only, so that a picture less than half as fine needs a reduced tile. */
function shrinkOf(ratio: number, tileSize: number): number {
  let shrink = 1
  while (shrink * 2 <= ratio * (1 + ROUNDING) && tileSize % (shrink * 2) === 0) shrink *= 2
  return shrink
}

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Returns the columns and rows of tiles that a picture needs. */
function boxOf(picture: Picture, grid: TileGrid): Box {
  const [left, top, right, bottom] = positionsOf(picture, grid).box
  const first = (at: number) => Math.floor(Math.floor(at + HALF_STEP) / grid.tileSize)
  const last = (at: number) => Math.floor(Math.ceil(at - HALF_STEP) / grid.tileSize)
  return { left: first(left), top: first(top), right: last(right), bottom: last(bottom) }
}

function limitsOf({ set, bounds }: DrawnTiles, zoom: number, area: Bounds | null): readonly TileMatrixLimits[] {
  const own = touchedLimits(set, zoom, bounds ?? set.world)
  const ofArea = area === null ? null : touchedLimits(set, zoom, area)
  if (ofArea === null) return own
  return own.flatMap((one) =>
    ofArea.flatMap((other) => {
      const common = {
        zoom,
        minColumn: Math.max(one.minColumn, other.minColumn),
        maxColumn: Math.min(one.maxColumn, other.maxColumn),
        minRow: Math.max(one.minRow, other.minRow),
        maxRow: Math.min(one.maxRow, other.maxRow),
      }
      return common.minColumn <= common.maxColumn && common.minRow <= common.maxRow ? [common] : []
    }),
  )
}

function overlap({ minColumn, maxColumn, minRow, maxRow }: TileMatrixLimits, shift: number, seen: Box): Box[] {
  const box = {
    left: Math.max(minColumn + shift, seen.left),
    right: Math.min(maxColumn + shift, seen.right),
    top: Math.max(minRow, seen.top),
    bottom: Math.min(maxRow, seen.bottom),
  }
  return box.left <= box.right && box.top <= box.bottom ? [box] : []
}

function tilesOf(boxes: readonly Box[], columns: number): PlannedTile[] {
  const tiles = new Map<string, PlannedTile>()
  for (const { left, right, top, bottom } of boxes) {
    for (let y = top; y <= bottom; y++) {
      for (let column = left; column <= right; column++) {
        const x = Number.isNaN(columns) ? column : ((column % columns) + columns) % columns
        tiles.set(`${column}/${y}`, { x, y, column })
      }
    }
  }
  return [...tiles.values()]
}
