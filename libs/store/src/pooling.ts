import { openSession, type Sql } from './connect.js'

const ANSWER_WITHIN_MS = 5_000

/**
 * Whether each connection is a session of its own. A pooler that gives connections to whichever client has a transaction (PgBouncer's
 * `pool_mode = transaction`) hands two connections that stand at the same time the same server process, or one connection two of them.
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

/** Without a prepared statement, which such a pooler may not know any more. */
async function processOf(session: Sql): Promise<number | undefined> {
  const [row] = await session.unsafe<{ pid: number }[]>('SELECT pg_backend_pid() AS pid')
  return row?.pid
}
