import type { Queryable } from './connect.js'

/** Counts of the catalog. Withdrawn items, and those of disabled sources, do not count as missing while they are unavailable. */
export interface Ledger {
  readonly basemaps: number
  readonly versions: number
  readonly versions_unavailable: number
  readonly vectors: number
  readonly vectors_unavailable: number
  /** those whose tiles could not be built */
  readonly vectors_unbuilt: number
}

export async function readLedger(sql: Queryable): Promise<Ledger> {
  const [row] = await sql<Ledger[]>`
    SELECT (SELECT count(*) FROM basemaps) AS basemaps,
           (SELECT count(*) FROM basemap_versions) AS versions,
           (SELECT count(*) FROM basemap_versions v JOIN basemaps b ON b.code = v.basemap_code JOIN scan_sources s ON s.code = b.source_code
             WHERE NOT v.available AND NOT v.withdrawn AND NOT b.withdrawn AND s.enabled) AS versions_unavailable,
           (SELECT count(*) FROM vectors) AS vectors,
           (SELECT count(*) FROM vectors v JOIN scan_sources s ON s.code = v.source_code
             WHERE NOT v.available AND NOT v.withdrawn AND s.enabled) AS vectors_unavailable,
           (SELECT count(*) FROM vectors v JOIN scan_sources s ON s.code = v.source_code
             WHERE v.available AND NOT v.withdrawn AND s.enabled AND v.tiles_wanted AND v.build_tried >= v.revision AND v.build_message <> '')
             AS vectors_unbuilt`
  return row as Ledger
}

export interface TokenCounts {
  readonly active: number
  readonly expired: number
  readonly disabled: number
}

/** Counts tokens by their current state. A disabled token counts only as disabled. */
export async function countTokens(sql: Queryable): Promise<TokenCounts> {
  const [row] = await sql<TokenCounts[]>`
    SELECT count(*) FILTER (WHERE disabled_at IS NULL AND (expires_at IS NULL OR expires_at > now())) AS active,
           count(*) FILTER (WHERE disabled_at IS NULL AND expires_at <= now()) AS expired,
           count(*) FILTER (WHERE disabled_at IS NOT NULL) AS disabled
    FROM tokens WHERE NOT preview AND kind = 'service'`
  return row as TokenCounts
}
