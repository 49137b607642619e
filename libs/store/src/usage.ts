import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import {
  USAGE_KINDS,
  type UsageCellKind,
  type UsageItem,
  type UsageKind,
  type UsageRow,
} from '@gateway/contracts/usage.js'
import type { Sql } from './connect.js'
import { isoDates } from './iso-dates.js'
import { type Listed, type Listing, type ListRequest, readList } from './listing.js'

/**
 * Adds a batch of a writer to the sums, unless it was added before; of one writer, batches come in the order of their numbers. Previews of the console
 * come and go by themselves: to their tokens nothing is accounted. One statement: all of it is done, or nothing.
 */
export async function addUsage(sql: Sql, writer: string, batch: number, rows: readonly UsageRow[]): Promise<void> {
  const column = <Name extends keyof UsageRow>(name: Name): string[] => rows.map((row) => String(row[name]))
  const tokens = uuidsIn(rows.filter(({ kind }) => kind === 'token').map(({ id }) => id))
  const hours = rows.map(({ at }) => new Date(at).toISOString())
  // In the order of the key, so that two writers never wait for each other.
  await sql`
    WITH fresh AS (
      INSERT INTO usage_writers (id, last_batch) VALUES (${writer}, ${batch})
      ON CONFLICT (id) DO UPDATE SET last_batch = excluded.last_batch, at = now()
      WHERE usage_writers.last_batch < excluded.last_batch
      RETURNING id),
    given AS (
      SELECT r.* FROM unnest(${column('kind')}::text[], ${column('id')}::text[], ${hours}::timestamptz[],
        ${column('requests')}::bigint[], ${column('tiles')}::bigint[], ${column('tile_404')}::bigint[],
        ${column('refused')}::bigint[], ${column('bytes')}::bigint[]) AS r (kind, id, at, requests, tiles, tile_404, refused, bytes)
      WHERE EXISTS (SELECT FROM fresh)),
    cells AS (
      INSERT INTO usage_cells (basemap_code, version, day, z, x, y, requests, tile_404)
      SELECT part[1], part[2], (at AT TIME ZONE 'UTC')::date, part[3]::smallint, part[4]::integer, part[5]::integer, requests, tile_404
      FROM given, string_to_array(id, '/') AS part WHERE kind = 'cell'
      ORDER BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (basemap_code, version, day, z, x, y) DO UPDATE SET requests = usage_cells.requests + excluded.requests,
        tile_404 = usage_cells.tile_404 + excluded.tile_404)
    INSERT INTO usage_hours (kind, id, at, requests, tiles, tile_404, refused, bytes)
    SELECT * FROM given AS r
    WHERE kind <> 'cell'
      AND NOT (r.kind = 'token' AND r.id IN (SELECT id::text FROM tokens WHERE id = ANY(${tokens}::uuid[]) AND preview))
    ORDER BY r.kind, r.id, r.at
    ON CONFLICT (kind, id, at) DO UPDATE SET requests = usage_hours.requests + excluded.requests,
      tiles = usage_hours.tiles + excluded.tiles, tile_404 = usage_hours.tile_404 + excluded.tile_404,
      refused = usage_hours.refused + excluded.refused, bytes = usage_hours.bytes + excluded.bytes`
}

