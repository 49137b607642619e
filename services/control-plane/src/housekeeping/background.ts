import { setTimeout as sleep } from 'node:timers/promises'
import { pruneChangeLog } from '@gateway/store/change-log.js'
import type { BackgroundLoop } from '../background.js'
import type { ControlContext } from '../context.js'

/** The change log keeps a day; an hour more or less is of no account. Several control planes may do the same. */
const EVERY_MS = 3_600_000

export const housekeeping: BackgroundLoop = {
  name: 'housekeeping',
  async run({ sql, log, shutdown }: ControlContext) {
    while (!shutdown.aborted) {
      await pruneChangeLog(sql).catch((error: Error) => {
        if (!shutdown.aborted)
          log.warn({ err: error.message }, 'the change log could not be pruned; the next hour tries again')
      })
      await sleep(EVERY_MS, undefined, { signal: shutdown }).catch(() => {})
    }
  },
}
