import type { Bus, OwnPresence } from '@gateway/bus/bus.js'
import { ANNOUNCE_INTERVAL_MS } from '@gateway/bus/bus.js'
import { openBus } from '@gateway/bus/open.js'
import type { TrafficCounters } from '@gateway/contracts/traffic.js'
import type { Log } from '@gateway/logging/log.js'
import type { Follower } from './follower.js'
import { QUERY_TIMEOUT_MS, type StoreLink } from './store-link.js'

/** The bound on how late a lost message is found; the freshness that TOKEN_STALE_SECONDS promises rests on it. */
const POLL_INTERVAL_MS = 1_000
/** Reading a whole catalog takes longer than one change. */
const FIRST_RETRY_MS = 200

export interface FollowLoopOptions {
  readonly store: StoreLink
  readonly follower: Follower
  readonly redisUrl: string | null
  readonly staleMs: number
  readonly presence: Omit<OwnPresence, 'applied_revision' | 'traffic'>
  /** what this process has counted, for the console */
  readonly traffic: () => TrafficCounters
  /** called once, when the catalog has been read for the first time */
  readonly onLoaded: () => void
  readonly log: Log
}

/**
 * Drives a follower: waits for a store that is there and has its tables, subscribes, reads, then polls, and tells the bus that this process
 * lives. Runs until stopped, whatever fails.
 */
export class FollowLoop {
  readonly #o: FollowLoopOptions
  readonly #pollMs: number
  #bus: Bus | null = null
  #busOpening = false
  #timer: NodeJS.Timeout | null = null
  #announcer: NodeJS.Timeout | null = null
  #stopped = false
  #troubled = false

  constructor(options: FollowLoopOptions) {
    this.#o = options
    this.#pollMs = Math.max(50, Math.min(POLL_INTERVAL_MS, options.staleMs / 3))
  }

  start(): void {
    void this.#tick()
    this.#announcer = setInterval(() => {
      if (this.#bus?.connected === true) this.#o.follower.noteBusAlive()
      this.announce()
    }, ANNOUNCE_INTERVAL_MS)
  }

  /** Says at once which revision has been applied; what waits for it is an operator's disable call. */
  announce(): void {
    if (this.#bus === null || !this.#o.follower.loaded || this.#stopped) return
    const { presence: identity, follower, traffic } = this.#o
    const presence = { ...identity, applied_revision: follower.appliedRevision, traffic: traffic() }
    // Presence that cannot be announced expires: the other side then takes this process for cut off, which it is.
    this.#bus.announce(presence).catch(() => {})
  }

  /** The pool was replaced: a bus that works over it must be opened again. */
  storeReplaced(): void {
    if (this.#bus?.medium !== 'postgres') return
    void this.#bus.close().catch(() => {})
    this.#bus = null
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#announcer !== null) clearInterval(this.#announcer)
    const bus = this.#bus
    if (bus === null) return
    await withinTime(bus.withdraw(this.#o.presence.id)).catch(() => {})
    await withinTime(bus.close()).catch(() => {})
  }

  async #tick(): Promise<void> {
    try {
      await this.#step()
      this.#recovered()
    } catch (error) {
      this.#failed(error as Error)
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#tick(), this.#o.follower.loaded ? this.#pollMs : FIRST_RETRY_MS)
  }

  async #step(): Promise<void> {
    if (this.#bus === null) await this.#openBus()
    const first = !this.#o.follower.loaded
    await this.#o.follower.catchUp()
    if (!first) return
    this.#o.onLoaded()
    this.announce()
  }

  /** Subscribes before the first read, so that nothing is said between the two. A bus that is down is found by its own reconnecting. */
  async #openBus(): Promise<void> {
    if (this.#busOpening) return
    this.#busOpening = true
    try {
      const bus = await this.#o.store.query((sql) =>
        openBus(sql, this.#o.redisUrl, (message) => this.#o.log.warn({ err: message }, 'the bus is out of reach')),
      )
      this.#bus = bus
      await withinTime(
        bus.subscribe(
          (message) => {
            if (!this.#o.follower.hear(message)) void this.#o.follower.catchUp().catch(() => {})
          },
          () => {
            this.#o.follower.noteGap()
            void this.#o.follower.catchUp().catch(() => {})
          },
        ),
      )
    } catch (error) {
      const bus = this.#bus
      if (bus?.medium !== 'redis') {
        this.#bus = null
        void bus?.close().catch(() => {})
      }
      throw error
    } finally {
      this.#busOpening = false
    }
  }

  #failed(error: Error): void {
    if (!this.#troubled) this.#o.log.warn({ err: error.message }, 'the store is out of reach')
    this.#troubled = true
  }

  #recovered(): void {
    if (this.#troubled) this.#o.log.info('the store is within reach again')
    this.#troubled = false
  }
}

function withinTime<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the bus did not answer in time')), QUERY_TIMEOUT_MS)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
