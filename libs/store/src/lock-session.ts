import { openSession, type Sql, type Transaction } from './connect.js'

/** Writing a hundred thousand rows takes seconds; nothing that holds a lock may take minutes. */
const STATEMENT_TIMEOUT_MS = 60_000

/** So soon does the database notice that the machine of a lock's holder is gone: idle seconds, then three probes. */
const SERVER_KEEP_ALIVE = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 }

/** The lock is free once the database has ended the session, which takes a busy one its time; seconds. */
const ENDED_WITHIN = 5

const LOST = 'the connection that held the lock was lost'

/** A session-level advisory lock, on a connection that serves nothing else and belongs to no pool. */
export interface LockSession {
  /** aborted when the connection, and with it the lock, is lost */
  readonly lost: AbortSignal
  /**
   * One transaction on the very connection that holds the lock: where the lock is lost, the transaction fails with it.
   */
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Gives the lock back and closes the connection. Never rejects. */
  release(): Promise<void>
}

/** Takes an advisory lock without waiting; null: somebody has it. A crash frees it at once, a vanished machine after about 25 s. */
export async function tryLockSession(sql: Sql, lock: number): Promise<LockSession | null> {
  const lost = new AbortController()
  const session = openSession(sql, STATEMENT_TIMEOUT_MS, {
    settings: SERVER_KEEP_ALIVE,
    onclose: () => lost.abort(new Error(LOST)),
  })
  const end = () => session.end({ timeout: ENDED_WITHIN }).catch(() => {})
  try {
    const [row] = await session<{ locked: boolean; pid: number }[]>`
      SELECT pg_try_advisory_lock(${lock}) AS locked, pg_backend_pid() AS pid`
    if (!row?.locked) {
      await end()
      return null
    }
    return { lost: lost.signal, begin: (work) => fencedBegin(session, row.pid, work), release: end }
  } catch (error) {
    await end()
    throw error
  }
}

/** The client connects anew by itself, and the new session holds no lock: hence the look at the process id. */
async function fencedBegin<T>(session: Sql, pid: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const result = await session.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    if (row?.pid !== pid) throw new Error(LOST)
    return await work(tx)
  })
  return result as T
}
