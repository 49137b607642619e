import type { KnownTileMatrixSetId } from '@gateway/contracts/basemap.js'
import {
  REFUSAL_REASONS,
  USAGE_KINDS,
  USAGE_PAIRS,
  type UsageBy,
  type UsageCellKind,
  type UsageItem,
  type UsageRow,
} from '@gateway/contracts/usage.js'
import { USAGE_AMOUNTS } from '@gateway/contracts/without-schemas.js'
import { SHOWN_NAME } from './catalog-lists.js'
import type { Queryable, Sql } from './connect.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'
import { isoDates } from './sql.js'

/**
 * Maximum number of map cells in one day, of 130 bytes each, kept for CELL_DAYS. A version has some 11,000 cells, and a reader of many versions could
 * request tiles in all of them. Above the limit, only cells that the day already has are increased.
 */
const MAX_CELLS_A_DAY = 1_000_000

/** The sums of a row. Those by reason are null instead of 0. */
export const SUMS = [...USAGE_AMOUNTS, ...REFUSAL_REASONS.map((reason) => `refused_by_${reason}`)]

/** Parts of SQL statements, built only from names in this program. */
export const SUM_COLUMNS = SUMS.join(', ')
export const addedTo = (table: string): string =>
  SUMS.map((name) => {
    const [old, more] = [`${table}.${name}`, `excluded.${name}`]
    return name.startsWith('refused_by_')
      ? `${name} = coalesce(${old} + ${more}, ${old}, ${more})`
      : `${name} = ${old} + ${more}`
  }).join(', ')
const GIVEN_REFUSALS = REFUSAL_REASONS.map(
  (reason) => `(refusals -> '${reason}' ->> 'requests')::bigint AS refused_by_${reason}`,
).join(', ')

/**
 * Adds a batch of a writer to the sums, unless it was added before. Batches of one writer come in the order of their numbers. Tokens of the console's
 * previews are temporary, and are not counted. One statement, so that all of it is done or nothing.
 */