function uuidsIn(ids: readonly string[]): string[] {
  return ids.filter((id) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
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
  // Of one moment and amount.
  key: 'id, at',
  filters: {},
} satisfies Listing

export interface UsageRequest extends ListRequest {
  readonly by: UsageKind
  /** undefined: of all */
  readonly id?: string | undefined
  /** the hours that begin in [from, to) */
  readonly from: Date
  readonly to: Date
  readonly step: UsageStep
}

/** Sums by id and hour, by id and day in UTC, or by id alone; hours without anything are left out. */
export async function readUsage(sql: Sql, request: UsageRequest): Promise<Listed<UsageItem>> {
  const { by, id, from, to, step } = request
  const moment = {
    hour: sql`at`,
    day: sql`date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
    total: sql`${from.toISOString()}::timestamptz`,
  }[step]
  const sums = sql`(
    SELECT id, ${moment} AS at, sum(requests)::bigint AS requests, sum(tiles)::bigint AS tiles, sum(tile_404)::bigint AS tile_404,
      sum(refused)::bigint AS refused, sum(bytes)::bigint AS bytes
    FROM usage_hours
    WHERE kind = ${by} AND at >= ${from.toISOString()} AND at < ${to.toISOString()} ${id === undefined ? sql`` : sql`AND id = ${id}`}
    GROUP BY 1, 2) AS sums`
  // What the route takes beside a list's own parameters is no filter of this list.
  const { q, sort, limit, offset } = request
  const selection = {
    columns: sql`id, at, requests, tiles, tile_404, refused, bytes`,
    from: sums,
  }
  const { items, total } = await readList<UsageSum>(sql, USAGE_LISTING, selection, {
    q,
    sort,
    limit,
    offset,
  })
  const names = await namesOf(sql, by, [...new Set(items.map((row) => row.id))])
  return { items: items.map((row) => isoDates<UsageItem>({ ...row, name: names.get(row.id) ?? null })), total }
}

type UsageSum = Omit<{ readonly [K in keyof UsageItem]: unknown }, 'name' | 'id'> & { readonly id: string }

async function namesOf(sql: Sql, by: UsageKind, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const named = {
    token: () => sql`SELECT id::text, name FROM tokens WHERE id = ANY(${uuidsIn(ids)}::uuid[])`,
    basemap: () => sql`SELECT code AS id, name FROM basemaps WHERE code = ANY(${ids as string[]})`,
    vector: () => sql`SELECT code AS id, name FROM vectors WHERE code = ANY(${ids as string[]})`,
    version: () => [],
  }
  const rows = await named[by]()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export interface UsageCellsRequest {
  readonly basemap: string
  /** undefined: of all */
  readonly version?: string | undefined
  /** the days of UTC that begin in [from, to) */
  readonly from: Date
  readonly to: Date
  readonly kind: UsageCellKind
  readonly limit: number
}

export interface UsageCell {
  readonly tileMatrixSet: TileMatrixSetId
  readonly z: number
  readonly x: number
  readonly y: number
  readonly requests: number
  readonly missing: number
}

/** Where tiles of versions that there still are were asked for: the sums of cells, the largest first, how many cells there are, and the sum of all. */
export async function readUsageCells(
  sql: Sql,
  { basemap, version, from, to, kind, limit }: UsageCellsRequest,
): Promise<{ cells: UsageCell[]; total: number; requests: number }> {
  const amount = kind === 'misses' ? sql`sum(c.tile_404)` : sql`sum(c.requests)`
  const rows = await sql<(UsageCell & { total: number; sum: number })[]>`
    SELECT v.tile_matrix_set AS "tileMatrixSet", c.z, c.x, c.y, sum(c.requests)::bigint AS requests, sum(c.tile_404)::bigint AS missing,
      (count(*) OVER ())::integer AS total, (sum(${amount}) OVER ())::bigint AS sum
    FROM usage_cells c JOIN basemap_versions v USING (basemap_code, version)
    WHERE c.basemap_code = ${basemap} AND c.day >= (${from.toISOString()}::timestamptz AT TIME ZONE 'UTC')::date
      AND c.day < ${to.toISOString()}::timestamptz AT TIME ZONE 'UTC' ${version === undefined ? sql`` : sql`AND c.version = ${version}`}
    GROUP BY 1, 2, 3, 4 HAVING ${amount} > 0
    ORDER BY ${amount} DESC, 1, 2, 3, 4 LIMIT ${limit}`
  const cells = rows.map(({ total: _, sum: __, ...cell }) => cell)
  return { cells, total: rows[0]?.total ?? 0, requests: rows[0]?.sum ?? 0 }
}

/** How long it is kept where on the map tiles were asked for: a version may have some thousand cells a day. */
export const CELL_DAYS = 31

/** Deleted by one statement, so that none holds its locks for long. */
const BATCH = 10_000
/** A writer that has been silent for so long does not come back with a batch that it has written before. */
const WRITER_DAYS = 7

/** Deletes usage older than `days`; answers the rows deleted. */
export async function pruneUsage(sql: Sql, days: number): Promise<number> {
  await sql`DELETE FROM usage_writers WHERE at < now() - make_interval(days => ${WRITER_DAYS})`
  let deleted = 0
  for (let batch = BATCH; batch === BATCH; deleted += batch) {
    const { count } = await sql`
      DELETE FROM usage_hours WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM usage_hours WHERE kind = ANY(${USAGE_KINDS as unknown as string[]}) AND at < now() - make_interval(days => ${days}) LIMIT ${BATCH}))`
    batch = count
  }
  const cellDays = Math.min(days, CELL_DAYS)
  for (let batch = BATCH; batch === BATCH; deleted += batch) {
    const { count } = await sql`
      DELETE FROM usage_cells WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM usage_cells WHERE day < (now() AT TIME ZONE 'UTC')::date - ${cellDays}::integer LIMIT ${BATCH}))`
    batch = count
  }
  return deleted
}
