import type { TileAnswer, TileTarget } from '../tiles/tile-cache.js'
import { CORS } from './header-block.js'

/**
 * Returns the ETag of a tile. Stored bytes and unpacked ones have different tags, since a strong tag identifies bytes (RFC 9110, 8.8.3.3). The native
 * tier makes the same tag from the identity of a file (`cold_tiles/file_identity.h`).
 */
export function tileEtag(identity: string, isUnpacked: boolean): string {
  return isUnpacked ? `"${identity}-plain"` : `"${identity}"`
}

/** Returns the Cache-Control of a tile that is current for a time. Caches that must ask each time do so. */
export function cacheControlFor(cacheControl: string, currentForSeconds: number | string | undefined): string {
  if (currentForSeconds === undefined || /\bno-(?:store|cache)\b/.test(cacheControl)) return cacheControl
  return `${/\bprivate\b/.test(cacheControl) ? 'private' : 'public'}, max-age=${currentForSeconds}`
}

const CORS_LINES = CORS.map(([name, value]) => `${name}: ${value}`).join('\r\n')

/** RFC 7234, 5.5.1: obsolete since RFC 9111, and what operators look for. */
const STALE = 'Warning: 110 - "Response is Stale"\r\n'

/**
 * Returns the header blocks of a tile. They are assembled directly, because every cold tile needs them, from parts that cannot break a line. Without
 * the token headers in Vary, a shared cache would send one token's tiles to clients without a token (RFC 9111, 4.1).
 * @param tile `packed`: it is stored as gzip, and sent as gzip if `gzip`; `type`: its media type; `stale`: a newer one could not be had
 */
export function tileHeaders(
  { version, cacheControl }: Pick<TileTarget, 'version' | 'cacheControl'>,
  tile: {
    readonly etag: string
    readonly modified: string
    readonly packed: boolean
    readonly gzip: boolean
    readonly type: string
    /** default: false */
    readonly stale?: boolean
    /** default: 0 */
    readonly leftOut?: number | undefined
  },
): Pick<TileAnswer, 'found' | 'notModified'> {
  const { etag, modified, packed, gzip, type, stale = false, leftOut = 0 } = tile
  const vary = packed ? 'Authorization, X-Access-Token, Accept-Encoding' : 'Authorization, X-Access-Token'
  const common = `Cache-Control: ${cacheControl}\r\nLast-Modified: ${modified}\r\nVary: ${vary}\r\n${stale ? STALE : ''}${CORS_LINES}`
  const encoding = gzip ? 'Content-Encoding: gzip\r\n' : ''
  const tags = version.tagLines
  const thinned = leftOut > 0 ? `\r\nx-features-left-out: ${leftOut}` : ''
  return {
    found: {
      name: 'Content-Type',
      value: `${type}\r\nETag: ${etag}\r\n${encoding}${common}${tags === '' ? '' : `\r\n${tags}`}${thinned}`,
    },
    notModified: { name: 'ETag', value: `${etag}\r\n${common}` },
  }
}
