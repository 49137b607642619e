import { isVectorFormat, type TileFormat } from '@gateway/contracts/basemap.js'
import type { TileEncoding } from './tile-set.js'

const FORMAT_OF_EXTENSION: ReadonlyMap<string, TileFormat> = new Map([
  ['png', 'png'],
  ['jpg', 'jpg'],
  ['jpeg', 'jpg'],
  ['webp', 'webp'],
  ['avif', 'avif'],
  ['pbf', 'pbf'],
  ['mvt', 'pbf'],
  ['mlt', 'mlt'],
])

/** Values of `Content-Type`: the registered types, the same at every route and in every document. */
export const CONTENT_TYPES: Readonly<Record<TileFormat, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  pbf: 'application/vnd.mapbox-vector-tile',
  mlt: 'application/vnd.maplibre-vector-tile',
}

/**
 * The restriction of a tile to the area of a token: it is sent whole if it touches the area, or with only the features that do. No library cuts
 * MapLibre Tiles: those that cross the boundary are refused.
 */
const WITHIN_AREA: Readonly<Record<TileFormat, 'whole' | 'features'>> = {
  png: 'whole',
  jpg: 'whole',
  webp: 'whole',
  avif: 'whole',
  pbf: 'features',
  mlt: 'features',
}

export function isCutByFeatures(format: TileFormat): boolean {
  return WITHIN_AREA[format] === 'features'
}

/** Returns the format of a file extension (no dot, any case): `jpeg` is `jpg`, `mvt` is `pbf`. null: not a tile format. */
export function formatOfExtension(extension: string): TileFormat | null {
  return FORMAT_OF_EXTENSION.get(extension) ?? FORMAT_OF_EXTENSION.get(extension.toLowerCase()) ?? null
}

/** True if an address may name a format by this extension (no dot): exactly one of `extensionsOf`. */
export function isExtensionOf(extension: string, format: TileFormat): boolean {
  return FORMAT_OF_EXTENSION.get(extension) === format
}

/** Returns the extensions of a format in lower case. URLs may have any of them. */
export function extensionsOf(format: TileFormat): string[] {
  return [...FORMAT_OF_EXTENSION].filter(([, its]) => its === format).map(([extension]) => extension)
}

interface FileNames {
  /** without the dot; several, separated by commas, if files with other extensions belong to the set, the most frequent one first */
  readonly extension: string
  /** of a set of several formats; null or absent for others */
  readonly formats?: readonly TileFormat[] | null | undefined
}

/** Returns the extensions that the files of a set may have, the most frequent one first: those that were found, and those of all its formats. */
export function fileExtensions({ extension, formats }: FileNames): readonly string[] {
  const found = extension.split(',')
  return formats == null ? found : [...new Set([...found, ...formats.flatMap(extensionsOf)])]
}

/** Detects gzip (RFC 1952) by the first two bytes: vector tiles are stored in either form, under the same name. */
export function encodingOf(data: Uint8Array): TileEncoding {
  return data[0] === 0x1f && data[1] === 0x8b ? 'gzip' : 'identity'
}

/** Detects Zstandard (RFC 8878) by its magic number; no map client unpacks it. */
export function isZstandard(data: Uint8Array): boolean {
  return hasAt(data, 0, '\x28\xb5\x2f\xfd')
}

/** Number of first bytes of a tile that `kindOf` needs. AVIF names its brand in a list. */
export const SIGNATURE_BYTES = 32

export interface TileKind {
  readonly format: TileFormat
  readonly encoding: TileEncoding
}

/**
 * Returns the kind of a tile by its first bytes, which decide its `Content-Type` and `Content-Encoding`: sets may mix formats, and vector tiles are
 * gzip or not, one by one. Vector tiles have no signature, so their format is that of the set. The native tier decides in the same way
 * (`cold_tiles/tile_kind.h`).
 * @param said the format of the set
 */
export function kindOf(said: TileFormat, start: Uint8Array): TileKind {
  const encoding = encodingOf(start)
  if (encoding === 'gzip' || isVectorFormat(said)) return { format: said, encoding }
  return { format: imageFormat(start) ?? said, encoding }
}

/** Detects an image by its signature; null: other content. */
export function imageFormat(data: Uint8Array): TileFormat | null {
  switch (data[0]) {
    case 0x89:
      return hasAt(data, 0, '\x89PNG\r\n\x1a\n') ? 'png' : null
    case 0xff:
      return hasAt(data, 0, '\xff\xd8\xff') ? 'jpg' : null
    case 0x52:
      return hasAt(data, 0, 'RIFF') && hasAt(data, 8, 'WEBP') ? 'webp' : null
    default:
      return isAvif(data) ? 'avif' : null
  }
}

/** The major brand or a compatible one, of four letters each (ISO/IEC 14496-12, 4.3). */
function isAvif(data: Uint8Array): boolean {
  if (!hasAt(data, 4, 'ftyp')) return false
  for (let at = 8; at + 4 <= SIGNATURE_BYTES; at += 4)
    if (hasAt(data, at, 'avif') || hasAt(data, at, 'avis')) return true
  return false
}

function hasAt(data: Uint8Array, at: number, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) if (data[at + i] !== signature.charCodeAt(i)) return false
  return true
}

/**
 * Detects the format of a tile by its first bytes. Vector tiles have no signature: gzip, or a protobuf field 3 of type bytes (the layers of the
 * Mapbox Vector Tile specification 2), counts as one. Returns null for other content.
 */
export function sniffFormat(data: Uint8Array): TileFormat | null {
  return imageFormat(data) ?? (encodingOf(data) === 'gzip' || data[0] === 0x1a ? 'pbf' : null)
}
