import { USAGE_KINDS } from '@gateway/contracts/usage.js'
import { openSession, type Sql } from './connect.js'
import { addedTo, SUM_COLUMNS, SUMS } from './usage.js'
import { BY_MONTH, type ByMonth, dropMonth, LOCK_TIMEOUT_MS, type Month, readMonths } from './usage-months.js'

/** Days for which map cells are kept; a version may have a few thousand cells a day. */
export const CELL_DAYS = 31

/** Days for which usage is kept by the hour. After that it is kept by the day. */
export const HOUR_DAYS = 40

/** Number of rows that one statement deletes or rolls up, so that it holds its locks only briefly. */
const BATCH = 10_000

/** Maximum time in ms for rewriting a month. */
const PACK_TIMEOUT_MS = 1_800_000

const KEYS: Readonly<Record<ByMonth['table'], string>> = {
  usage_by_month: 'kind, id',
  usage_pairs_by_month: 'kind, token, code',
}

/**
 * Rolls hours older than `hourDays` up to days in UTC. Sums of days and totals stay the same. Only one control plane does it at a time.
 * Returns the number of removed hours.
 */
export async function rollUpUsage(sql: Sql, hourDays = HOUR_DAYS): Promise<number> {
  const days = await sql<{ from: string; until: string }[]>`
    SELECT day::text AS from, (day + interval '24 hours')::text AS until
    FROM (SELECT coalesce((SELECT until FROM usage_rolled_up),
        least((SELECT min(at) FROM usage_by_month), (SELECT min(at) FROM usage_pairs_by_month), now())) AS first) AS known,
      generate_series(date_trunc('day', first, 'UTC'), date_trunc('day', now(), 'UTC') - make_interval(days => ${hourDays + 1}), '24 hours') AS day`
  let gone = 0
  // Day by day, so that no statement reads days that are already rolled up.
  for (const { from, until } of days) {
    for (const parent of BY_MONTH)
      for (const { name } of await monthsOf(sql, parent, Date.parse(from)))
        for (let batch = BATCH; batch > 0; gone += batch)
          batch = await rollUpSome(sql, name, KEYS[parent.table], from, until)
    await sql.begin(async (tx) => {
      await tx`DELETE FROM usage_rolled_up`
      await tx`INSERT INTO usage_rolled_up VALUES (${until}::text::timestamptz)`
    })
  }
  return gone
}

/** Returns the monthly tables whose range contains `at`. */
async function monthsOf(sql: Sql, parent: ByMonth, at: number): Promise<Month[]> {
  return (await readMonths(sql, parent)).filter(({ from, until }) => from <= at && at < until)
}

/** Runs one statement, so that hours either become part of their day, or stay. A row's `ctid` is unique in one table only, so it names a month. */
async function rollUpSome(sql: Sql, month: string, key: string, from: string, until: string): Promise<number> {
  const day = `date_trunc('day', at, 'UTC')`
  const sums = SUMS.map((name) => `sum(${name})`).join(', ')
  const [row] = await sql.unsafe<{ count: number }[]>(
    `WITH hours AS (
       DELETE FROM ${month} WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM ${month} WHERE ${ANY_KIND} AND at >= $1::text::timestamptz AND at < $2::text::timestamptz AND at <> ${day} LIMIT ${BATCH}))
       RETURNING *),
     days AS (
       INSERT INTO ${month} (${key}, at, ${SUM_COLUMNS})
       SELECT ${key}, ${day}, ${sums} FROM hours GROUP BY ${key}, ${day} ORDER BY ${key}
       ON CONFLICT (${key}, at) DO UPDATE SET ${addedTo(month)})
     SELECT count(*)::float8 AS count FROM hours`,
    [from, until],
  )
  return row?.count ?? 0
}

/** Selects all rows, and lets the indexes by time serve, which begin with the kind. */
const ANY_KIND = `kind = ANY(ARRAY[${USAGE_KINDS.map((kind) => `'${kind}'`).join(', ')}])`

/**
 * Rewrites each month whose hours have all become days, once: its table is 24 times as large as its days, and nobody writes it any more. Readers of
 * that month wait meanwhile. Returns the names of rewritten tables.
 */
export async function packUsage(sql: Sql): Promise<readonly string[]> {
  const [row] = await sql<{ until: Date }[]>`SELECT until FROM usage_rolled_up`
  const packed = new Set((await sql<{ name: string }[]>`SELECT name FROM usage_packed`).map(({ name }) => name))
  const months = (await Promise.all(BY_MONTH.map((parent) => readMonths(sql, parent)))).flat()
  const due = months.filter(({ name, until }) => until <= (row?.until.getTime() ?? 0) && !packed.has(name))
  if (due.length === 0) return []
  const session = openSession(sql, PACK_TIMEOUT_MS, { settings: { lock_timeout: LOCK_TIMEOUT_MS } })
  try {
    for (const { name } of due) {
      await session.unsafe(`VACUUM (FULL, ANALYZE) ${name}`)
      await session`INSERT INTO usage_packed (name) VALUES (${name}) ON CONFLICT DO NOTHING`
    }
  } finally {
    await session.end({ timeout: 1 })
  }
  return due.map(({ name }) => name)
}

/** Days of silence after which a writer does not repeat a batch any more. */
const WRITER_DAYS = 7

/** Deletes usage older than `days`. Returns the number of deleted rows; rows of dropped months are not counted. */
export async function pruneUsage(sql: Sql, days: number): Promise<number> {
  await sql`DELETE FROM usage_writers WHERE at < now() - make_interval(days => ${WRITER_DAYS})`
  const [row] = await sql<{ end: Date }[]>`SELECT now() - make_interval(days => ${days}) AS end`
  const end = (row as { end: Date }).end.getTime()
  let deleted = 0
  for (const parent of BY_MONTH) {
    for (const month of await readMonths(sql, parent)) {
      if (month.until <= end) await dropMonth(sql, month)
      else if (month.from < end) deleted += await pruneMonth(sql, month.name, new Date(end))
    }
  }
  const cellDays = Math.min(days, CELL_DAYS)
  await sql`DELETE FROM usage_cell_days WHERE day < (now() AT TIME ZONE 'UTC')::date - ${cellDays}::integer`
  for (let batch = BATCH; batch === BATCH; deleted += batch) {
    const { count } = await sql`
      DELETE FROM usage_cells WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM usage_cells WHERE day < (now() AT TIME ZONE 'UTC')::date - ${cellDays}::integer LIMIT ${BATCH}))`
    batch = count
  }
  return deleted
}

async function pruneMonth(sql: Sql, month: string, end: Date): Promise<number> {
  let deleted = 0
  for (let batch = BATCH; batch === BATCH; deleted += batch) {
    const { count } = await sql.unsafe(
      `DELETE FROM ${month} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${month} WHERE ${ANY_KIND} AND at < $1::text::timestamptz LIMIT ${BATCH}))`,
      [end.toISOString()],
    )
    batch = count
  }
  return deleted
}
