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
 * Values of `Content-Type`. Vector tiles have a registered one (application/vnd.mapbox-vector-tile), but what tile servers send, and what
 * proxies are set up to recognise, is application/x-protobuf.
 */
export const CONTENT_TYPES: Readonly<Record<TileFormat, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  avif: 'image/avif',
  pbf: 'application/x-protobuf',
}

/** The format that a file extension (no dot, any case) stands for: `jpeg` is `jpg`, `mvt` is `pbf`. null: no tile format. */
export function formatOfExtension(extension: string): TileFormat | null {
  return FORMAT_OF_EXTENSION.get(extension) ?? FORMAT_OF_EXTENSION.get(extension.toLowerCase()) ?? null
}

/** The extensions in lower case that stand for a format; an address may have any of them. */
export function extensionsOf(format: TileFormat): string[] {
  return [...FORMAT_OF_EXTENSION].filter(([, its]) => its === format).map(([extension]) => extension)
}

/** Whether stored bytes are gzip (RFC 1952), by their first two: vector tiles are stored either way, under the same name. */
export function encodingOf(data: Uint8Array): TileEncoding {
  return data[0] === 0x1f && data[1] === 0x8b ? 'gzip' : 'identity'
}

/**
 * The format of a tile by its first bytes; null where they are none of the image signatures. Vector tiles carry no signature: gzip or
 * a protobuf field 3 of type bytes (the layers of the Mapbox Vector Tile specification 2) is taken for one.
 */
export function sniffFormat(data: Uint8Array): TileFormat | null {
  const text = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 32)).toString('latin1')
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpg'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'webp'
  if (text.startsWith('ftyp', 4) && /avi[fs]/.test(text.slice(8))) return 'avif'
  return encodingOf(data) === 'gzip' || data[0] === 0x1a ? 'pbf' : null
}
