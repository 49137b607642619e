import type { Queryable } from './connect.js'
import { effectiveDefault } from './default-version.js'

interface Known {
  readonly code: string
  readonly setDefault: string | null
  /** last entry of the history; null if the history is empty */
  readonly last: string | null
  readonly isKnown: boolean
  readonly versions: readonly { readonly version: string; readonly available: boolean; readonly withdrawn: boolean }[]
}

/**
 * Records the current default of these basemaps in the history, as this transaction sees it, if it differs from the last entry.
 * `codes` null: those that have no history yet.
 */
export async function noteDefaults(tx: Queryable, codes: readonly string[] | null): Promise<void> {
  if (codes?.length === 0) return
  const which =
    codes === null
      ? tx`NOT EXISTS (SELECT FROM basemap_defaults d WHERE d.basemap_code = b.code)`
      : tx`b.code = ANY(${codes as string[]}::text[])`
  const rows = await tx<Known[]>`
    SELECT b.code, b.default_version AS "setDefault", now.version AS last, now.basemap_code IS NOT NULL AS "isKnown",
      coalesce((SELECT json_agg(json_build_object('version', v.version, 'available', v.available, 'withdrawn', v.withdrawn))
        FROM basemap_versions v WHERE v.basemap_code = b.code), '[]') AS versions
    FROM basemaps b LEFT JOIN basemap_defaults now ON now.basemap_code = b.code AND now.until IS NULL
    WHERE ${which}`
  const others = rows.flatMap(({ code, setDefault, versions, last, isKnown }) => {
    const version = effectiveDefault(setDefault, versions)
    return isKnown && version === last ? [] : [{ code, version }]
  })
  if (others.length === 0) return
  const changed = others.map(({ code }) => code)
  // Periods follow each other, even if the clock was set back meanwhile.
  const ended = await tx<{ code: string; until: Date }[]>`
    UPDATE basemap_defaults SET until = greatest(clock_timestamp(), since + interval '1 millisecond')
    WHERE basemap_code = ANY(${changed}::text[]) AND until IS NULL
    RETURNING basemap_code AS code, until`
  const untilOf = new Map(ended.map(({ code, until }) => [code, until]))
  const since = changed.map((code) => untilOf.get(code)?.toISOString() ?? null)
  // Another transaction may have just written the same entry.
  await tx`
    INSERT INTO basemap_defaults (basemap_code, version, since)
    SELECT code, version, coalesce(since, clock_timestamp())
    FROM unnest(${changed}::text[], ${others.map(({ version }) => version)}::text[], ${since}::timestamptz[]) AS d (code, version, since)
    ON CONFLICT DO NOTHING`
}

/** A period during which a version was the default. */
export interface DefaultSpan {
  /** null: the basemap had no default */
  readonly version: string | null
  readonly since: Date
  /** null for the current period */
  readonly until: Date | null
}

/** Returns the newest periods of a basemap, newest first. */
export async function readDefaultHistory(sql: Queryable, code: string, limit: number): Promise<DefaultSpan[]> {
  return await sql<DefaultSpan[]>`
    SELECT version, since, until FROM basemap_defaults WHERE basemap_code = ${code} ORDER BY since DESC LIMIT ${limit}`
}

/** Gives basemaps that are older than the history their first entry. */
export function beginHistories(tx: Queryable): Promise<void> {
  return noteDefaults(tx, null)
}
