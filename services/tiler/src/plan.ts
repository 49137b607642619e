import { MAX_ZOOM, type RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import type { Placement } from './footprint.js'
import { resolutionOf, type TileSpace } from './space.js'

/** Tile columns and rows at one zoom, both ends included, with the placement that covers them. */
export interface TileRect {
  readonly x0: number
  readonly x1: number
  readonly y0: number
  readonly y1: number
  readonly placement: number
}

/** The content to tile, and the grid of its tiles. */
export interface Grid {
  readonly space: TileSpace
  readonly zoomMin: number
  readonly zoomMax: number
  /** zoom that sources are warped to: `zoomMax`, or deeper if a source is hardly a pixel wide at `zoomMax` */
  readonly warpZoom: number
  /** zoom whose tiles contain one warp's worth of `warpZoom` pixels */
  readonly chunkZoom: number
  readonly tileSize: number
  /** at `warpZoom` */
  readonly rects: readonly TileRect[]
}

/**
 * Pixels of a chunk's side. A chunk takes at most 4096² × 4 bytes = 64 MiB of scratch space, two of them are in use at a
 * time, and starting a warp costs little compared with warping 16 megapixels.
 */
const CHUNK_PIXELS = 4096

/** Tolerance in tiles (0.03 pixels) within which a tile edge equals a source's edge. */
const EDGE_TOLERANCE = 1e-4

/** Minimum pixels across. A smaller source may fall between the pixel centres of a warp. */
const MIN_PIXELS_ACROSS = 16

/** Maximum number of blocks at the deeper zoom for small sources. More would cost too much. */
const MAX_DEEPER_BLOCKS = 4096

/** Bytes per pixel of an average photographic tile, rounded up from aerial imagery; plus 4096 for the file itself. */
const BYTES_PER_PIXEL: Record<RealTileFormat, number> = { webp: 0.25, avif: 0.2, png: 1.6 }
/** Bytes per pixel of elevations, whose lowest bits are noise. They are stored without loss. */
const BYTES_PER_HEIGHT = 2.2
const FILE_OVERHEAD = 4096

export interface ZoomRange {
  readonly space: TileSpace
  readonly zoomMin: number
  readonly zoomMax: number
  readonly tileSize: number
}

export function gridOf(placements: readonly Placement[], shortestSide: number, range: ZoomRange): Grid {
  let warpZoom = range.zoomMax
  const tooSmall = (zoom: number) => shortestSide / resolutionOf(range.space, zoom, range.tileSize) < MIN_PIXELS_ACROSS
  while (warpZoom < MAX_ZOOM && tooSmall(warpZoom)) {
    if (countAt(rectsAt(range.space, placements, warpZoom + 1)) > MAX_DEEPER_BLOCKS) break
    warpZoom++
  }
  const levels = Math.log2(CHUNK_PIXELS / range.tileSize)
  return {
    ...range,
    warpZoom,
    chunkZoom: Math.max(0, warpZoom - levels),
    rects: rectsAt(range.space, placements, warpZoom),
  }
}

function rectsAt({ extent, columns, tileSpan }: TileSpace, placements: readonly Placement[], zoom: number): TileRect[] {
  const rows = 2 ** zoom
  const tile = tileSpan / rows
  const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value))
  const first = (distance: number, count: number) => clamp(Math.floor(distance / tile + EDGE_TOLERANCE), count)
  const last = (distance: number, count: number) => clamp(Math.ceil(distance / tile - EDGE_TOLERANCE) - 1, count)
  return placements.map(({ box }, placement) => {
    const x0 = first(box.west - extent.west, rows * columns)
    const y0 = first(extent.north - box.north, rows)
    const x1 = Math.max(x0, last(box.east - extent.west, rows * columns))
    const y1 = Math.max(y0, last(extent.north - box.south, rows))
    return { x0, x1, y0, y1, placement }
  })
}

/** Returns an upper bound of the number of tiles: overlaps are counted once for each rectangle, but never more than the box around all. */
function countAt(rects: readonly Omit<TileRect, 'placement'>[]): number {
  let sum = 0
  for (const rect of rects) sum += (rect.x1 - rect.x0 + 1) * (rect.y1 - rect.y0 + 1)
  const around = boxAround(rects)
  return Math.min(sum, (around.x1 - around.x0 + 1) * (around.y1 - around.y0 + 1))
}

/** Returns the smallest rectangle around all. */
export function boxAround(rects: readonly Omit<TileRect, 'placement'>[]): Omit<TileRect, 'placement'> {
  const box = { x0: Number.POSITIVE_INFINITY, x1: 0, y0: Number.POSITIVE_INFINITY, y1: 0 }
  for (const rect of rects) {
    box.x0 = Math.min(box.x0, rect.x0)
    box.x1 = Math.max(box.x1, rect.x1)
    box.y0 = Math.min(box.y0, rect.y0)
    box.y1 = Math.max(box.y1, rect.y1)
  }
  return box
}

/** Returns the tiles of a rectangle at a zoom that is `levels` lower. */
function outward(rect: TileRect, levels: number): TileRect {
  const scale = 2 ** levels
  return {
    x0: Math.floor(rect.x0 / scale),
    x1: Math.floor(rect.x1 / scale),
    y0: Math.floor(rect.y0 / scale),
    y1: Math.floor(rect.y1 / scale),
    placement: rect.placement,
  }
}

/** Returns an upper bound of the number of tiles of all zooms. */
export function countTiles(grid: Grid): number {
  let tiles = 0
  for (let zoom = grid.zoomMin; zoom <= grid.zoomMax; zoom++) {
    tiles += countAt(grid.rects.map((rect) => outward(rect, grid.warpZoom - zoom)))
  }
  return tiles
}

/** Returns the estimated bytes on disk of so many tiles. */
export function estimateBytes(tiles: number, content: RealTileFormat | 'heights', tileSize: number): number {
  const perPixel = content === 'heights' ? BYTES_PER_HEIGHT : BYTES_PER_PIXEL[content]
  return Math.ceil(tiles * (tileSize * tileSize * perPixel + FILE_OVERHEAD))
}

/** Returns the bytes of scratch space in use at one time: for the chunk being encoded and the one being warped. */
export function estimateTempBytes(grid: Grid): number {
  const around = boxAround(grid.rects)
  const side = CHUNK_PIXELS / grid.tileSize
  const across = Math.min(side, around.x1 - around.x0 + 1)
  const down = Math.min(side, around.y1 - around.y0 + 1)
  return 2 * across * down * grid.tileSize * grid.tileSize * 4
}

/** Returns the rectangles that touch tile (zoom, x, y), where `zoom` is at most `warpZoom`. */
export function rectsWithin(
  grid: Grid,
  rects: readonly TileRect[],
  zoom: number,
  x: number,
  y: number,
): readonly TileRect[] {
  const scale = 2 ** (grid.warpZoom - zoom)
  const left = x * scale
  const top = y * scale
  return rects.filter((rect) => rect.x0 < left + scale && rect.x1 >= left && rect.y0 < top + scale && rect.y1 >= top)
}

/** Returns the tiles of zoom 0, where walks begin. */
export function rootTiles({ columns }: TileSpace): readonly (readonly [number, number])[] {
  return Array.from({ length: columns }, (_, x) => [x, 0] as const)
}

/** Returns the four children of a tile, in the order of `Children` in pixels.ts. */
export function childTiles(x: number, y: number): readonly (readonly [number, number])[] {
  return [
    [2 * x, 2 * y],
    [2 * x + 1, 2 * y],
    [2 * x, 2 * y + 1],
    [2 * x + 1, 2 * y + 1],
  ]
}
