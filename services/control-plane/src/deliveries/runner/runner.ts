import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DELIVERIES_CHANNEL, type Lane } from '@gateway/store/deliveries.js'
import {
  type ClaimedDelivery,
  claimDeliveries,
  renewLeases,
  secondsToNextDelivery,
} from '@gateway/store/delivery-leases.js'
import { DELIVERY_LEASE, LeaseKeeper } from '../../jobs/leases.js'
import { runWork, Wake } from '../../jobs/runner.js'
import type { Outcome } from '../outcome.js'
import { type AttemptTools, attempt } from './attempt.js'

/**
 * Maximum numbers of concurrent deliveries in this process, and to one destination over all control planes.
 *
 * A receiver that hangs holds its place until its deadline, and costs a socket. The limits for messages leave room for 256 destinations that all
 * hang with their full share. Transfers have few places for each receiver, since they would only share its bandwidth, and hold their chunks in memory
 * (about 2 MB). Transfers that wait for their receiver delay neither the disk nor each other.
 */
const LANE_LIMITS: Readonly<Record<Lane, { total: number; perDestination: number }>> = {
  message: { total: 1024, perDestination: 4 },
  transfer: { total: 256, perDestination: 1 },
}

/** Maximum number of rows that one statement claims. The next statement claims more. */
const CLAIM_BATCH = 128

/** Maximum sleep, since a notification may be lost with its connection. */
const POLL_MS = 2_000

/** Minimum pause: a due delivery whose destination has no room must not keep the store busy. Waits are exact to a second. */
const SOONEST_MS = 25

export interface RunnerOptions extends Omit<AttemptTools, 'owner'> {
  /** wraps each attempt, for example in a trace */
  readonly within?: (claimed: ClaimedDelivery, attempt: () => Promise<Outcome>) => Promise<Outcome>
  /** time at shutdown for messages in progress; transfers are aborted at once and continue elsewhere */
  readonly drainMs: number
}

/**
 * Attempts deliveries as they fall due, many at a time. A lease assigns each delivery to one runner at a time, over all control planes, and
 * passes to another runner if its holder dies.
 */
export class DeliveryRunner {
  readonly #options: RunnerOptions
  readonly #owner = randomUUID()
  readonly #wake = new Wake()
  readonly #leases: LeaseKeeper<ClaimedDelivery>
  readonly #running: Readonly<Record<Lane, Set<Promise<unknown>>>> = { message: new Set(), transfer: new Set() }

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#leases = new LeaseKeeper(DELIVERY_LEASE, (leases) =>
      renewLeases(options.sql, this.#owner, leases, DELIVERY_LEASE.leaseSeconds),
    )
  }

  async run(shutdown: AbortSignal): Promise<void> {
    const { sql, log } = this.#options
    const work = {
      name: 'deliveries',
      channel: DELIVERIES_CHANNEL,
      claim: async () => (await this.#claim('message')) + (await this.#claim('transfer')) > 0,
      msToNext: () => this.#msToNext(),
    }
    await runWork({ sql, log, shutdown }, work, this.#wake)
    await this.#drain()
  }

  async #claim(lane: Lane): Promise<number> {
    const { total, perDestination } = LANE_LIMITS[lane]
    const limit = Math.min(CLAIM_BATCH, total - this.#running[lane].size)
    if (limit <= 0) return 0
    const claimedAt = performance.now()
    const claim = { owner: this.#owner, lane, limit, perDestination, leaseSeconds: DELIVERY_LEASE.leaseSeconds }
    const claimed = await claimDeliveries(this.#options.sql, claim)
    for (const one of claimed) this.#start(one, claimedAt)
    return claimed.length
  }

  #start(claimed: ClaimedDelivery, claimedAt: number): void {
    const signal = this.#leases.hold(claimed, claimedAt)
    const running = this.#running[claimed.lane]
    const { within = (_, run) => run() } = this.#options
    const run = () => attempt({ ...this.#options, owner: this.#owner }, claimed, signal)
    const work: Promise<unknown> = within(claimed, run).finally(() => {
      this.#leases.release(claimed)
      running.delete(work)
      // A place is free, and the destination has room for its next delivery.
      this.#wake.call()
    })
    running.add(work)
  }

  async #msToNext(): Promise<number> {
    const seconds = await secondsToNextDelivery(this.#options.sql)
    return seconds === null ? POLL_MS : Math.min(POLL_MS, Math.max(SOONEST_MS, Math.ceil(seconds * 1000)))
  }

  async #drain(): Promise<void> {
    const drained = new AbortController()
    const messages = Promise.all(this.#running.message).then(() => drained.abort())
    await sleep(this.#options.drainMs, undefined, { signal: drained.signal }).catch(() => {})
    this.#leases.stopAll()
    await Promise.all([messages, ...this.#running.transfer])
    this.#leases.close()
  }
}
