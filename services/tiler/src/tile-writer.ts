import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import type { PixelModel } from './pixel-model.js'
import type { Pixels } from './pixels.js'

export interface TileWriter {
  /** Resolves when there is room for the next tile, not when this one is written. Rejects if an earlier one failed. */
  write(zoom: number, x: number, y: number, pixels: Pixels): Promise<void>
  /** Resolves with the number of tiles when all are written. */
  finish(): Promise<number>
}

/** Number of tiles that are encoded at a time: one for each core, and one ready to follow. */
const IN_FLIGHT = 2 * availableParallelism()

/** Encodes tiles and writes them as `{folder}/{z}/{x}/{y}.{format}`, a limited number at a time, which bounds the memory. */
export function tileWriter(folder: string, format: RealTileFormat, tileSize: number, model: PixelModel): TileWriter {
  const columns = new Set<string>()
  const pending = new Set<Promise<void>>()
  let failure: { error: unknown } | null = null
  let written = 0

  async function store(zoom: number, x: number, y: number, pixels: Pixels): Promise<void> {
    const column = join(folder, String(zoom), String(x))
    const content = await model.encode(pixels, tileSize, format)
    if (!columns.has(column)) {
      await mkdir(column, { recursive: true })
      columns.add(column)
    }
    // Nobody reads the staging folder, so a tile needs no temporary name.
    await writeFile(join(column, `${y}.${format}`), content, { flag: 'wx' })
    written++
  }

  return {
    async write(zoom, x, y, pixels) {
      while (pending.size >= IN_FLIGHT) await Promise.race(pending)
      if (failure) throw failure.error
      const job: Promise<void> = store(zoom, x, y, pixels)
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => pending.delete(job))
      pending.add(job)
    },
    async finish() {
      await Promise.all(pending)
      if (failure) throw failure.error
      return written
    },
  }
}
