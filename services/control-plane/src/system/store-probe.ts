import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@gateway/store/connect.js'

/** Probes give up after a second or two themselves: a store that is slower than this is none. */
const ANSWER_WITHIN_MS = 1500

/** Whether the store answers now. */
export async function isStoreUp(sql: Sql): Promise<boolean> {
  const gaveUp = new AbortController()
  const asked = sql`SELECT 1`.then(
    () => true,
    () => false,
  )
  const late = sleep(ANSWER_WITHIN_MS, false, { signal: gaveUp.signal }).catch(() => false)
  const up = await Promise.race([asked, late])
  gaveUp.abort()
  return up
}
