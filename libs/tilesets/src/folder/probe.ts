import fs from 'node:fs'
import { promisify } from 'node:util'
import { isVectorFormat, type TileFormat, type TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { openBelow } from '@gateway/core/files/open-below.js'
import { fileCall } from '@gateway/core/files/paced-calls.js'
import { isKnownGrid, MAX_ZOOM } from '../address.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { formatOfExtension } from '../formats.js'
import { type FolderMetadata, readFolderMetadata } from '../metadata/file.js'
import { gridOfFolder } from '../metadata/metadata.js'
import { boundsWithoutTiles, orderByBounds, transposedByBounds } from '../rows/by-bounds.js'
import { withOrderOfBounds } from '../rows/with-row-order.js'
import { examineSample, formatBySamples, SAMPLE_BYTES, sampleOf } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { extentOf } from './extent.js'
import { folderFingerprint } from './fingerprint.js'
import { isOneTileAtZoom0 } from './gdal-geodetic.js'
import { gridByNumbers, type LayoutDoubts, layoutDoubts } from './layout-doubts.js'
import { listNames, listZooms, numbersIn, type SampleTile, spread, WIDEST, type ZoomListing } from './listing.js'
import { isReversed, REVERSED } from './reversed.js'

const readAsync = promisify(fs.read)
const closeAsync = promisify(fs.close)

const ONE_TILE_AT_ZOOM_0 =
  'its zoom 0 is one tile of 360 degrees and not two of 180 (gdal2tiles without --tmscompatible): make it again with that option, or ' +
  'remove the folder of zoom 0 and give each other one the name of the zoom above it'

/**
 * Probes the folder above zoom folders: lists folders, reads the metadata file and the start of one tile. Time grows with the number
 * of columns, not of tiles. Returns null if it has no tile, does not exist, or leads out of `root`. Throws the disk's errors.
 * @param names names in the folder; undefined: the folder is listed
 */
export async function probeFolder(
  root: string,
  folder: string,
  names?: readonly string[],
): Promise<TileSetProbe | null> {
  const listed = names ?? (await listNames(root, folder))
  const metadata = await readFolderMetadata(root, folder, listed)
  const numbers = numbersIn(listed)
  const list = (grid: TileMatrixSetId) => listZooms(root, folder, grid, numbers)
  const hasMore = numbers.some((z) => z > MAX_ZOOM)
  return await describeFolder(metadata, list, {
    start: (tile) => readStart(root, tile),
    fingerprint: (about, zooms) => folderFingerprint(about, metadata.content, zooms),
    isReversed: async (isDoubtful) => (isDoubtful || hasMore) && (await isReversed(root, folder)),
  })
}

/** Further reads of a folder, after its content is known. */
export interface FolderReads<Zoom> {
  /** the first `SAMPLE_BYTES` of a tile; null if the tile is absent */
  start(tile: SampleTile): Promise<Buffer | null>
  /** changes when metadata or tiles may have changed */
  fingerprint(about: readonly string[], zooms: readonly Zoom[]): string | Promise<string>
  /** true if the metadata's row order is the only possible one */
  readonly rowsAreFixed?: boolean
  /** true if the folders are named in the order row, column, zoom; undefined: not checked */
  isReversed?(isDoubtful: boolean): Promise<boolean>
}

/** `probeFolder` for the tiles that `list` finds in a grid, local or remote. */
export async function describeFolder<Zoom extends ZoomListing>(
  metadata: FolderMetadata,
  list: (grid: TileMatrixSetId) => Promise<readonly Zoom[]>,
  reads: FolderReads<Zoom>,
): Promise<TileSetProbe | null> {
  const { zooms, tileMatrixSet, doubts } = await listInGrid(metadata, list)
  const { tileMatrices } = metadata
  if (tileMatrices !== undefined && metadata.scheme === 'tms')
    throw new BrokenArchiveError(
      'its rows are counted from the south, which a grid with an origin in the north-west does not have',
    )
  const isDoubtful = doubts.warnings.length > 0 || doubts.unserved !== null
  if (await reads.isReversed?.(isDoubtful)) throw new BrokenArchiveError(REVERSED)
  if (zooms.length === 0) return null
  const unserved = metadata.unserved ?? doubts.unserved
  if (unserved !== null) throw new BrokenArchiveError(unserved)
  if (metadata.fromGdal && metadata.bounds !== null && isOneTileAtZoom0(zooms, tileMatrixSet, metadata.bounds)) {
    throw new BrokenArchiveError(ONE_TILE_AT_ZOOM_0)
  }
  const { extensions, warnings, ...named } = chooseExtensions(zooms, metadata.format)
  const extension = extensions.join()
  const storage = metadata.scheme ?? 'xyz'
  const starts = await startsOf(zooms, extensions[0]!, reads)
  const bytes = formatBySamples(named.format, starts)
  const format = bytes.format ?? named.format
  const sample = examineSample(format, sampleOf(format, starts))
  const zoom = zoomRange(metadata, { minZoom: zooms[0]!.z, maxZoom: zooms.at(-1)!.z })
  const own = tileMatrices === undefined ? {} : { tileMatrices }
  const without = isKnownGrid(tileMatrixSet) ? boundsWithoutTiles(zooms, metadata.bounds, tileMatrixSet) : null
  const bounds = without === null ? metadata.bounds : null
  const transposed =
    without !== null && metadata.bounds !== null && !reads.rowsAreFixed && isKnownGrid(tileMatrixSet)
      ? transposedByBounds(zooms, metadata.bounds, tileMatrixSet)
      : null
  const extent = (order: 'xyz' | 'tms') => extentOf(zooms, order, { tileMatrixSet, ...own })
  const extents = { xyz: extent('xyz'), tms: extent('tms') }
  const probe: TileSetProbe = {
    storage,
    rowsFromNorth: false,
    rowsAssumed: tileMatrices === undefined,
    ...(tileMatrices === undefined && { extents }),
    rowsSaid: metadata.scheme,
    ...(transposed !== null && { transposed }),
    format,
    formats: allFormats(format, bytes.formats, zooms),
    tileSize: tileMatrices?.tileSize ?? sample.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: bounds ?? extents[storage],
    boundsDerived: bounds === null,
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet,
    ...own,
    metadata: metadata.other,
    extension,
    encoding: sample.encoding,
    fingerprint: await reads.fingerprint([storage, extension], zooms),
    warnings: [
      ...metadata.warnings,
      ...doubts.warnings,
      ...warnings,
      ...bytes.warnings,
      ...zoom.warnings,
      ...(without === null ? [] : [without]),
      ...sample.warnings,
    ],
  }
  const order =
    probe.rowsAssumed && !reads.rowsAreFixed && isKnownGrid(tileMatrixSet)
      ? orderByBounds(zooms, bounds, tileMatrixSet)
      : null
  return withOrderOfBounds(probe, order)
}

/** Lists the tiles in the grid that the metadata names, or else in the one of their numbers. */
async function listInGrid<Zoom extends ZoomListing>(
  metadata: FolderMetadata,
  list: (grid: TileMatrixSetId) => Promise<readonly Zoom[]>,
): Promise<{ zooms: readonly Zoom[]; tileMatrixSet: TileMatrixSetId; doubts: LayoutDoubts }> {
  if (metadata.gridNamed !== '' || metadata.unserved !== null) {
    const { tileMatrices: matrices } = metadata
    const listed = await list(metadata.grid ?? WIDEST)
    const zooms = matrices === undefined ? listed : listed.filter(({ z }) => z < matrices.resolutions.length)
    const tileMatrixSet = zooms.length === 0 || metadata.unserved !== null ? WIDEST : gridOfFolder(metadata).id
    const doubts = matrices === undefined ? layoutDoubts(zooms) : { warnings: [], unserved: null }
    return { zooms, tileMatrixSet, doubts }
  }
  const wide = await list(WIDEST)
  const { grid, warnings } = gridByNumbers(wide)
  const { unserved, warnings: further } = layoutDoubts(wide)
  const doubts = { unserved, warnings: [...warnings, ...further] }
  const zooms = grid === WIDEST || warnings.length === 0 ? wide : await list(grid)
  return { zooms, tileMatrixSet: grid, doubts }
}

/** Maximum number of tiles whose first bytes are read; those of the deepest zoom come first. */
const MAX_STARTS = 16

async function startsOf<Zoom extends ZoomListing>(
  zooms: readonly Zoom[],
  extension: string,
  reads: FolderReads<Zoom>,
): Promise<Buffer[]> {
  const reversed = [...zooms].reverse()
  const named = [extension, ...reversed.flatMap(({ samples }) => [...samples.keys()])]
  const tiles = [...new Set(named)].flatMap((one) => reversed.flatMap(({ samples }) => samples.get(one) ?? []))
  const starts = await Promise.all(spread(tiles, MAX_STARTS).map((tile) => reads.start(tile)))
  return starts.filter((start) => start !== null)
}

/** Returns the extensions that are served, beginning with the most frequent one, or with that of the metadata's format if there is one. */
function chooseExtensions(zooms: readonly ZoomListing[], said: TileFormat | null) {
  const counts = new Map<string, number>()
  for (const zoom of zooms) {
    for (const [extension, count] of zoom.counts) counts.set(extension, (counts.get(extension) ?? 0) + count)
  }
  const byFrequency = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))
  const extension = byFrequency.find((candidate) => formatOfExtension(candidate) === said) ?? byFrequency[0]!
  const own = formatOfExtension(extension)!
  // A folder of MapLibre Tiles may have the extension of other vector tiles.
  const format = said === 'mlt' && own === 'pbf' ? said : own
  const warnings: string[] = []
  if (said !== null && said !== format) warnings.push(`the metadata says ${said}, but the tiles are ${format}`)
  const extensions = [
    extension,
    ...byFrequency.filter((other) => other !== extension && isServedWith(extension, other)),
  ]
  const others = byFrequency.filter((other) => !extensions.includes(other)).map((other) => `.${other}`)
  if (others.length > 0) {
    warnings.push(`only ${extensions.map((one) => `.${one}`).join(', ')} is served; there is also ${others.join(', ')}`)
  }
  return { extensions, format, warnings }
}

