import fs from 'node:fs'
import { promisify } from 'node:util'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { openBelow } from '@gateway/files/open-below.js'
import { BrokenArchiveError } from '../broken-archive.js'
import { formatOfExtension } from '../formats.js'
import { type FolderMetadata, readFolderMetadata } from '../metadata/file.js'
import { servedGrid } from '../metadata/metadata.js'
import { examineSample, SAMPLE_BYTES } from '../sample.js'
import type { TileSetProbe } from '../tile-set.js'
import { zoomRange } from '../zoom-range.js'
import { extentOf } from './extent.js'
import { folderFingerprint } from './fingerprint.js'
import { isOneTileAtZoom0 } from './gdal-geodetic.js'
import { listZooms, type SampleTile, type ZoomListing } from './listing.js'

const readAsync = promisify(fs.read)
const closeAsync = promisify(fs.close)

const ONE_TILE_AT_ZOOM_0 =
  'its zoom 0 is one tile of 360 degrees and not two of 180 (gdal2tiles without --tmscompatible): make it again with that option, or ' +
  'remove the folder of zoom 0 and give each other one the name of the zoom above it'

/**
 * Looks at a folder above zoom folders: lists folders, reads the metadata file and the start of one tile. Time grows with the number
 * of columns, not of tiles. null: it holds no tile, does not exist, or leads out of `root`. Throws the disk's errors.
 */
export async function probeFolder(root: string, folder: string): Promise<TileSetProbe | null> {
  const metadata = await readFolderMetadata(root, folder)
  const zooms = await listZooms(root, folder, metadata.grid ?? 'WebMercatorQuad')
  return describeFolder(metadata, zooms, {
    start: (tile) => readStart(root, tile),
    fingerprint: (about) => folderFingerprint(about, metadata.content, zooms),
  })
}

/** What else of a folder is looked at, once it is known what is in it. */
export interface FolderReads {
  /** the first `SAMPLE_BYTES` of a tile; null: it is not there */
  start(tile: SampleTile): Promise<Buffer | null>
  /** changes when metadata or tiles may have changed */
  fingerprint(about: readonly string[]): string | Promise<string>
}

/** `probeFolder` for what has been listed, wherever it is. */
export async function describeFolder(
  metadata: FolderMetadata,
  zooms: readonly ZoomListing[],
  reads: FolderReads,
): Promise<TileSetProbe | null> {
  if (zooms.length === 0) return null
  const tileMatrixSet = servedGrid(metadata)
  if (metadata.fromGdal && metadata.bounds !== null && isOneTileAtZoom0(zooms, tileMatrixSet, metadata.bounds)) {
    throw new BrokenArchiveError(ONE_TILE_AT_ZOOM_0)
  }
  const { extension, format, warnings } = chooseExtension(zooms, metadata.format)
  const storage = metadata.scheme ?? 'xyz'
  const tile = zooms.findLast((zoom) => zoom.samples.has(extension))?.samples.get(extension)
  const sample = examineSample(format, tile === undefined ? null : await reads.start(tile))
  const zoom = zoomRange(metadata, { minZoom: zooms[0]!.z, maxZoom: zooms.at(-1)!.z })
  return {
    storage,
    format,
    tileSize: sample.tileSize,
    minZoom: zoom.minZoom,
    maxZoom: zoom.maxZoom,
    bounds: metadata.bounds ?? extentOf(zooms, storage, tileMatrixSet),
    name: metadata.name,
    attribution: metadata.attribution,
    description: metadata.description,
    vectorLayers: metadata.vectorLayers,
    tileMatrixSet,
    metadata: metadata.other,
    extension,
    encoding: sample.encoding,
    fingerprint: await reads.fingerprint([storage, extension]),
    warnings: [...metadata.warnings, ...warnings, ...zoom.warnings, ...sample.warnings],
  }
}

/** The most frequent extension, among those of the format that the metadata names where there are such. */
function chooseExtension(zooms: readonly ZoomListing[], said: TileFormat | null) {
  const counts = new Map<string, number>()
  for (const zoom of zooms) {
    for (const [extension, count] of zoom.counts) counts.set(extension, (counts.get(extension) ?? 0) + count)
  }
  const byFrequency = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))
  const extension = byFrequency.find((candidate) => formatOfExtension(candidate) === said) ?? byFrequency[0]!
  const format = formatOfExtension(extension)!
  const warnings: string[] = []
  if (said !== null && said !== format) warnings.push(`the metadata says ${said}, but the tiles are ${format}`)
  if (byFrequency.length > 1) {
    const others = byFrequency.filter((other) => other !== extension).map((other) => `.${other}`)
    warnings.push(`only .${extension} is served; there is also ${others.join(', ')}`)
  }
  return { extension, format, warnings }
}

async function readStart(root: string, tile: SampleTile): Promise<Buffer | null> {
  const opened = await openBelow(root, tile.path)
  if (!opened.ok) return null
  try {
    const { bytesRead, buffer } = await readAsync(opened.fd, Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await closeAsync(opened.fd)
  }
}
