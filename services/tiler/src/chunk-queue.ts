import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Blocks } from './blocks.js'
import { type Chunk, chunksOf } from './chunks.js'
import { openChunk, type WarpJob, warpChunk } from './warp.js'

export interface OpenedChunk {
  readonly chunk: Chunk
  readonly blocks: Blocks
}

export interface ChunkQueue {
  /** Returns the next chunk, which must be the one at (x, y) of the chunk zoom. Closes and removes the previous one. */
  next(x: number, y: number): Promise<OpenedChunk>
  close(): Promise<void>
}

/**
 * Warps the chunks one after another, except those that are `kept`. The next chunk is warped while one is encoded, so both run at the same time and at
 * most two chunks are on the disk.
 */
export function chunkQueue(job: WarpJob, kept: (chunk: Chunk) => boolean): ChunkQueue {
  const chunks = chunksOf(job.grid)
  let ahead = begin()
  let current: { name: string; opened: OpenedChunk } | null = null

  function begin() {
    let step = chunks.next()
    while (!step.done && kept(step.value)) step = chunks.next()
    if (step.done) return null
    const chunk = step.value
    const name = `chunk-${chunk.x}-${chunk.y}`
    const warped = warpChunk(job, chunk, name)
    // The await in `next` receives a failure. Until then it must not count as unhandled.
    warped.catch(() => {})
    return { chunk, name, warped }
  }

  async function drop(): Promise<void> {
    if (!current) return
    current.opened.blocks.close()
    await rm(join(job.temp, `${current.name}.tif`), { force: true })
    current = null
  }

  return {
    async next(x, y) {
      await drop()
      const started = ahead
      if (!started || started.chunk.x !== x || started.chunk.y !== y)
        throw new Error('chunks are requested out of order')
      await started.warped
      const opened = { chunk: started.chunk, blocks: openChunk(job, started.chunk, started.name) }
      current = { name: started.name, opened }
      ahead = begin()
      return opened
    },
    close: drop,
  }
}