/**
 * Returns the formats under whose extensions the tiles of a set are, if there are several images: a rare one may be in no sample, and files may be
 * misnamed.
 */
function allFormats(
  format: TileFormat,
  sampled: readonly TileFormat[] | null,
  zooms: readonly ZoomListing[],
): readonly TileFormat[] | null {
  const named = zooms.flatMap(({ counts }) => [...counts.keys()].map((extension) => formatOfExtension(extension)!))
  const images = [...new Set(named)].filter((one) => !isVectorFormat(one))
  if (isVectorFormat(format) || images.length < 2) return sampled
  return [...new Set([...(sampled ?? [format]), ...images])]
}

/** True if tiles with these two extensions make one set: both are images, or both have one format. */
function isServedWith(extension: string, other: string): boolean {
  const [format, its] = [formatOfExtension(extension)!, formatOfExtension(other)!]
  return format === its || (!isVectorFormat(format) && !isVectorFormat(its))
}

/** Returns the first `SAMPLE_BYTES` of a tile; null if the tile is absent. */
export async function readStart(root: string, tile: SampleTile): Promise<Buffer | null> {
  const opened = await openBelow(root, tile.path)
  if (!opened.ok) return null
  try {
    const start = Buffer.alloc(Math.min(opened.size, SAMPLE_BYTES))
    const bytesRead = await fileCall(
      () => fs.readSync(opened.fd, start, 0, start.length, 0),
      async () => (await readAsync(opened.fd, start, 0, start.length, 0)).bytesRead,
    )
    return start.subarray(0, bytesRead)
  } finally {
    await fileCall(
      () => fs.closeSync(opened.fd),
      () => closeAsync(opened.fd),
    )
  }
}
