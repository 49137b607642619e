import { setTimeout as sleep } from 'node:timers/promises'
import { pruneChangeLog } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { pruneDeliveries } from '@gateway/store/delivery-retention.js'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'

/** What is pruned is kept for days: an hour more or less is of no account. Several control planes may do the same. */
const EVERY_MS = 3_600_000

const PRUNED: Readonly<Record<string, (sql: Sql) => Promise<unknown>>> = {
  'the change log': pruneChangeLog,
  'old push records': pruneDeliveries,
}

export const housekeeping: BackgroundLoop = {
  name: 'housekeeping',
  async run({ sql, log, shutdown }: ControlContext) {
    while (!shutdown.aborted) {
      for (const [what, prune] of Object.entries(PRUNED)) {
        await prune(sql).catch((error: Error) => {
          if (!shutdown.aborted)
            log.warn({ what, err: error.message }, 'could not be pruned; the next hour tries again')
        })
      }
      await sleep(EVERY_MS, undefined, { signal: shutdown }).catch(() => {})
    }
  },
}
