import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/logging/log.js'
import type { Sql } from '@gateway/store/connect.js'
import { DELIVERIES_CHANNEL, type Lane } from '@gateway/store/deliveries.js'
import { type ClaimedDelivery, claimDeliveries, secondsToNextDelivery } from '@gateway/store/delivery-leases.js'
import { type AttemptTools, attempt } from './attempt.js'
import { HeldLeases } from './held-leases.js'
import { CLAIM_BATCH, LANE_LIMITS, LEASE_SECONDS, POLL_MS, SOONEST_MS, STORE_PAUSE_MS } from './limits.js'
import { Wake } from './wake.js'

export interface RunnerOptions extends Omit<AttemptTools, 'owner' | 'leases'> {
  readonly sql: Sql
  readonly log: Log
  /** at shutdown, messages under way may take so long; transfers are broken off at once and go on elsewhere */
  readonly drainMs: number
}

/**
 * Takes deliveries as they fall due and attempts them, until `shutdown`. Any number of runners may share a store: a lease makes each
 * delivery one runner's at a time, and passes to another when its holder dies. Troubles with the store are waited out.
 */
export class DeliveryRunner {
  readonly #options: RunnerOptions
  readonly #owner = randomUUID()
  readonly #wake = new Wake()
  readonly #leases: HeldLeases
  readonly #running: Readonly<Record<Lane, Set<Promise<void>>>> = { message: new Set(), transfer: new Set() }

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#leases = new HeldLeases(options.sql, this.#owner)
  }

  async run(shutdown: AbortSignal): Promise<void> {
    shutdown.addEventListener('abort', () => this.#wake.call(), { once: true })
    const listening = this.#listen(shutdown)
    while (!shutdown.aborted) {
      try {
        const claimed = (await this.#claim('message')) + (await this.#claim('transfer'))
        if (claimed === 0) await this.#wake.sleep(await this.#msToNext())
      } catch (error) {
        this.#options.log.warn({ err: (error as Error).message }, 'deliveries wait for the store')
        await this.#wake.sleep(STORE_PAUSE_MS)
      }
    }
    await this.#end()
    await listening
  }

  async #claim(lane: Lane): Promise<number> {
    const { total, perDestination } = LANE_LIMITS[lane]
    const limit = Math.min(CLAIM_BATCH, total - this.#running[lane].size)
    if (limit <= 0) return 0
    const claimedAt = performance.now()
    const claim = { owner: this.#owner, lane, limit, perDestination, leaseSeconds: LEASE_SECONDS }
    const claimed = await claimDeliveries(this.#options.sql, claim)
    for (const one of claimed) this.#start(one, claimedAt)
    return claimed.length
  }

  #start(claimed: ClaimedDelivery, claimedAt: number): void {
    const signal = this.#leases.hold(claimed, claimedAt)
    const running = this.#running[claimed.lane]
    const work: Promise<void> = attempt({ ...this.#options, owner: this.#owner }, claimed, signal).finally(() => {
      this.#leases.letGo(claimed)
      running.delete(work)
      // A place is free, and the destination has room for its next one.
      this.#wake.call()
    })
    running.add(work)
  }

  async #msToNext(): Promise<number> {
    const seconds = await secondsToNextDelivery(this.#options.sql)
    return seconds === null ? POLL_MS : Math.min(POLL_MS, Math.max(SOONEST_MS, Math.ceil(seconds * 1000)))
  }

  /** A delivery written by any process wakes this one; without the notification, the next poll finds it. */
  async #listen(shutdown: AbortSignal): Promise<void> {
    const { sql, log } = this.#options
    while (!shutdown.aborted) {
      try {
        const wake = () => this.#wake.call()
        const { unlisten } = await sql.listen(DELIVERIES_CHANNEL, wake, wake)
        await new Promise<void>((resolve) => {
          if (shutdown.aborted) resolve()
          else shutdown.addEventListener('abort', () => resolve(), { once: true })
        })
        return await unlisten().catch(() => {})
      } catch (error) {
        log.warn({ err: (error as Error).message }, 'new deliveries are found by polling for now')
        await sleep(STORE_PAUSE_MS, undefined, { signal: shutdown }).catch(() => {})
      }
    }
  }

  async #end(): Promise<void> {
    const drained = new AbortController()
    const messages = Promise.all(this.#running.message).then(() => drained.abort())
    await sleep(this.#options.drainMs, undefined, { signal: drained.signal }).catch(() => {})
    this.#leases.stopAll()
    await Promise.all([messages, ...this.#running.transfer])
    this.#leases.close()
  }
}
