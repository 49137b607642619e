import type { Sql } from './connect.js'

/**
 * The tables of usage by month, with the prefix of the names of their months. `rest` has times for which there is no month, which only a wrong clock
 * or a long absence of control planes causes.
 */
export const BY_MONTH = [
  { table: 'usage_by_month', prefix: 'usage', rest: 'usage_rest' },
  { table: 'usage_pairs_by_month', prefix: 'usage_pairs', rest: 'usage_pairs_rest' },
] as const
export type ByMonth = (typeof BY_MONTH)[number]

/** Number of months that have a table before they begin, so that edges write usage for as long without a control plane. */
const MONTHS_AHEAD = 3

/** Maximum time in ms that a change of tables waits for a lock. Statements of edges wait behind it; it is repeated in an hour. */
export const LOCK_TIMEOUT_MS = 500

/** The table of one month or of several; `from` and `until` in milliseconds since 1970. */
export interface Month {
  readonly name: string
  readonly from: number
  readonly until: number
}

/** Returns the tables of a parent in their order, and as the last one that of all other times. */
export async function readMonths(sql: Sql, { table, rest }: ByMonth): Promise<Month[]> {
  const rows = await sql<{ name: string; from: Date | null; until: Date | null }[]>`
    SELECT name, (regexp_match(bound, 'FROM [(]''([^'']+)'''))[1]::timestamptz AS from,
      (regexp_match(bound, 'TO [(]''([^'']+)'''))[1]::timestamptz AS until
    FROM (
      SELECT relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound
      FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = ${table}::regclass) AS months
    ORDER BY name = ${rest}, 2 NULLS FIRST`
  return rows.map(({ name, from, until }) => ({
    name,
    from: from?.getTime() ?? Number.NEGATIVE_INFINITY,
    until: until?.getTime() ?? Number.POSITIVE_INFINITY,
  }))
}

/** Creates the tables of the current and the next months, with the usage of these months that was in no table of a month. */
export async function addUsageMonths(sql: Sql, now: Date): Promise<void> {
  for (const parent of BY_MONTH) {
    const known = (await readMonths(sql, parent)).filter(({ name }) => name !== parent.rest)
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead++) {
      const from = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)
      const until = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1)
      if (!known.some((month) => month.from < until && month.until > from)) await addMonth(sql, parent, from, until)
    }
  }
}

async function addMonth(sql: Sql, { table, prefix, rest }: ByMonth, from: number, until: number): Promise<void> {
  const [first, next] = [new Date(from).toISOString(), new Date(until).toISOString()]
  const name = `${prefix}_${first.slice(0, 7).replace('-', '_')}`
  await sql.begin(async (tx) => {
    await tx.unsafe(`
      SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};
      CREATE TABLE ${name} (LIKE ${table} INCLUDING CONSTRAINTS);
      WITH moved AS (DELETE FROM ${rest} WHERE at >= '${first}' AND at < '${next}' RETURNING *)
        INSERT INTO ${name} SELECT * FROM moved;
      ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${first}') TO ('${next}')`)
  })
}

/** Drops a month with all of its usage. */
export async function dropMonth(sql: Sql, { name }: Month): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; DROP TABLE ${name}`)
    await tx`DELETE FROM usage_packed WHERE name = ${name}`
  })
}
