import type { TileFormat } from '@gateway/contracts/basemap.js'
import type { TileEncoding } from './tile-set.js'

const FORMAT_OF_EXTENSION: ReadonlyMap<string, TileFormat> = new Map([
  ['png', 'png'],
  ['jpg', 'jpg'],
  ['jpeg', 'jpg'],
  ['webp', 'webp'],
  ['avif', 'avif'],
  ['pbf', 'pbf'],
  ['mvt', 'pbf'],
])

/**
 * Values of `Content-Type`. Vector tiles have a registered one (application/vnd.mapbox-vector-tile), but tile servers send, and
 * proxies are configured for, application/x-protobuf.
 */
export const CONTENT_TYPES: Readonly<Record<TileFormat, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  pbf: 'application/x-protobuf',
}

/** How a tile is restricted to the area of a token: it is sent whole if it touches the area, or with only the features that do. */
const WITHIN_AREA: Readonly<Record<TileFormat, 'whole' | 'features'>> = {
  png: 'whole',
  jpg: 'whole',
  webp: 'whole',
  avif: 'whole',
  pbf: 'features',
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

/** Detects gzip (RFC 1952) by the first two bytes: vector tiles are stored in either form, under the same name. */
export function encodingOf(data: Uint8Array): TileEncoding {
  return data[0] === 0x1f && data[1] === 0x8b ? 'gzip' : 'identity'
}

/**
 * Detects the format of a tile by its first bytes. Vector tiles have no signature: gzip, or a protobuf field 3 of type bytes (the layers of the
 * Mapbox Vector Tile specification 2), counts as one. Returns null for other content.
 */
export function sniffFormat(data: Uint8Array): TileFormat | null {
  const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 32)).toString('latin1')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpg'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'webp'
  if (text.startsWith('ftyp', 4) && /avi[fs]/.test(text.slice(8))) return 'avif'
  return encodingOf(data) === 'gzip' || data[0] === 0x1a ? 'pbf' : null
}
