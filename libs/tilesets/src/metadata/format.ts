import type { TileFormat } from '@gateway/contracts/basemap.js'
import { formatOfExtension } from '../formats.js'

const FORMAT_OF_MEDIA_TYPE: ReadonlyMap<string, TileFormat> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/jpg', 'jpg'],
  ['image/webp', 'webp'],
  ['image/avif', 'avif'],
  ['application/x-protobuf', 'pbf'],
  ['application/vnd.mapbox-vector-tile', 'pbf'],
  ['application/vnd.maplibre-vector-tile', 'mlt'],
  ['application/vnd.maplibre-tile', 'mlt'],
])

/** Returns the tile format from `format` (an extension or media type, as in MBTiles), or else from the first URL in TileJSON's `tiles`. */
export function formatOfMetadata(fields: Readonly<Record<string, unknown>>): TileFormat | null {
  // TileJSON's `encoding`, of which other values are about heights.
  if (fields.encoding === 'mlt') return 'mlt'
  if (typeof fields.format === 'string') {
    const named = fields.format.trim().toLowerCase()
    const format = formatOfExtension(named) ?? FORMAT_OF_MEDIA_TYPE.get(named)
    if (format !== undefined) return format
    // TileMill and QGIS write png8, png24 and the like.
    if (/^png\d+$/.test(named)) return 'png'
  }
  const address: unknown = Array.isArray(fields.tiles) ? fields.tiles[0] : undefined
  const extension = typeof address === 'string' ? /\{-?y\}(?:@2x)?\.(\w+)(?:[?#]|$)/.exec(address)?.[1] : undefined
  return extension === undefined ? null : formatOfExtension(extension)
}
