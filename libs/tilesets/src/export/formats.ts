import { stat } from 'node:fs/promises'
import type { ExportFormat } from '@gateway/contracts/export.js'
import { tileIdToZxy } from 'pmtiles'
import { writeTpkx } from '../esri/writer.js'
import { writeGeopackage } from '../geopackage/writer.js'
import { writeMbtiles } from '../mbtiles/writer.js'
import { type NumberedTile, type WritingLimits, type WrittenArchive, writeSortedPmtiles } from '../pmtiles/writer.js'
import type { ArchiveDescription, TileToWrite } from '../tile-to-write.js'

/** Number of bytes between two calls of `onBytes`. */
const REPORT_BYTES = 16 * 1024 * 1024

/**
 * Writes tiles in ascending order of their PMTiles numbers as an archive of a format. When this resolves, the archive has its name; if it throws,
 * nothing is left. Only PMTiles has runs: in other formats each address has a separate tile.
 */
export async function writeArchiveAs(
  format: ExportFormat,
  file: string,
  tiles: AsyncIterable<NumberedTile>,
  description: ArchiveDescription,
  limits: WritingLimits,
): Promise<WrittenArchive> {
  if (format === 'pmtiles') return writeSortedPmtiles(file, tiles, description, limits)
  const counts = new Counts(limits.onBytes)
  const placed = counts.counted(tiles)
  if (format === 'mbtiles') await writeMbtiles(file, placed, mbtilesDescription(description))
  else if (format === 'gpkg') await writeGeopackage(file, placed, description)
  else await writeTpkx(file, placed, description)
  const { size } = await stat(file)
  await limits.onBytes?.(size)
  const { tiles: count, minZoom, maxZoom } = counts
  return { tiles: count, contents: count, bytes: size, minZoom, maxZoom }
}

/** Counts tiles as they pass, one address after the other. */
class Counts {
  readonly #onBytes: WritingLimits['onBytes']
  tiles = 0
  minZoom = Number.POSITIVE_INFINITY
  maxZoom = -1

  constructor(onBytes: WritingLimits['onBytes']) {
    this.#onBytes = onBytes
  }

  async *counted(tiles: AsyncIterable<NumberedTile>): AsyncGenerator<TileToWrite> {
    let bytes = 0
    let reported = 0
    for await (const { tileId, runLength = 1, data } of tiles) {
      for (let id = tileId; id < tileId + runLength; id++) {
        const [z, x, y] = tileIdToZxy(id)
        this.tiles++
        this.minZoom = Math.min(this.minZoom, z)
        this.maxZoom = Math.max(this.maxZoom, z)
        bytes += data.length
        yield { z, x, y, data }
        if (this.#onBytes === undefined || bytes - reported < REPORT_BYTES) continue
        reported = bytes
        await this.#onBytes(bytes)
      }
    }
  }
}

/** MBTiles 1.3: texts in rows, the vector layers in the row `json`. */
function mbtilesDescription({ format, bounds, metadata }: ArchiveDescription) {
  const { name, vector_layers, center, ...other } = metadata
  const texts = Object.entries(other).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return {
    name: typeof name === 'string' ? name : '',
    format,
    bounds,
    metadata: {
      ...Object.fromEntries(texts),
      ...(Array.isArray(center) && { center: center.join() }),
      ...(vector_layers !== undefined && { json: JSON.stringify({ vector_layers }) }),
    },
  }
}
