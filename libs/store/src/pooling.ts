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
