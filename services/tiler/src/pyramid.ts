import type { ChunkQueue, OpenedChunk } from './chunk-queue.js'
import { blocksIn, croppedChunk } from './chunks.js'
import type { TileReader } from './layer.js'
import type { PixelModel } from './pixel-model.js'
import type { Children, Pixels } from './pixels.js'
import { childTiles, type Grid, rectsWithin, rootTiles, type TileRect } from './plan.js'
import type { Resume } from './resume.js'
import type { TileWriter } from './tile-writer.js'

export interface PyramidJob {
  readonly grid: Grid
  readonly model: PixelModel
  readonly chunks: ChunkQueue
  readonly writer: TileWriter
  /** tiles of the layer to merge into; `null` for a new layer */
  readonly existing: TileReader | null
  /** Chunks that an earlier run finished, and the record of this run's chunks; null if this run cannot be resumed. */
  readonly resume: Resume | null
  /** Called with the number of processed blocks of the deepest zoom. */
  readonly onBlocks: (count: number) => void
}

/**
 * Makes all tiles, children before their parents, and passes them to the writer. The depth limits the memory: each level holds at most four tiles.
 * Returns the number of tiles.
 */
export async function buildPyramid(job: PyramidJob): Promise<number> {
  const pyramid = new Pyramid(job)
  for (const [x, y] of rootTiles(job.grid.space)) await pyramid.build(job.grid.rects, 0, x, y)
  return pyramid.written + (await job.writer.settle()).length
}

class Pyramid {
  private readonly job: PyramidJob
  private chunk: OpenedChunk | null = null
  /** Tiles of finished chunks, and those above them that were written before. */
  written = 0

  constructor(job: PyramidJob) {
    this.job = job
  }

  /** Returns the finished pixels of a tile; `null` if no source reaches it or its zoom is not requested. */
  async build(rects: readonly TileRect[], zoom: number, x: number, y: number): Promise<Pixels | null> {
    const { grid } = this.job
    const within = rectsWithin(grid, rects, zoom, x, y)
    if (within.length === 0) return null
    if (zoom === grid.chunkZoom) return this.chunkTile(within, x, y)
    return this.tile(within, zoom, x, y)
  }

  /** The tile that a chunk becomes: made, or as an earlier run left it. */
  private async chunkTile(within: readonly TileRect[], x: number, y: number): Promise<Pixels | null> {
    const { grid, chunks, resume, writer, onBlocks } = this.job
    if (resume?.has({ x, y })) {
      const kept = await resume.read({ x, y })
      this.written += kept.tiles
      onBlocks(blocksIn(croppedChunk(grid, within, x, y)))
      return kept.pixels
    }
    this.written += (await writer.settle()).length
    this.chunk = await chunks.next(x, y)
    const pixels = await this.tile(within, grid.chunkZoom, x, y)
    const tiles = await writer.settle()
    this.written += tiles.length
    await resume?.keep({ x, y }, tiles, grid.zoomMin < grid.chunkZoom ? pixels : null)
    return pixels
  }

  private async tile(within: readonly TileRect[], zoom: number, x: number, y: number): Promise<Pixels | null> {
    const { grid, writer } = this.job
    const pixels = zoom === grid.warpZoom ? this.block(x, y) : await this.parent(within, zoom, x, y)
    if (!pixels || zoom > grid.zoomMax) return pixels
    const merged = await this.merge(pixels, zoom, x, y)
    await writer.write(zoom, x, y, merged)
    return merged
  }

  private block(x: number, y: number): Pixels | null {
    const { chunk, blocks } = this.chunk!
    const data = blocks.read(x - chunk.rect.x0, y - chunk.rect.y0)
    this.job.onBlocks(1)
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
    return this.job.model.downsample(children as unknown as Children, grid.tileSize)
  }

  private async merge(pixels: Pixels, zoom: number, x: number, y: number): Promise<Pixels> {
    if (pixels.alpha === 'opaque' || !this.job.existing) return pixels
    const below = await this.job.existing(zoom, x, y)
    return below ? this.job.model.merge(pixels, below) : pixels
  }
}