export async function addUsage(
  sql: Sql,
  writer: string,
  batch: number,
  rows: readonly UsageRow[],
  maxCellsADay = MAX_CELLS_A_DAY,
): Promise<void> {
  const column = <Name extends keyof UsageRow>(name: Name): string[] => rows.map((row) => String(row[name]))
  const tokens = uuidsIn(rows.filter(({ kind }) => kind === 'token' || isPair(kind)).map(tokenOf))
  const hours = rows.map(({ at }) => new Date(at).toISOString())
  const refusals = rows.map((row) => JSON.stringify(row.refusals ?? {}))
  const failed = rows.map((row) => String(row.failed ?? 0))
  // In the order of the key, so that two writers never wait for each other.
  await sql`
    WITH fresh AS (
      INSERT INTO usage_writers (id, last_batch) VALUES (${writer}, ${batch})
      ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, at = now()
      WHERE usage_writers.last_batch < excluded.last_batch
      RETURNING id),
    previews AS MATERIALIZED (SELECT id::text AS token FROM tokens WHERE id = ANY(${tokens}::uuid[]) AND preview),
    given AS MATERIALIZED (
      SELECT r.*, ${sql.unsafe(GIVEN_REFUSALS)}, split_part(id, '/', 1) AS token
      FROM (
        SELECT kind, id, at, requests, tiles, tile_404, refused, bytes, refusals::jsonb AS refusals, failed
        FROM unnest(${column('kind')}::text[], ${column('id')}::text[], ${hours}::timestamptz[],
          ${column('requests')}::bigint[], ${column('tiles')}::bigint[], ${column('tile_404')}::bigint[],
          ${column('refused')}::bigint[], ${column('bytes')}::bigint[], ${refusals}::text[], ${failed}::bigint[])
          AS g (kind, id, at, requests, tiles, tile_404, refused, bytes, refusals, failed)) AS r
      WHERE EXISTS (SELECT FROM fresh)),
    told AS (
      SELECT part[1] AS basemap_code, part[2] AS version, (at AT TIME ZONE 'UTC')::date AS day, part[3]::smallint AS z, part[4]::integer AS x,
        part[5]::integer AS y, requests, tile_404
      FROM given, string_to_array(id, '/') AS part WHERE kind = 'cell'),
    cells AS (
      INSERT INTO usage_cells (basemap_code, version, day, z, x, y, requests, tile_404)
      SELECT basemap_code, version, day, z, x, y, requests, tile_404
      FROM told LEFT JOIN usage_cell_days AS full_days USING (day)
      WHERE coalesce(full_days.cells, 0) < ${maxCellsADay}
        OR EXISTS (
          SELECT FROM usage_cells AS known
          WHERE (known.basemap_code, known.version, known.day, known.z, known.x, known.y) =
            (told.basemap_code, told.version, told.day, told.z, told.x, told.y))
      ORDER BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (basemap_code, version, day, z, x, y) DO UPDATE SET requests = usage_cells.requests + excluded.requests,
        tile_404 = usage_cells.tile_404 + excluded.tile_404
      RETURNING day, xmax = 0 AS is_new),
    judged AS (
      SELECT id, sum(tiles + tile_404 + failed)::bigint AS requests, sum(tile_404)::bigint AS missing, sum(failed)::bigint AS failed
      FROM given WHERE kind = 'version' GROUP BY id),
    canaries AS (
      UPDATE default_switches AS s SET
        before_requests = s.before_requests + coalesce(b.requests, 0), before_missing = s.before_missing + coalesce(b.missing, 0),
        before_failed = s.before_failed + coalesce(b.failed, 0),
        after_requests = s.after_requests + coalesce(a.requests, 0), after_missing = s.after_missing + coalesce(a.missing, 0),
        after_failed = s.after_failed + coalesce(a.failed, 0)
      FROM default_switches AS running
        LEFT JOIN judged AS b ON b.id = running.basemap_code || '/' || running.before_version
        LEFT JOIN judged AS a ON a.id = running.basemap_code || '/' || running.version
      WHERE running.status = 'canary' AND s.id = running.id AND (a.id IS NOT NULL OR b.id IS NOT NULL)),
    counted AS (
      INSERT INTO usage_cell_days (day, cells)
      SELECT day, count(*) FROM cells WHERE is_new GROUP BY day ORDER BY day
      ON CONFLICT (day) DO UPDATE SET cells = usage_cell_days.cells + excluded.cells),
    pairs AS (
      INSERT INTO usage_pairs_by_month (kind, token, code, at, ${sql.unsafe(SUM_COLUMNS)})
      SELECT split_part(kind, ',', 2), token, substr(id, length(token) + 2), at, ${sql.unsafe(SUM_COLUMNS)}
      FROM given
      WHERE kind IN ('token,basemap', 'token,vector') AND token NOT IN (SELECT token FROM previews)
      ORDER BY 1, 2, 3, 4
      ON CONFLICT (kind, token, code, at) DO UPDATE SET ${sql.unsafe(addedTo('usage_pairs_by_month'))}),
    refusals AS (
      INSERT INTO token_refusals (token_id, reason, requests, last_at)
      SELECT tokens.id, by.key, sum((by.value ->> 'requests')::bigint), to_timestamp(max((by.value ->> 'lastMs')::float8) / 1000)
      FROM given JOIN tokens ON given.kind = 'token' AND tokens.id::text = given.id AND NOT tokens.preview, jsonb_each(given.refusals) AS by
      WHERE tokens.id = ANY(${tokens}::uuid[])
      GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (token_id, reason) DO UPDATE SET requests = token_refusals.requests + excluded.requests,
        last_at = greatest(token_refusals.last_at, excluded.last_at))
    INSERT INTO usage_by_month (kind, id, at, ${sql.unsafe(SUM_COLUMNS)})
    SELECT kind, id, at, ${sql.unsafe(SUM_COLUMNS)} FROM given AS r
    WHERE kind = ANY(${[...USAGE_KINDS]}) AND NOT (kind = 'token' AND id IN (SELECT token FROM previews))
    ORDER BY r.kind, r.id, r.at
    ON CONFLICT (kind, id, at) DO UPDATE SET ${sql.unsafe(addedTo('usage_by_month'))}`
}

