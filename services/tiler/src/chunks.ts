import { boxAround, childTiles, type Grid, rectsWithin, rootTiles, type TileRect } from './plan.js'

/** A piece of the deepest zoom that is warped at once, cropped to the area of the sources. */
export interface Chunk {
  readonly x: number
  readonly y: number
  readonly rect: Omit<TileRect, 'placement'>
  /** placements that touch it, in drawing order */
  readonly placements: readonly number[]
}

/** Yields all chunks, in the order in which a depth-first walk of the tile pyramid needs them. */
export function* chunksOf(grid: Grid): Generator<Chunk> {
  for (const [x, y] of rootTiles(grid.space)) yield* walk(grid, grid.rects, 0, x, y)
}

function* walk(grid: Grid, rects: readonly TileRect[], zoom: number, x: number, y: number): Generator<Chunk> {
  const within = rectsWithin(grid, rects, zoom, x, y)
  if (within.length === 0) return
  if (zoom === grid.chunkZoom) {
    yield croppedChunk(grid, within, x, y)
    return
  }
  for (const [childX, childY] of childTiles(x, y)) yield* walk(grid, within, zoom + 1, childX, childY)
}

/** Tiles of the deepest zoom, that is blocks of a warp. */
export function blocksIn({ rect }: Chunk): number {
  return (rect.x1 - rect.x0 + 1) * (rect.y1 - rect.y0 + 1)
}

/** @param within the rectangles that touch the chunk */
export function croppedChunk(grid: Grid, within: readonly TileRect[], x: number, y: number): Chunk {
  const scale = 2 ** (grid.warpZoom - grid.chunkZoom)
  const around = boxAround(within)
  return {
    x,
    y,
    rect: {
      x0: Math.max(around.x0, x * scale),
      x1: Math.min(around.x1, (x + 1) * scale - 1),
      y0: Math.max(around.y0, y * scale),
      y1: Math.min(around.y1, (y + 1) * scale - 1),
    },
    placements: within.map((rect) => rect.placement),
  }
}
