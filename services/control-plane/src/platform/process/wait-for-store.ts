import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '@gateway/contracts/messages.js'
import type { Log } from '@gateway/core/logging/log.js'
import type { Sql } from '@gateway/store/connect.js'
import { migrate, StoreRefusal } from '@gateway/store/migrate.js'
import { keepsSessions } from '@gateway/store/pooling.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 2000
/** Time in ms after which a wait is reported to the operator. */
const SILENT_AFTER_MS = 3_000

const SHARED_SESSIONS =
  'DATABASE_URL points to a pool that shares its sessions. Locks and notifications do not work with such a pool: let it pool sessions ' +
  '(PgBouncer: pool_mode = session), or name the server itself'

/**
 * Waits until the store responds, however long that takes, and migrates its schema. Rejects with StoreRefusal for a permanent fault (a wrong
 * password, a database that is newer than this program), and when `shutdown` is aborted.
 * @param tell called once if it has to wait, with the reason
 */
export async function migrateWhenReachable(
  sql: Sql,
  log: Log,
  shutdown: AbortSignal,
  tell: (reason: string) => void,
): Promise<void> {
  let told = false
  const tellOnce = (reason: string) => {
    if (!told) tell(reason)
    told = true
  }
  const silence = setTimeout(tellOnce, SILENT_AFTER_MS, 'it does not answer yet')
  try {
    // Migrations may take longer, but the store has responded then.
    await migrateOnceReached(sql, log, shutdown, tellOnce, () => clearTimeout(silence))
  } finally {
    clearTimeout(silence)
  }
}

async function migrateOnceReached(
  sql: Sql,
  log: Log,
  shutdown: AbortSignal,
  tell: (reason: string) => void,
  onReached: () => void,
): Promise<void> {
  let wait = FIRST_WAIT_MS
  for (let attempt = 1; ; attempt++) {
    shutdown.throwIfAborted()
    try {
      if (!(await keepsSessions(sql))) throw new StoreRefusal(SHARED_SESSIONS)
      onReached()
      const newer = await migrate(sql)
      if (newer.length > 0)
        log.warn({ migrations: newer }, 'a newer version has migrated the store; this one works with it')
      return
    } catch (error) {
      const trouble = storeTrouble(error)
      if (trouble === null) throw error
      if (!trouble.passes) throw new StoreRefusal(`${textOf(trouble.said)} (${(error as Error).message})`)
      if (attempt === 1) {
        log.warn({ err: (error as Error).message }, 'the store cannot be reached yet; waiting for it')
        tell(`${textOf(trouble.said)} (${(error as Error).message})`)
      }
      await sleep(wait, undefined, { signal: shutdown })
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    }
  }
}
