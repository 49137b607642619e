import { openSession, type Sql } from './connect.js'

const ANSWER_WITHIN_MS = 5_000

/**
 * True if each connection is a separate session. A pooler that assigns server connections for each transaction (PgBouncer's
 * `pool_mode = transaction`) gives two open connections the same server process, or one connection two of them.
 */
export async function keepsSessions(sql: Sql): Promise<boolean> {
  const one = openSession(sql, ANSWER_WITHIN_MS)
  const other = openSession(sql, ANSWER_WITHIN_MS)
  try {
    const first = await processOf(one)
    const second = await processOf(other)
    return first !== second && first === (await processOf(one))
  } finally {
    await Promise.all([one.end({ timeout: 1 }), other.end({ timeout: 1 })])
  }
}

/** Avoids prepared statements, which such a pooler may have lost. */
async function processOf(session: Sql): Promise<number | undefined> {
  const [row] = await session.unsafe<{ pid: number }[]>('SELECT pg_backend_pid() AS pid')
  return row?.pid
}

/** Current use of a connection pool. */
export interface PoolLoad {
  /** connections with a query or a transaction; if all are busy, further queries wait */
  readonly busy: number
  /** open connections without work */
  readonly idle: number
  readonly max: number
}

/** Reads a field that our patch of the client adds (config/patches). */
export function poolLoad(sql: Sql): PoolLoad {
  return { ...(sql as Sql & { load(): Omit<PoolLoad, 'max'> }).load(), max: sql.options.max }
}

/** Rows of about a megabyte: a disk without this space is full, even if existing files have room inside. */
const ROWS = 10_000

/** Writes temporary data to the store's disk. Rejects if that fails. */
export async function probeWrite(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      CREATE TEMP TABLE gateway_write_probe ON COMMIT DROP AS
      SELECT md5(n::text) || md5((-n)::text) AS noise FROM generate_series(1, ${ROWS}::int) n`
  })
}
