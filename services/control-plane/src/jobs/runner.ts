import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import type { Sql } from '@gateway/store/connect.js'

/** One kind of work that waits in the store. */
export interface Work {
  /** plural name for the log */
  readonly name: string
  /** channel on which the store announces new work */
  readonly channel: string
  /** Claims due work, and starts or does it. Returns false if nothing was due. */
  claim(): Promise<boolean>
  /** milliseconds until work may be due */
  msToNext(): Promise<number>
  /** called on each announcement */
  onAnnounced?(): void
}

/** A sleep that can be cut short. A call while no one sleeps cuts the next sleep short. */
export class Wake {
  #called = false
  #wake: (() => void) | null = null

  call(): void {
    this.#called = true
    this.#wake?.()
  }

  async sleep(ms: number): Promise<void> {
    if (!this.#called) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = null
    }
    this.#called = false
  }
}

/** Pause in ms before the next try if the store does not respond. */
export const STORE_PAUSE_MS = 1000

/**
 * Claims work when it is due, until `shutdown`. An announcement, or `wake`, cuts its sleep short. Any number of processes may do so on one
 * store, because a claim takes a lease. Logs failures of the store and retries.
 */
export async function runWork(
  { sql, log, shutdown }: { readonly sql: Sql; readonly log: Log; readonly shutdown: AbortSignal },
  work: Work,
  wake = new Wake(),
): Promise<void> {
  const trouble = new TroubleLog(log, `${work.name} wait for the store`)
  shutdown.addEventListener('abort', () => wake.call(), { once: true })
  const listening = listen(sql, log, work, wake, shutdown)
  while (!shutdown.aborted) {
    try {
      if (!(await work.claim())) await wake.sleep(await work.msToNext())
    } catch (error) {
      if (shutdown.aborted) break
      trouble.note({ err: (error as Error).message })
      await wake.sleep(STORE_PAUSE_MS)
    }
  }
  await listening
}

/** Listens for announcements. The client reconnects by itself, and the next claim finds work whose announcement was missed. */
async function listen(sql: Sql, log: Log, work: Work, wake: Wake, shutdown: AbortSignal): Promise<void> {
  const trouble = new TroubleLog(log, `new ${work.name} are found by polling`)
  const announced = () => {
    work.onAnnounced?.()
    wake.call()
  }
  while (!shutdown.aborted) {
    try {
      const { unlisten } = await sql.listen(work.channel, announced, announced)
      await aborted(shutdown)
      return await unlisten().catch(() => {})
    } catch (error) {
      trouble.note({ err: (error as Error).message })
      await sleep(STORE_PAUSE_MS, undefined, { signal: shutdown }).catch(() => {})
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
