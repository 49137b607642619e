import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf } from '../folder/extent.js'
import { gridByNumbers, layoutDoubts } from '../folder/layout-doubts.js'
import { NO_METADATA, readMetadata, servedGrid } from '../metadata/metadata.js'
import { orderByBounds } from '../rows/by-bounds.js'
import { withOrderOfBounds } from '../rows/with-row-order.js'
import { examineSample, formatBySamples, SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { type OpenedDatabase, openDatabase } from './database.js'
import { findZooms, readMetadataTable } from './queries.js'
import { rangesOf } from './ranges.js'

/** Probes an MBTiles archive: its metadata table, one tile of each zoom, and the ends of the index. Returns null without an archive, or without tiles. */
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
  const { zooms, samples } = findZooms(database, size, SAMPLE_BYTES)
  if (samples.length === 0) return null
  const table = readMetadataTable(database)
  const metadata = table === null ? NO_METADATA : readMetadata(table)
  const ranges = rangesOf(database, size, zooms)
  const numbered = metadata.gridNamed === '' ? gridByNumbers(ranges) : { grid: servedGrid(metadata), warnings: [] }
  const doubts = layoutDoubts(ranges)
  const bytes = formatBySamples(metadata.format, samples)
  const format = bytes.format ?? unknownFormat(table?.format)
  const examined = examineSample(format, samples.at(-1) ?? null)
  const zoom = zoomRange(metadata, { minZoom: zooms[0]!, maxZoom: zooms.at(-1)! })
  const missing = table === null ? ['there is no usable metadata table'] : []
  const probe: TileSetProbe = {
    storage: 'mbtiles',
    rowsFromNorth: false,
    // Writers that state the bounds follow the specification. Caches of tile servers state nothing, and keep the rows of their grid.
    rowsAssumed: metadata.bounds === null,
    format,
    tileSize: examined.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds:
      metadata.bounds ??
      extentOf(
        ranges.filter(({ beyond }) => beyond === 0),
        'tms',
        { tileMatrixSet: numbered.grid },
      ),
    boundsDerived: metadata.bounds === null,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet: numbered.grid,
    metadata: metadata.other,
    extension: format,
    encoding: examined.encoding,
    fingerprint: identity,
    warnings: [
      ...missing,
      ...metadata.warnings,
      ...numbered.warnings,
      ...doubts.warnings,
      ...(doubts.unserved === null ? [] : [doubts.unserved]),
      ...bytes.warnings,
      ...zoom.warnings,
      ...examined.warnings,
    ],
  }
  return withOrderOfBounds(probe, orderByBounds(ranges, metadata.bounds, numbered.grid))
}

function unknownFormat(said: unknown): never {
  if (typeof said === 'string' && said !== '') {
    throw new BrokenArchiveError(`tiles of the format ${JSON.stringify(said.slice(0, MAX_SAID))} are not supported`)
  }
  throw new BrokenArchiveError('neither the metadata nor a tile tells the format of the tiles')
}

/** Maximum characters of an unknown format's name in a message. */
const MAX_SAID = 80
