import type { ChunkQueue, OpenedChunk } from './chunk-queue.js'
import type { TileReader } from './layer.js'
import type { PixelModel } from './pixel-model.js'
import type { Children, Pixels } from './pixels.js'
import { childTiles, type Grid, rectsWithin, rootTiles, type TileRect } from './plan.js'
import type { TileWriter } from './tile-writer.js'

export interface PyramidJob {
  readonly grid: Grid
  readonly model: PixelModel
  readonly chunks: ChunkQueue
  readonly writer: TileWriter
  /** tiles of the layer to merge into; `null` for a new layer */
  readonly existing: TileReader | null
  /** called for every finished block of the deepest zoom */
  readonly onBlock: () => void
}

/**
 * Makes all tiles, children before their parents, and passes them to the writer. Memory is bounded by the depth: each
 * level holds at most four tiles.
 */
export async function buildPyramid(job: PyramidJob): Promise<number> {
  const pyramid = new Pyramid(job)
  for (const [x, y] of rootTiles(job.grid.space)) await pyramid.build(job.grid.rects, 0, x, y)
  return job.writer.finish()
}

class Pyramid {
  private readonly job: PyramidJob
  private chunk: OpenedChunk | null = null

  constructor(job: PyramidJob) {
    this.job = job
  }

  /** Returns the finished pixels of a tile; `null` if no source reaches it or its zoom is not requested. */
  async build(rects: readonly TileRect[], zoom: number, x: number, y: number): Promise<Pixels | null> {
    const { grid, chunks, writer } = this.job
    const within = rectsWithin(grid, rects, zoom, x, y)
    if (within.length === 0) return null
    if (zoom === grid.chunkZoom) this.chunk = await chunks.next(x, y)
    const pixels = zoom === grid.warpZoom ? this.block(x, y) : await this.parent(within, zoom, x, y)
    if (!pixels || zoom > grid.zoomMax) return pixels
    const merged = await this.merge(pixels, zoom, x, y)
    await writer.write(zoom, x, y, merged)
    return merged
  }

  private block(x: number, y: number): Pixels | null {
    const { chunk, blocks } = this.chunk!
    const data = blocks.read(x - chunk.rect.x0, y - chunk.rect.y0)
    this.job.onBlock()
    if (!data) return null
    const pixels = this.job.model.fromBlock(data)
    return pixels.alpha === 'empty' ? null : pixels
  }

  private async parent(rects: readonly TileRect[], zoom: number, x: number, y: number): Promise<Pixels | null> {
    const { grid, existing } = this.job
    const positions = childTiles(x, y)
    const children: (Pixels | null)[] = []
    for (const [childX, childY] of positions) children.push(await this.build(rects, zoom + 1, childX, childY))
    if (zoom < grid.zoomMin || children.every((child) => child === null)) return null
    if (existing && zoom < grid.zoomMax) {
      // Children that this run does not touch are in the layer already, and the parent shows them too.
      for (const [index, [childX, childY]] of positions.entries()) {
        children[index] ??= await existing(zoom + 1, childX, childY)
      }
    }
    return this.job.model.parentOf(children as unknown as Children, grid.tileSize)
  }

  private async merge(pixels: Pixels, zoom: number, x: number, y: number): Promise<Pixels> {
    if (pixels.alpha === 'opaque' || !this.job.existing) return pixels
    const below = await this.job.existing(zoom, x, y)
    return below ? this.job.model.merge(pixels, below) : pixels
  }
}
