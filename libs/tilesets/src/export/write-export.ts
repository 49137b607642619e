import { statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import type { ExportFormat } from '@gateway/contracts/export.js'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import type { WrittenArchive } from '../pmtiles/writer.js'
import { TILE_MATRIX_SETS, unbrokenBounds } from '../tile-matrix-sets.js'
import { type Area, sharedBounds } from './area.js'
import { writeArchiveAs } from './formats.js'
import { type StoredSet, type StoredTiles, storedTiles, writtenEncoding } from './stored-tiles.js'

export interface ExportTask {
  readonly set: StoredSet
  readonly area: Area
  /** bounds of the whole set; null: unknown */
  readonly bounds: Bounds | null
  /** the JSON metadata of the archive */
  readonly metadata: Readonly<Record<string, unknown>>
  /** format of the archive; default: PMTiles */
  readonly archiveFormat?: ExportFormat
  /** pixels of a tile's side; default: 256 */
  readonly tileSize?: number
  /** absolute path; its folder must exist */
  readonly file: string
  /** maximum bytes of the archive */
  readonly maxBytes: number
}

/** Bytes of the disk that stay free for other writers. */
const RESERVED_BYTES = 256 * 1024 * 1024

/** A task that cannot be done, for a reason that its owner can remove. */
export class ExportRefused extends CodedError {
  override readonly name = 'ExportRefused'
}

/**
 * Writes a set, or a part of it, as an archive, completely or not at all.
 * @param onShare called with the completed share in thousandths, whenever it increases
 */
export async function writeExport(task: ExportTask, onShare: (thousandths: number) => void): Promise<WrittenArchive> {
  const { set, area } = task
  const stored = await storedTiles(set, area)
  if (stored === null) throw new ExportRefused(coded('export_no_files'))
  try {
    if (stored.count === 0) throw new ExportRefused(coded('export_nothing_there'))
    return await writeTilesAs(task, stored, onShare)
  } finally {
    stored.close()
  }
}

/**
 * Writes tiles as the archive of a task, within its limits.
 * @param zooms see `WritingLimits`
 */
export function writeTilesAs(
  { set, area, bounds: known, metadata, archiveFormat = 'pmtiles', tileSize = 256, file, maxBytes }: ExportTask,
  { tiles, count }: Pick<StoredTiles, 'tiles' | 'count'>,
  onShare: (thousandths: number) => void,
  zooms?: () => readonly [number, number],
): Promise<WrittenArchive> {
  const bounds = unbrokenBounds(TILE_MATRIX_SETS.WebMercatorQuad, sharedBounds(area.bounds, known))
  const description = { format: set.format, encoding: writtenEncoding(set.format), bounds, metadata, tileSize }
  return writeArchiveAs(archiveFormat, file, counted(tiles, count, onShare), description, {
    expected: count,
    onBytes: async (bytes) => {
      if (bytes > maxBytes) throw new ExportRefused(coded('export_over_limit', { limit: megabytes(maxBytes) }))
      const { bavail, bsize } = await statfs(path.dirname(file))
      if (bavail * bsize < RESERVED_BYTES) throw new ExportRefused(coded('export_disk_room'))
    },
    ...(zooms !== undefined && { zooms }),
  })
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
