import { BrokenArchiveError, nothingToProbe } from '../broken-archive.js'
import { extentOf } from '../folder/extent.js'
import { gridByNumbers, layoutDoubts } from '../folder/layout-doubts.js'
import { NO_METADATA, readMetadata, servedGrid } from '../metadata/metadata.js'
import { boundsWithoutTiles, orderByBounds } from '../rows/by-bounds.js'
import { withOrderOfBounds } from '../rows/with-row-order.js'
import { examineSample, formatBySamples, looksLikeMvt, SAMPLE_BYTES, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { type OpenedDatabase, openDatabase } from './database.js'
import { findZooms, readMetadataTable, samplesOf } from './queries.js'
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
  const ranges = rangesOf(database, size, zooms).filter(({ z }) => zooms.includes(z))
  const numbered = metadata.gridNamed === '' ? gridByNumbers(ranges) : { grid: servedGrid(metadata), warnings: [] }
  const doubts = layoutDoubts(ranges)
  // The deepest zoom first: its tiles are the most.
  const sampled = [...samples].reverse()
  const bytes = formatBySamples(metadata.format, [...sampled, ...samplesOf(database, size, zooms)])
  // Any data can be packed by gzip.
  const isOther = metadata.format === null && bytes.format === 'pbf' && !sampled.some((one) => looksLikeMvt(one))
  const format = (isOther ? null : bytes.format) ?? unknownFormat(table?.format)
  const examined = examineSample(format, sampleOf(format, sampled))
  const zoom = zoomRange(metadata, { minZoom: zooms[0]!, maxZoom: zooms.at(-1)! })
  const without = boundsWithoutTiles(ranges, metadata.bounds, numbered.grid)
  const bounds = without === null ? metadata.bounds : null
  const inGrid = ranges.filter(({ beyond }) => beyond === 0)
  const extent = (order: 'xyz' | 'tms') => extentOf(inGrid, order, { tileMatrixSet: numbered.grid })
  const extents = { xyz: extent('xyz'), tms: extent('tms') }
  const missing = table === null ? ['there is no usable metadata table'] : []
  const probe: TileSetProbe = {
    storage: 'mbtiles',
    rowsFromNorth: false,
    rowsAssumed: true,
    extents,
    rowsSaid: metadata.scheme,
    format,
    formats: bytes.formats,
    tileSize: examined.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: bounds ?? extents.tms,
    boundsDerived: bounds === null,
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
      ...(without === null ? [] : [without]),
      ...examined.warnings,
    ],
  }
  return withOrderOfBounds(probe, orderByBounds(ranges, bounds, numbered.grid))
}

const isText = (said: unknown): said is string => typeof said === 'string' && said !== ''

function unknownFormat(said: unknown): never {
  if (isText(said)) {
    throw new BrokenArchiveError(`tiles of the format ${JSON.stringify(said.slice(0, MAX_SAID))} are not supported`)
  }
  throw new BrokenArchiveError('neither the metadata nor a tile tells the format of the tiles')
}

/** Maximum characters of an unknown format's name in a message. */
const MAX_SAID = 80
