import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { RealTileFormat } from '@gateway/contracts/tiling/protocol.js'
import type { PixelModel } from './pixel-model.js'
import type { Pixels } from './pixels.js'

export interface WrittenTile {
  /** `{z}/{x}/{y}.{format}` */
  readonly name: string
  readonly bytes: number
  readonly digest: string
}

export function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}

export interface TileWriter {
  /** Resolves when there is room for the next tile, not when this one is written. Rejects if an earlier one failed. */
  write(zoom: number, x: number, y: number, pixels: Pixels): Promise<void>
  /** Resolves when all are written, with those since the last call. */
  settle(): Promise<readonly WrittenTile[]>
}

/** Number of tiles that are encoded at a time: one for each core, and one ready to follow. */
const IN_FLIGHT = 2 * availableParallelism()

export interface StagedTiles {
  readonly folder: string
  readonly format: RealTileFormat
  readonly tileSize: number
  /** An earlier run may have left tiles, torn ones among them. */
  readonly isResumed: boolean
}

/** Encodes tiles and writes them as `{folder}/{z}/{x}/{y}.{format}`, some at a time so that memory is bounded. */
export function tileWriter({ folder, format, tileSize, isResumed }: StagedTiles, model: PixelModel): TileWriter {
  const columns = new Set<string>()
  const pending = new Set<Promise<void>>()
  let failure: { error: unknown } | null = null
  let written: WrittenTile[] = []

  async function store(zoom: number, x: number, y: number, pixels: Pixels): Promise<void> {
    const column = join(folder, String(zoom), String(x))
    const content = await model.encode(pixels, tileSize, format)
    if (!columns.has(column)) {
      await mkdir(column, { recursive: true })
      columns.add(column)
    }
    const file = join(column, `${y}.${format}`)
    // A process that ended late may still hold the file that it left open: it is not written into.
    if (isResumed) await rm(file, { force: true })
    // Nobody reads the staging folder, so a tile needs no temporary name before it is published.
    await writeFile(file, content, { flag: 'wx' })
    written.push({
      name: `${zoom}/${x}/${y}.${format}`,
      bytes: content.length,
      digest: digestOf(content),
    })
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
    async settle() {
      await Promise.all(pending)
      if (failure) throw failure.error
      const settled = written
      written = []
      return settled
    },
  }
}
