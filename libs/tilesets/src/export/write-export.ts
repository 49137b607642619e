import { statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { type WrittenArchive, writeSortedPmtiles } from '../pmtiles/writer.js'
import { TILE_MATRIX_SETS, unbrokenBounds } from '../tile-matrix-sets.js'
import { type Area, sharedBounds } from './area.js'
import { type StoredSet, storedTiles, writtenEncoding } from './stored-tiles.js'

export interface ExportTask {
  readonly set: StoredSet
  readonly area: Area
  /** of the whole set; null: unknown */
  readonly bounds: Bounds | null
  /** the JSON metadata of the archive */
  readonly metadata: Readonly<Record<string, unknown>>
  /** absolute; its folder must exist */
  readonly file: string
  /** limit: bytes of the archive */
  readonly maxBytes: number
}

/** Left free on the disk, since others write there, too. Bytes. */
const RESERVED_BYTES = 256 * 1024 * 1024

/** A task that cannot be done, for a reason that its owner can do something about. */
export class ExportRefused extends CodedError {
  override readonly name = 'ExportRefused'
}

/**
 * Writes a set, or a part of it, as a PMTiles 3 archive, whole or not at all.
 * @param onShare called with the share that is done, in thousandths, whenever it grows
 */
export async function writeExport(task: ExportTask, onShare: (thousandths: number) => void): Promise<WrittenArchive> {
  const { set, area, file, maxBytes } = task
  const stored = await storedTiles(set, area)
  if (stored === null) throw new ExportRefused(coded('export_no_files'))
  try {
    if (stored.count === 0) throw new ExportRefused(coded('export_nothing_there'))
    const bounds = unbrokenBounds(TILE_MATRIX_SETS.WebMercatorQuad, sharedBounds(area.bounds, task.bounds))
    const description = { format: set.format, encoding: writtenEncoding(set.format), bounds, metadata: task.metadata }
    return await writeSortedPmtiles(file, counted(stored.tiles, stored.count, onShare), description, {
      expected: stored.count,
      onBytes: async (bytes) => {
        if (bytes > maxBytes) throw new ExportRefused(coded('export_over_limit', { limit: megabytes(maxBytes) }))
        const { bavail, bsize } = await statfs(path.dirname(file))
        if (bavail * bsize < RESERVED_BYTES) throw new ExportRefused(coded('export_disk_room'))
      },
    })
  } finally {
    stored.close()
  }
}

async function* counted<T extends { readonly runLength?: number }>(
  tiles: AsyncIterable<T>,
  count: number,
  onShare: (thousandths: number) => void,
): AsyncGenerator<T> {
  let done = 0
  let told = 0
  for await (const tile of tiles) {
    yield tile
    done += tile.runLength ?? 1
    const share = Math.floor((1000 * done) / count)
    if (share > told) {
      told = share
      onShare(share)
    }
  }
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1e6)
}
