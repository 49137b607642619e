import { setTimeout as sleep } from 'node:timers/promises'
import { openBus } from '@gateway/store/bus/open.js'
import type { Sql } from '@gateway/store/connect.js'
import { deletePresence } from '@gateway/store/edge-presence.js'

/** Limit: time in ms that a stopping edge waits for the bus and the store. */
const WITHIN_MS = 2_000
const LOOK_AGAIN_MS = 20

/** Withdraws the presence of processes that have ended, from the bus and from the store. Rejects if one of them is unreachable. */
export async function withdrawPresences(sql: Sql, redisUrl: string | null, ids: readonly string[]): Promise<void> {
  const stored = Promise.all(ids.map((id) => deletePresence(sql, id)))
  const work = redisUrl === null ? stored : Promise.all([stored, withdrawFromRedis(sql, redisUrl, ids)])
  const late = sleep(WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${WITHIN_MS} ms`)
  })
  await Promise.race([work, late])
}

async function withdrawFromRedis(sql: Sql, redisUrl: string, ids: readonly string[]): Promise<void> {
  const bus = await openBus(sql, { redisUrl, silentSeconds: 0, onTrouble: () => {} })
  try {
    // The bus refuses commands until its connections are ready, one after the other.
    const deadline = performance.now() + WITHIN_MS
    const withdraw = () => Promise.all(ids.map((id) => bus.withdraw(id)))
    for (;;) {
      try {
        return void (await withdraw())
      } catch (error) {
        if (performance.now() >= deadline) throw error
        await sleep(LOOK_AGAIN_MS)
      }
    }
  } finally {
    await bus.close()
  }
}
