import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DELIVERIES_CHANNEL, type Lane } from '@gateway/store/deliveries.js'
import {
  type ClaimedDelivery,
  claimDeliveries,
  renewLeases,
  secondsToNextDelivery,
} from '@gateway/store/delivery-leases.js'
import { LeaseKeeper, type LeaseTimes } from '../../jobs/leases.js'
import { runWork, Wake } from '../../jobs/runner.js'
import type { Outcome } from '../outcome.js'
import { type AttemptTools, attempt } from './attempt.js'

/**
 * Deliveries at a time in this process, and to one destination over all control planes.
 *
 * A receiver that hangs holds its place until its deadline, and costs a socket. Messages: places for 256 destinations that hang
 * with all of their share. Transfers are few for each receiver, since they would only share its bandwidth, and hold their chunks in memory
 * (about 2 MB); those that wait for their receiver hold up neither the disk nor one another.
 */
const LANE_LIMITS: Readonly<Record<Lane, { total: number; perDestination: number }>> = {
  message: { total: 1024, perDestination: 4 },
  transfer: { total: 256, perDestination: 1 },
}

/** Rows taken by one statement; more are taken by the next. */
const CLAIM_BATCH = 128

/** After a crash, others wait this long; a process that stalls longer loses what it has under way. */
const LEASE: LeaseTimes = { leaseSeconds: 15, renewMs: 4000 }

/** A notification may be lost with its connection: never sleep for longer. */
const POLL_MS = 2_000

/** What just fell due while its destination has no room must not keep the store busy; far less than the second that waits are exact to. */
const SOONEST_MS = 25

export interface RunnerOptions extends Omit<AttemptTools, 'owner'> {
  /** runs each attempt; in a trace, where there are any */
  readonly within?: (claimed: ClaimedDelivery, attempt: () => Promise<Outcome>) => Promise<Outcome>
  /** at shutdown, messages under way may take so long; transfers are aborted at once and go on elsewhere */
  readonly drainMs: number
}

/**
 * Attempts deliveries as they fall due, many at a time. A lease makes each delivery one runner's at a time, over all control planes, and
 * passes to another when its holder dies.
 */
export class DeliveryRunner {
  readonly #options: RunnerOptions
  readonly #owner = randomUUID()
  readonly #wake = new Wake()
  readonly #leases: LeaseKeeper<ClaimedDelivery>
  readonly #running: Readonly<Record<Lane, Set<Promise<unknown>>>> = { message: new Set(), transfer: new Set() }

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#leases = new LeaseKeeper(LEASE, (leases) => renewLeases(options.sql, this.#owner, leases, LEASE.leaseSeconds))
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
    const claim = { owner: this.#owner, lane, limit, perDestination, leaseSeconds: LEASE.leaseSeconds }
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
      // A place is free, and the destination has room for its next one.
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
