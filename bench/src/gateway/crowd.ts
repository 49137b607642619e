import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import type { Sql } from '@gateway/store/connect.js'

const TOKENS = 50_000
export const CROWD_BASEMAPS = 2_000
/** Versions of each basemap; all of them contain the tiles of `mix`. */
const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5']

/** Returns many tokens, and a function that adds them and many basemaps with the tiles of the scanned `mix` to a store: `crowd-0`, `crowd-1` ... */
export function crowd(): { tokens: readonly string[]; fill: (sql: Sql) => Promise<void> } {
  const tokens = Array.from({ length: TOKENS }, createToken)
  return {
    tokens,
    async fill(sql) {
      await sql`
        INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
        SELECT 'crowd', prefix, decode(digest, 'hex'), '{*}', '{*}', '{read}'
        FROM unnest(${tokens.map((token) => token.slice(0, 12))}::text[],
                    ${tokens.map((token) => tokenDigest(token).toString('hex'))}::text[]) AS made (prefix, digest)`
      await sql`
        INSERT INTO basemaps (code, name, tile_base_url, source_code)
        SELECT 'crowd-' || n, 'Crowd ' || n, tile_base_url, source_code
        FROM basemaps, generate_series(0, ${CROWD_BASEMAPS - 1}::int) AS n WHERE code = 'mix'`
      await sql`
        INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, bounds, path,
                                      fingerprint, metadata, scanned_at)
        SELECT 'crowd-' || n, label, storage, format, extension, tile_size, min_zoom, max_zoom, bounds, path, fingerprint, metadata, scanned_at
        FROM basemap_versions, generate_series(0, ${CROWD_BASEMAPS - 1}::int) AS n, unnest(${VERSIONS}::text[]) AS label
        WHERE basemap_code = 'mix'`
    },
  }
}
