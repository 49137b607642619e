import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import type { Sql } from '@gateway/store/connect.js'

/** One kind of work that waits in the store. */
export interface Work {
  /** for the log, in the plural */
  readonly name: string
  /** where the store announces new work */
  readonly channel: string
  /** Claims what is due and starts or does it. false: nothing was due. */
  claim(): Promise<boolean>
  /** milliseconds until something may be due */
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

/** Before the next try, where the store does not answer. */
export const STORE_PAUSE_MS = 1000

/**
 * Claims work as it falls due, until `shutdown`. An announcement, or `wake`, cuts its sleep short. Any number of processes may do so on one
 * store: a claim takes a lease. Store failures are logged and waited out.
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

/** The client listens again by itself when its connection was lost; what was announced meanwhile, the next claim finds. */
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
