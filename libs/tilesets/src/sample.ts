import { constants, gunzipSync } from 'node:zlib'
import { isVectorFormat, type TileFormat } from '@gateway/contracts/basemap.js'
import { disableTypes, imageSize, types } from 'image-size'
import { encodingOf, imageFormat, isZstandard, sniffFormat } from './formats.js'
import type { TileEncoding } from './tile-set.js'

/**
 * Maximum bytes of a sampled tile that are read. Images have their size in the first few hundred bytes, or after an ICC profile of a few thousand
 * bytes.
 */
export const SAMPLE_BYTES = 64 * 1024

/** Size at which vector tiles are drawn (MapLibre's unit), and default size of raster tiles. */
const VECTOR_TILE_SIZE = 512
const USUAL_RASTER_TILE_SIZE = 256

/** Maximum pixels of a tile's side, which is WebP's limit. */
const MAX_TILE_SIZE = 16_384

export interface TileSample {
  readonly tileSize: number
  readonly encoding: TileEncoding
  readonly warnings: readonly string[]
}

export interface FoundFormats {
  readonly format: TileFormat | null
  /** all formats, the most frequent one first, if there are several */
  readonly formats: readonly TileFormat[] | null
  readonly warnings: readonly string[]
}

/**
 * Determines the format of tiles by their first bytes. The signature of an image takes precedence over metadata, headers and extensions. Vector tiles
 * have no signature. Returns null if neither the bytes nor anything else tell.
 */
export function formatBySamples(said: TileFormat | null, samples: readonly Uint8Array[]): FoundFormats {
  const counts = new Map<TileFormat, number>()
  const isSaidVector = said !== null && isVectorFormat(said)
  for (const sample of samples) {
    const found = imageFormat(isSaidVector ? sample : unpackedStart(sample))
    if (found !== null) counts.set(found, (counts.get(found) ?? 0) + 1)
  }
  const [format, ...others] = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!)
  const filled = samples.filter(({ length }) => length > 0)
  if (format === undefined && said !== null && !isSaidVector && filled.length > 0 && filled.every(looksLikeMvt)) {
    const why = `the tiles are declared as ${said}, but their bytes are pbf: they are served as pbf`
    return { format: 'pbf', formats: null, warnings: [why] }
  }
  if (format === undefined)
    return { format: said ?? sniffFormat(samples[0] ?? new Uint8Array(0)), formats: null, warnings: [] }
  const warnings: string[] = []
  if (others.length === 0 && said !== null && said !== format) {
    warnings.push(`the tiles are declared as ${said}, but their bytes are ${format}: they are served as ${format}`)
  }
  return { format, formats: others.length > 0 ? [format, ...others] : null, warnings }
}

/** Returns the first sample of a format, or any other that is not empty. */
export function sampleOf(format: TileFormat, samples: readonly Uint8Array[]): Uint8Array | null {
  const filled = samples.filter(({ length }) => length > 0)
  return filled.find((sample) => imageFormat(unpackedStart(sample)) === format) ?? filled[0] ?? null
}

/** Maximum unpacked bytes of a sample, of which only the first few are looked at. */
const MAX_UNPACKED = 32 * 1024 * 1024

/**
 * True if the start of a tile, unpacked, is that of a Mapbox Vector Tile: a layer (field 3) that begins with one of the fields of a layer (name, features,
 * keys, values, extent or version). null: it cannot be unpacked.
 */
export function looksLikeMvt(data: Uint8Array): boolean | null {
  const start = unpackedStart(data)
  if (start === data && encodingOf(data) === 'gzip') return null
  let at = 1
  while (at < start.length && (start[at]! & 0x80) !== 0) at++
  return start[0] === 0x1a && FIELDS_OF_LAYERS.has(start[at + 1] ?? -1)
}

/** Unpacks the start of a tile; returns one without gzip, or one that cannot be unpacked, as it is. */
function unpackedStart(data: Uint8Array): Uint8Array {
  if (encodingOf(data) !== 'gzip') return data
  try {
    return gunzipSync(data, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_UNPACKED })
  } catch {
    return data
  }
}

/** Tags of the fields of a layer (Mapbox Vector Tile specification 2, 4.1). */
const FIELDS_OF_LAYERS: ReadonlySet<number> = new Set([0x0a, 0x12, 0x1a, 0x22, 0x28, 0x78])

/** Examines the start of one tile; `data` null: none could be read. */
export function examineSample(format: TileFormat, data: Uint8Array | null): TileSample {
  if (data === null || data.length === 0) {
    return { tileSize: usualSize(format), encoding: 'identity', warnings: ['no tile could be read'] }
  }
  const encoding = encodingOf(data)
  const start = isVectorFormat(format) ? data : unpackedStart(data)
  const found = sniffFormat(start)
  // Gzip has no type, and MapLibre Tiles have no signature.
  const isSilent = format === 'mlt' && (found === null || encoding === 'gzip')
  const isOther = format === 'pbf' && found === 'pbf' && encoding === 'gzip' && looksLikeMvt(data) === false
  const warnings: string[] = isOther
    ? ['the tiles are declared as pbf, but what they unpack to is no Mapbox Vector Tile']
    : found === format || isSilent
      ? []
      : [`the tiles are declared as ${format} but look like ${found ?? looksOf(data)}`]
  if (isVectorFormat(format)) return { tileSize: VECTOR_TILE_SIZE, encoding, warnings }
  const size = pixelsOf(found, start)
  if (size === null) {
    warnings.push('the size of a tile could not be read from it')
    return { tileSize: USUAL_RASTER_TILE_SIZE, encoding, warnings }
  }
  const { width, height } = size
  if (width !== height) warnings.push(`tiles are not square: ${width} by ${height} pixels`)
  return { tileSize: width, encoding, warnings }
}

/** Formats whose parsing always ends: a box or an entry of length 0 in an AVIF, JPEG XL or ICNS image would keep the library busy forever. */
const READ_BY_LIBRARY: ReadonlySet<string> = new Set(['png', 'jpg', 'webp'])
disableTypes(types.filter((type) => !READ_BY_LIBRARY.has(type)))

interface Pixels {
  readonly width: number
  readonly height: number
}

/** Returns null if the size is unknown, or invalid for a tile. */
function pixelsOf(format: TileFormat | null, data: Uint8Array): Pixels | null {
  try {
    const head = data.subarray(0, SAMPLE_BYTES)
    const size = format === 'avif' ? pixelsOfAvif(head) : imageSize(head)
    return isSide(size.width) && isSide(size.height) ? size : null
  } catch {
    return null
  }
}

/** Reads the first `ispe` property (ISO/IEC 23008-12, 6.5.3): after the name, version and flags. Throws if `head` has no such property. */
function pixelsOfAvif(head: Uint8Array): Pixels {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const at = bytes.indexOf('ispe')
  if (at === -1) throw new RangeError('no sizes')
  return { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) }
}

function isSide(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels > 0 && pixels <= MAX_TILE_SIZE
}

/** Names the compressions that no map client unpacks; the writers of the first vector tiles used zlib. */
function looksOf(data: Uint8Array): string {
  if (isZstandard(data)) return 'data compressed by zstd, not gzip'
  return data[0] === 0x78 ? 'data compressed by zlib, not gzip' : 'something else'
}

function usualSize(format: TileFormat): number {
  return isVectorFormat(format) ? VECTOR_TILE_SIZE : USUAL_RASTER_TILE_SIZE
}
