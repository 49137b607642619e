import type { Sql, Transaction } from '@gateway/store/connect.js'

/** Any number serves, as long as nothing else in the database takes an advisory lock of the same one. */
const SCAN_LOCK = 891_002

/** A reserved connection that says nothing for long may be closed as idle, and a lost one is noticed by this. */
const KEEP_ALIVE_MS = 15_000

export interface HeldScanLock {
  /**
   * Runs the writes of a scan in one transaction on the very connection that holds the lock: where the lock is lost, the writes fail with
   * it, and two scans can never write at once.
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** aborted when the connection, and with it the lock, is lost */
  readonly lost: AbortSignal
  release(): Promise<void>
}

/** Takes the one scan lock of the cluster; null: somebody scans. The lock goes with its connection, so that a crash frees it. */
export async function tryScanLock(sql: Sql): Promise<HeldScanLock | null> {
  const connection = await sql.reserve()
  try {
    const [row] = await connection<{ locked: boolean }[]>`SELECT pg_try_advisory_lock(${SCAN_LOCK}) AS locked`
    if (!row?.locked) {
      connection.release()
      return null
    }
  } catch (error) {
    connection.release()
    throw error
  }
  const lost = new AbortController()
  const keepAlive = setInterval(() => {
    connection`SELECT 1`.catch((error) => lost.abort(error))
  }, KEEP_ALIVE_MS)
  return {
    lost: lost.signal,
    write: async (work) => {
      await connection.unsafe('BEGIN')
      try {
        const result = await work(connection as unknown as Transaction)
        await connection.unsafe('COMMIT')
        return result
      } catch (error) {
        await connection.unsafe('ROLLBACK').catch(() => {})
        throw error
      }
    },
    release: async () => {
      clearInterval(keepAlive)
      await connection`SELECT pg_advisory_unlock(${SCAN_LOCK})`.catch(() => {})
      connection.release()
    },
  }
}
