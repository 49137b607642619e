import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { Sql } from '@gateway/store/connect.js'
import { type LockSession, tryLockSession } from '@gateway/store/lock-session.js'

/** Any number that no other advisory lock of the database has. */
export const SCAN_LOCK = 891_002

/** Runs `work` while no scan runs in the whole cluster; refused while one does. */
export async function withScanLock<T>(sql: Sql, work: (lock: LockSession) => Promise<T>): Promise<T | Refusal> {
  const lock = await tryLockSession(sql, SCAN_LOCK)
  if (lock === null) return refuse('scan_running', coded('scan_already_running'))
  try {
    return await work(lock)
  } finally {
    await lock.release()
  }
}
