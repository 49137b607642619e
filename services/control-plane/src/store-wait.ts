import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/logging/log.js'
import type { Sql } from '@gateway/store/connect.js'
import { migrate } from '@gateway/store/migrate.js'
import { isStoreDown } from './http/store-down.js'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 2000

/**
 * Waits for the store to answer and brings its schema up to date, however long the store takes to come. Rejects for what waiting does
 * not mend (a wrong password, a database that is newer than this program) and when `shutdown` is aborted.
 */
export async function migrateWhenReachable(sql: Sql, log: Log, shutdown: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT_MS
  for (let attempt = 1; ; attempt++) {
    shutdown.throwIfAborted()
    try {
      return await migrate(sql)
    } catch (error) {
      if (!isStoreDown(error)) throw error
      if (attempt === 1) log.warn({ err: (error as Error).message }, 'the store cannot be reached yet; waiting for it')
      await sleep(wait, undefined, { signal: shutdown })
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    }
  }
}
