import { contentTypeOf } from '@gateway/tiles/formats.js'
import type { CatalogVersion } from '../catalog/catalog.js'
import { httpDate } from '../files/conditional.js'
import type { TileAnswer } from '../tiles/hot-tiles.js'
import type { LoadedTile } from '../tiles/load-tile.js'
import { CORS, headerBlock } from './header-block.js'

/** The header blocks of a tile. Packed and plain bytes have different tags, since a strong tag names bytes (RFC 9110, 8.8.3.3). */
export function tileAnswer(version: CatalogVersion, tile: LoadedTile, gzip: boolean): TileAnswer {
  const packed = tile.encoding === 'gzip'
  const etag = packed && !gzip ? `"${tile.identity}-plain"` : `"${tile.identity}"`
  const common: [string, string][] = [
    ['Cache-Control', 'public, max-age=31536000, immutable'],
    ['Last-Modified', httpDate(tile.modifiedMs)],
    ...(packed ? [['Vary', 'Accept-Encoding'] as [string, string]] : []),
    ...(CORS as [string, string][]),
  ]
  return {
    etag,
    modifiedMs: tile.modifiedMs,
    gzip: packed && gzip,
    found: headerBlock(
      ['Content-Type', contentTypeOf(version.stored.format)],
      ['ETag', etag],
      ...(packed && gzip ? [['Content-Encoding', 'gzip'] as [string, string]] : []),
      ...common,
    ),
    notModified: headerBlock(['ETag', etag], ...common),
  }
}
