import type { TileFormat } from '@gateway/contracts/basemap.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { sniffFormat } from '../formats.js'
import { NO_METADATA, readMetadata, servedGrid } from '../metadata/metadata.js'
import { nothingToProbe } from '../nothing-to-probe.js'
import { examineSample } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { type OpenedDatabase, openDatabase } from './database.js'
import { findZooms, readMetadataTable } from './queries.js'

/** Looks at an MBTiles archive: metadata table and one tile of each zoom. null: nothing to open, or no tile in it. */
export function probeMbtiles(root: string, file: string): TileSetProbe | null {
  const opened = openDatabase(root, file)
  if (!opened.ok) return nothingToProbe(opened)
  try {
    return describe(opened)
  } finally {
    opened.database.close()
  }
}

function describe({ database, size, identity }: OpenedDatabase): TileSetProbe | null {
  const { zooms, sample } = findZooms(database, size)
  if (sample === null) return null
  const table = readMetadataTable(database)
  const metadata = table === null ? NO_METADATA : readMetadata(table)
  const tileMatrixSet = servedGrid(metadata)
  const format = metadata.format ?? sniffed(sample, table?.format)
  const examined = examineSample(format, sample)
  const zoom = zoomRange(metadata, { minZoom: zooms[0]!, maxZoom: zooms.at(-1)! })
  const missing = table === null ? ['there is no usable metadata table'] : []
  return {
    storage: 'mbtiles',
    format,
    tileSize: examined.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: metadata.bounds,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet,
    metadata: metadata.other,
    extension: format,
    encoding: examined.encoding,
    fingerprint: identity,
    warnings: [...missing, ...metadata.warnings, ...zoom.warnings, ...examined.warnings],
  }
}

function sniffed(sample: Uint8Array, said: unknown): TileFormat {
  const format = sniffFormat(sample)
  if (format !== null) return format
  if (typeof said === 'string' && said !== '') {
    throw new BrokenArchiveError(`tiles of the format ${JSON.stringify(said.slice(0, MAX_SAID))} are not supported`)
  }
  throw new BrokenArchiveError('neither the metadata nor a tile tells the format of the tiles')
}

/** Limit: characters of an unknown format's name in a message. */
const MAX_SAID = 80
