import type { TileFormat } from '@gateway/contracts/basemap.js'
import { sentence } from '@gateway/contracts/messages.js'
import { bytesToHeader, Compression, TileType } from 'pmtiles'
import { BrokenArchiveError } from '../broken-archive.js'
import { encodingOf, sniffFormat } from '../formats.js'
import type { TileEncoding } from '../tile-set.js'
import type { ZoomRange } from '../zoom-range.js'
import {
  HEADER_BYTES,
  MAGIC,
  MAX_DIRECTORY_BYTES,
  MAX_METADATA_BYTES,
  MAX_PMTILES_ZOOM,
  SPEC_VERSION,
} from './layout.js'

export interface Section {
  readonly offset: number
  readonly length: number
}

/** A checked header: every section is inside the file. */
export interface ArchiveHeader {
  readonly root: Section
  readonly metadata: Section
  readonly leaves: Section
  readonly tiles: Section
  readonly internalCompression: Compression
  readonly tileCompression: Compression
  readonly tileType: TileType
  /** zooms that may have tiles; `readHeader` returns those that are declared */
  readonly minZoom: number
  readonly maxZoom: number
  /** as written, unchecked */
  readonly zoomsSaid: ZoomRange
  /** west, south, east, north as written, unchecked */
  readonly bounds: readonly [number, number, number, number]
  /** longitude, latitude, zoom as written, unchecked */
  readonly center: readonly [number, number, number]
}

const FORMAT_OF_TYPE: ReadonlyMap<TileType, TileFormat> = new Map([
  [TileType.Mvt, 'pbf'],
  [TileType.Png, 'png'],
  [TileType.Jpeg, 'jpg'],
  [TileType.Webp, 'webp'],
  [TileType.Avif, 'avif'],
  [TileType.Mlt, 'mlt'],
])

/** Reads and checks the first 127 bytes of an archive of `fileSize` bytes. Throws `BrokenArchiveError`. */
export function readHeader(bytes: Uint8Array, fileSize: number): ArchiveHeader {
  const copy = Uint8Array.from(bytes.subarray(0, HEADER_BYTES))
  // Versions 1 and 2 begin with two letters and a number of two bytes.
  if (copy[0] === 0x50 && copy[1] === 0x4d && copy[3] === 0 && (copy[2] === 1 || copy[2] === 2))
    throw unsupportedVersion(copy[2])
  if (Buffer.from(copy.buffer).toString('latin1', 0, 7) !== MAGIC || copy.length < HEADER_BYTES) {
    throw new BrokenArchiveError(sentence('said.no_pmtiles'))
  }
  if (copy[7] !== SPEC_VERSION) throw unsupportedVersion(copy[7] as number)
  const raw = bytesToHeader(copy.buffer)
  const section = (name: string, offset: number, length: number, limit: number): Section => {
    if (offset + length <= fileSize && length <= limit) return { offset, length }
    throw new BrokenArchiveError(`the ${name} lies beyond the end of the file or is larger than allowed`)
  }
  // Some writers leave a length of zero, and put this section last.
  const rest = (offset: number) => Math.max(0, fileSize - offset)
  return {
    root: section('root directory', raw.rootDirectoryOffset, raw.rootDirectoryLength, MAX_DIRECTORY_BYTES),
    metadata: section('metadata', raw.jsonMetadataOffset, raw.jsonMetadataLength, MAX_METADATA_BYTES),
    leaves: section(
      'leaf directories',
      raw.leafDirectoryOffset,
      raw.leafDirectoryLength || rest(raw.leafDirectoryOffset),
      fileSize,
    ),
    tiles: section('tile data', raw.tileDataOffset, raw.tileDataLength || rest(raw.tileDataOffset), fileSize),
    internalCompression: raw.internalCompression,
    tileCompression: raw.tileCompression,
    tileType: raw.tileType,
    minZoom: Math.min(raw.minZoom, raw.maxZoom),
    maxZoom: Math.min(raw.maxZoom, MAX_PMTILES_ZOOM),
    zoomsSaid: { minZoom: raw.minZoom, maxZoom: raw.maxZoom },
    bounds: [raw.minLon, raw.minLat, raw.maxLon, raw.maxLat],
    center: [raw.centerLon, raw.centerLat, raw.centerZoom],
  }
}

function unsupportedVersion(version: number): BrokenArchiveError {
  return new BrokenArchiveError(
    `PMTiles version ${version} is not supported, only version 3 is: convert it with pmtiles convert`,
  )
}

/**
 * Returns the compression of the tiles by the bytes of one, which decide, with a warning if the header contradicts them. Throws `BrokenArchiveError` for
 * a compression that is not served, unless the bytes show that the header is wrong.
 */
export function encodingOfTiles(
  { tileCompression }: Pick<ArchiveHeader, 'tileCompression'>,
  first: Uint8Array | null,
): { readonly encoding: TileEncoding; readonly warnings: readonly string[] } {
  const encoding = first === null ? 'identity' : encodingOf(first)
  const isKnown = first !== null && sniffFormat(first) !== null
  const said = { [Compression.Gzip]: 'gzip', [Compression.None]: 'identity' }[tileCompression as 1 | 2]
  if (said === undefined && tileCompression !== Compression.Unknown && !isKnown) {
    throw new BrokenArchiveError(
      `tiles compressed with ${nameOf(tileCompression)} are not supported, only plain and gzip ones are`,
    )
  }
  if (first === null || tileCompression === Compression.Unknown || said === encoding) return { encoding, warnings: [] }
  const found = encoding === 'gzip' ? 'gzip' : 'not compressed'
  const name = nameOf(tileCompression)
  return {
    encoding,
    warnings: [`the compression of tiles is declared as ${name}, but their bytes are ${found}: they are served so`],
  }
}

/** Returns null if the header does not state it. */
export function formatOfType(type: TileType): TileFormat | null {
  return FORMAT_OF_TYPE.get(type) ?? null
}

function nameOf(compression: Compression): string {
  return Compression[compression]?.toLowerCase() ?? `method ${compression}`
}
