import { statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import type { ExportFormat } from '@gateway/contracts/export.js'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { tileIdToZxy } from 'pmtiles'
import { extentOf, type ZoomExtent } from '../folder/extent.js'
import type { NumberedTile, WrittenArchive } from '../pmtiles/writer.js'
import type { StoredSet } from '../source.js'
import { TILE_MATRIX_SETS, unbrokenBounds } from '../tile-matrix-sets.js'
import { type Area, sharedBounds } from './area.js'
import { writeArchiveAs } from './formats.js'
import { type StoredTiles, storedTiles, writtenEncoding } from './stored-tiles.js'

export interface ExportTask {
  readonly set: StoredSet
  readonly area: Area
  /** bounds of the whole set; null: unknown */
  readonly bounds: Bounds | null
  /** true: the archive has the bounds of its tiles, of PMTiles only. Default: those of the set, within the area */
  readonly hasOwnBounds?: boolean
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
  {
    set,
    area,
    bounds: known,
    hasOwnBounds,
    metadata,
    archiveFormat = 'pmtiles',
    tileSize = 256,
    file,
    maxBytes,
  }: ExportTask,
  { tiles, count }: Pick<StoredTiles, 'tiles' | 'count'>,
  onShare: (thousandths: number) => void,
  zooms?: () => readonly [number, number],
): Promise<WrittenArchive> {
  const said = unbrokenBounds(TILE_MATRIX_SETS.WebMercatorQuad, sharedBounds(area.bounds, known))
  const extents = hasOwnBounds ? new TileExtents() : null
  const description = {
    format: set.format,
    encoding: writtenEncoding(set.format),
    // The writer of PMTiles reads it when all tiles are written.
    get bounds() {
      return extents?.bounds ?? said
    },
    metadata,
    tileSize,
  }
  const written = extents === null ? tiles : extents.noting(tiles)
  return writeArchiveAs(archiveFormat, file, counted(written, count, onShare), description, {
    expected: count,
    onBytes: async (bytes) => {
      if (bytes > maxBytes) throw new ExportRefused(coded('export_over_limit', { limit: megabytes(maxBytes) }))
      const { bavail, bsize } = await statfs(path.dirname(file))
      if (bavail * bsize < RESERVED_BYTES) throw new ExportRefused(coded('export_disk_room'))
    },
    ...(zooms !== undefined && { zooms }),
  })
}

/** Collects the extents of tiles that come in ascending order of their numbers. */
class TileExtents {
  readonly #zooms: { -readonly [Field in keyof ZoomExtent]: ZoomExtent[Field] }[] = []

  get bounds(): Bounds | null {
    return extentOf(this.#zooms, 'xyz', { tileMatrixSet: 'WebMercatorQuad' })
  }

  async *noting(tiles: AsyncIterable<NumberedTile>): AsyncGenerator<NumberedTile> {
    for await (const tile of tiles) {
      yield tile
      for (let id = tile.tileId; id < tile.tileId + (tile.runLength ?? 1); id++) this.#note(...tileIdToZxy(id))
    }
  }

  #note(z: number, x: number, y: number): void {
    let zoom = this.#zooms.at(-1)
    if (zoom?.z !== z) {
      zoom = { z, complete: true, minColumn: x, maxColumn: x, minRow: y, maxRow: y }
      this.#zooms.push(zoom)
    }
    zoom.minColumn = Math.min(zoom.minColumn, x)
    zoom.maxColumn = Math.max(zoom.maxColumn, x)
    zoom.minRow = Math.min(zoom.minRow, y)
    zoom.maxRow = Math.max(zoom.maxRow, y)
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