function isPair(kind: string): boolean {
  return (USAGE_PAIRS as readonly string[]).includes(kind)
}

function tokenOf({ id }: UsageRow): string {
  return id.split('/', 1)[0] as string
}

function uuidsIn(ids: readonly string[]): string[] {
  return ids.filter((id) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
}

/** Number of days of the mean that is shown next to each basemap in a list. */
const MEAN_DAYS = 7

/** Returns the requests for each basemap, as the mean of the last 7 days. Basemaps without requests are absent. */
export async function readRequestsPerDay(sql: Queryable, codes: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql<{ code: string; requests: number }[]>`
    SELECT id AS code, sum(requests)::float8 / ${MEAN_DAYS} AS requests FROM usage_by_month
    WHERE kind = 'basemap' AND id = ANY(${codes as string[]}::text[]) AND at > now() - make_interval(days => ${MEAN_DAYS})
    GROUP BY id`
  return new Map(rows.map(({ code, requests }) => [code, requests]))
}

export const USAGE_STEPS = ['hour', 'day', 'total'] as const
export type UsageStep = (typeof USAGE_STEPS)[number]

export const USAGE_LISTING = {
  searched: { id: 'id' },
  sortable: {
    at: 'at',
    id: 'id',
    requests: 'requests',
    tiles: 'tiles',
    tile_404: 'tile_404',
    refused: 'refused',
    bytes: 'bytes',
  },
  order: 'at',
  // Breaks ties of equal times and amounts.
  key: 'id, at',
  filters: {},
} satisfies Listing

export interface UsageRequest extends ListRequest {
  readonly by: UsageBy
  /** undefined: all; for pairs see the other fields */
  readonly id?: string | undefined
  /** for a pair; undefined: all */
  readonly token?: string | undefined
  /** basemap or vector of a pair; undefined: all */
  readonly code?: string | undefined
  /** selects hours that begin in [from, to) */
  readonly from: Date
  readonly to: Date
  readonly step: UsageStep
}

/** Returns sums by id and hour, by id and day in UTC, or only by id. Empty hours are omitted. */
export async function readUsage(sql: Sql, request: UsageRequest): Promise<Listed<UsageItem>> {
  const { by, id, token, code, from, to, step } = request
  const moment = {
    hour: sql`at`,
    day: sql`date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
    total: sql`${from.toISOString()}::timestamptz`,
  }[step]
  const only = (column: string, value: string | undefined) =>
    value === undefined ? sql`` : sql`AND ${sql(column)} = ${value}`
  const pair = isPair(by)
  const kind = by.slice(by.indexOf(',') + 1)
  const rows = pair
    ? sql`(SELECT token || '/' || code AS id, * FROM usage_pairs_by_month WHERE true ${only('token', token)} ${only('code', code)}) AS rows`
    : sql`(SELECT NULL AS token, NULL AS code, * FROM usage_by_month WHERE true ${only('id', id)}) AS rows`
  const sums = sql`(
    SELECT id, token, code, ${moment} AS at, ${sql.unsafe(SUMS.map((name) => `sum(${name})::bigint AS ${name}`).join(', '))}
    FROM ${rows}
    WHERE kind = ${kind} AND at >= ${from.toISOString()} AND at < ${to.toISOString()}
    GROUP BY 1, 2, 3, 4) AS sums`
  // Additional parameters of the route are not filters of this list.
  const { q, sort, limit, offset } = request
  const byReason = REFUSAL_REASONS.map((reason) => `'${reason}', refused_by_${reason}`).join(', ')
  const selection = {
    columns: sql`id, token, code, at, ${sql.unsafe(USAGE_AMOUNTS.join(', '))}, jsonb_strip_nulls(jsonb_build_object(${sql.unsafe(byReason)})) AS refused_by`,
    from: sums,
  }
  const { items, total } = await readList<UsageSum>(sql, USAGE_LISTING, selection, { q, sort, limit, offset })
  const codes = await namesOf(sql, kind, [...new Set(items.map((row) => (pair ? (row.code as string) : row.id)))])
  const tokens = pair ? await namesOf(sql, 'token', [...new Set(items.map((row) => row.token as string))]) : null
  const itemOf = ({ token: ofToken, code: ofCode, ...row }: UsageSum) => {
    const name = codes.get(ofCode ?? row.id) ?? null
    const together = pair && {
      token_id: ofToken,
      token_name: tokens?.get(ofToken as string) ?? null,
      [`${kind}_code`]: ofCode,
    }
    return isoDates<UsageItem>({ ...row, name, ...together })
  }
  return { items: items.map(itemOf), total }
}

type UsageSum = Record<'at' | 'refused_by' | (typeof USAGE_AMOUNTS)[number], unknown> & {
  readonly id: string
  readonly token: string | null
  readonly code: string | null
}

async function namesOf(sql: Sql, kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named: Readonly<Record<string, () => Promise<{ id: string; name: string }[]>>> = {
    token: () => sql`SELECT id::text, name FROM tokens WHERE id = ANY(${uuidsIn(ids)}::uuid[])`,
    basemap: () =>
      sql`SELECT b.code AS id, ${sql.unsafe(SHOWN_NAME)} AS name FROM basemaps b WHERE b.code = ANY(${ids as string[]})`,
    vector: () => sql`SELECT code AS id, name FROM vectors WHERE code = ANY(${ids as string[]})`,
  }
  const rows = (await named[kind]?.()) ?? []
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export interface UsageCellsRequest {
  readonly basemap: string
  /** undefined: all */
  readonly version?: string | undefined
  /** selects days in UTC that begin in [from, to) */
  readonly from: Date
  readonly to: Date
  readonly kind: UsageCellKind
  readonly limit: number
}

export interface UsageCell {
  readonly tileMatrixSet: KnownTileMatrixSetId
  readonly z: number
  readonly x: number
  readonly y: number
  readonly requests: number
  readonly missing: number
}

/** Returns the map cells in which tiles of existing versions were requested: the sums of cells, largest first, their number, and the total. */
export async function readUsageCells(
  sql: Sql,
  { basemap, version, from, to, kind, limit }: UsageCellsRequest,
): Promise<{ cells: UsageCell[]; total: number; requests: number }> {
  const amount = kind === 'misses' ? sql`sum(c.tile_404)` : sql`sum(c.requests)`
  const rows = await sql<(UsageCell & { total: number; sum: number })[]>`
    SELECT v.tile_matrix_set AS "tileMatrixSet", c.z, c.x, c.y, sum(c.requests)::bigint AS requests, sum(c.tile_404)::bigint AS missing,
      (count(*) OVER ())::integer AS total, (sum(${amount}) OVER ())::bigint AS sum
    FROM usage_cells c JOIN basemap_versions v USING (basemap_code, version)
    WHERE c.basemap_code = ${basemap} AND v.tile_matrices IS NULL AND c.day >= (${from.toISOString()}::timestamptz AT TIME ZONE 'UTC')::date
      AND c.day < ${to.toISOString()}::timestamptz AT TIME ZONE 'UTC' ${version === undefined ? sql`` : sql`AND c.version = ${version}`}
    GROUP BY 1, 2, 3, 4 HAVING ${amount} > 0
    ORDER BY ${amount} DESC, 1, 2, 3, 4 LIMIT ${limit}`
  const cells = rows.map(({ total: _, sum: __, ...cell }) => cell)
  return { cells, total: rows[0]?.total ?? 0, requests: rows[0]?.sum ?? 0 }
}
