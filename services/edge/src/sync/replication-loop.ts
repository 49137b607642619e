import { setTimeout as sleep } from 'node:timers/promises'
import type { PermitAnswer, PermitRequest } from '@gateway/contracts/rate-limit.js'
import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { within } from '@gateway/core/processes/within.js'
import type { Bus, OwnPresence } from '@gateway/store/bus/bus.js'
import { ANNOUNCE_INTERVAL_MS } from '@gateway/store/bus/bus.js'
import { openBus } from '@gateway/store/bus/open.js'
import { deletePresence, upsertPresence } from '@gateway/store/edge-presence.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'
import type { CatalogReplica, KnownCatalog } from './catalog-replica.js'
import { QUERY_TIMEOUT_MS, type StoreLink, StoreTimeout } from './store-link.js'

/** Interval in ms that bounds how late a lost message is found; the freshness promised by TOKEN_STALE_SECONDS depends on it. */
const POLL_INTERVAL_MS = 1_000
const BUS_LOOK_AGAIN_MS = 50
/** First pause in ms after a failure: reading a whole catalog takes longer than one change. */
const FIRST_RETRY_MS = 200

export interface FollowLoopOptions {
  readonly store: StoreLink
  readonly follower: CatalogReplica
  readonly redisUrl: string | null
  readonly staleMs: number
  /** Time in ms for which this process uses its known state. */
  readonly trustMs: number
  readonly presence: Omit<OwnPresence, 'applied_revision' | 'applied_mark' | 'traffic'>
  /** Returns the counts of this process, for the console. */
  readonly traffic: () => OwnPresence['traffic']
  /** Returns the catalog that was kept for a start without the store; null if none may be used. */
  readonly kept: () => Promise<(KnownCatalog & { readonly instanceId: string }) | null>
  /** Called once, when the catalog was read for the first time, from the store or from the kept state. */
  readonly onLoaded: (from: 'store' | 'kept') => void
  /** Called once, if the first attempt could read neither the store nor a kept catalog. */
  readonly onNothingToLoad: () => void
  /** Called whenever the store has been read. */
  readonly onFollowed: () => void
  readonly log: Log
}

/**
 * Drives a follower: waits for a store that is reachable and has its tables, subscribes, reads, then polls, and announces this process on the bus.
 * Runs until stopped, in spite of all failures.
 */
export class ReplicationLoop {
  readonly #o: FollowLoopOptions
  readonly #pollMs: number
  #bus: Bus | null = null
  #busOpening = false
  #timer: NodeJS.Timeout | null = null
  #announcer: NodeJS.Timeout | null = null
  #stopped = false
  #trouble: 'no schema' | 'out of reach' | null = null
  readonly #busTrouble: TroubleLog
  readonly #presenceTrouble: TroubleLog
  /** False if the store certainly has no presence of this process. */
  #presenceStored = false
  /** Presence that the store is to have next, null for none; undefined if it need not change. */
  #toStore: OwnPresence | null | undefined
  #storing: Promise<void> | null = null
  #confirming = false
  #unconfirmed = false
  /** Announcements in progress. */
  readonly #telling = new Set<Promise<unknown>>()
  #triedKept = false
  #toldLoaded = false
  #toldNothing = false
  /** Known without the store. */
  #instanceId: string | null = null

  constructor(options: FollowLoopOptions) {
    this.#o = options
    this.#presenceTrouble = new TroubleLog(
      options.log,
      'the bus refuses the presence of this process; the store has it instead',
    )
    this.#busTrouble = new TroubleLog(options.log, 'the bus cannot be subscribed to; changes are found by polling')
    this.#pollMs = Math.max(50, Math.min(POLL_INTERVAL_MS, options.staleMs / 3))
  }

  /** True if the store answered the last query. */
  get storeUp(): boolean {
    return this.#o.follower.loaded && this.#trouble === null
  }

  /** True if invalidations arrive. With Postgres the state of the store decides. */
  get busUp(): boolean {
    return this.#bus !== null && (this.#bus.medium === 'postgres' ? this.storeUp : this.#bus.connected)
  }

  start(): void {
    void this.#tick()
    this.#announcer = setInterval(() => this.announce(), ANNOUNCE_INTERVAL_MS)
  }

  /**
   * Announces the applied revision at once, because an operator's disable call waits for it. Revisions that arrive meanwhile are announced as one.
   */
  async confirm(): Promise<void> {
    this.#unconfirmed = true
    if (this.#confirming) return
    this.#confirming = true
    while (this.#unconfirmed) {
      this.#unconfirmed = false
      await this.#tell((bus, presence) => bus.confirm(presence))
    }
    this.#confirming = false
  }

  /** Renews the presence of this process on the bus. */
  announce(): void {
    // A confirmation does not end the presence in the store, because the bus gets this process's presence by an announcement only.
    const onBus = () => {
      if (this.#presenceStored) void this.#storePresence(null)
    }
    void this.#tell((bus, presence) => bus.announce(presence), onBus)
  }

  async #tell(tell: (bus: Bus, presence: OwnPresence) => Promise<void>, then = () => {}): Promise<void> {
    const { presence: identity, follower, traffic } = this.#o
    if (this.#bus === null || follower.applied === null || this.#stopped) return
    const { revision, mark } = follower.applied
    const presence = {
      ...identity,
      applied_revision: revision,
      applied_mark: mark,
      traffic: traffic(),
    }
    const telling = tell(this.#bus, presence).then(then, (error: Error) => {
      // The loss of the bus is logged elsewhere. A bus that is reachable but refuses the announcement, like a Redis without memory, would be silent.
      if (this.busUp) this.#presenceTrouble.note({ err: error.message })
      return this.#storePresence(presence)
    })
    this.#telling.add(telling)
    await telling.finally(() => this.#telling.delete(telling))
  }

  /** Withdraws the presence of other processes of this edge that have ended without doing so. */
  withdraw(ids: readonly string[]): void {
    for (const id of ids) void this.#withdraw(id)
  }

  /**
   * A process that reaches the store but not the bus follows by polling, and stores its presence in the store. A process that reaches neither falls
   * silent.
   */
  async #storePresence(presence: OwnPresence | null): Promise<void> {
    if (this.#stopped || this.#bus?.medium !== 'redis') return
    this.#toStore = presence
    this.#storing ??= this.#store().finally(() => {
      this.#storing = null
    })
    await this.#storing
  }

  /** Makes one change at a time: over several connections, an earlier one could take effect after a later one. */
  async #store(): Promise<void> {
    while (this.#toStore !== undefined && !this.#stopped) {
      const presence = this.#toStore
      this.#toStore = undefined
      if (presence !== null) this.#presenceStored = true
      const changed = this.#o.store.query((sql) =>
        presence === null ? deletePresence(sql, this.#o.presence.id) : upsertPresence(sql, presence),
      )
      await changed.then(
        () => {
          this.#presenceStored = presence !== null
        },
        () => {},
      )
    }
  }

  /** Resolves with true if the presence was withdrawn from everywhere. */
  async #withdraw(id: string): Promise<boolean> {
    const fromBus = this.#bus === null ? Promise.resolve() : withinTime(this.#bus.withdraw(id))
    // A bus of Postgres whose pool was replaced has left its presence in the store.
    const stored = this.#o.redisUrl === null ? this.#bus === null : id !== this.#o.presence.id || this.#presenceStored
    const fromStore = stored ? this.#o.store.query((sql) => deletePresence(sql, id)) : Promise.resolve()
    const settled = await Promise.allSettled([fromBus, fromStore])
    return settled.every(({ status }) => status === 'fulfilled')
  }

  /** See `Bus`. Rejects at once if there is no bus, or if it is known to be unreachable. */
  async takePermits(requests: readonly PermitRequest[]): Promise<readonly PermitAnswer[]> {
    if (this.#bus === null || !this.busUp) throw new Error('the bus is out of reach')
    return this.#bus.takePermits(requests)
  }

  /** Must be called after the pool was replaced: a bus that uses it must be reopened. */
  storeReplaced(): void {
    if (this.#bus?.medium !== 'postgres') return
    void this.#bus.close().catch(() => {})
    this.#bus = null
  }

  /** Resolves with true if this process has withdrawn its presence. Otherwise disables report it as pending until another process does so. */
  async stop(): Promise<boolean> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#announcer !== null) clearInterval(this.#announcer)
    // An announcement over another connection would take effect after the withdrawal.
    await withinTime(Promise.allSettled(this.#telling)).catch(() => {})
    const withdrawn = await this.#withdraw(this.#o.presence.id)
    if (this.#bus !== null) await withinTime(this.#bus.close()).catch(() => {})
    return withdrawn
  }

  async #tick(): Promise<void> {
    try {
      await this.#step()
      this.#recovered()
    } catch (error) {
      this.#failed(error as Error)
      await this.#startFromKept()
      this.#tellNothing()
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#tick(), this.#o.follower.loaded ? this.#pollMs : FIRST_RETRY_MS)
  }

  async #step(): Promise<void> {
    // A store that can be read but not listened to, like a replica, is followed by polling.
    if (this.#bus === null) await this.#openBus().catch((error) => this.#busFailed(error))
    // A result that another process of this host has read within half the interval is new enough, so that one process reads for all.
    await this.#o.follower.catchUp(performance.now() - this.#pollMs / 2)
    this.#o.onFollowed()
    // Not checked before, because a message of the bus may have made the follower read between two ticks.
    if (this.#toldLoaded) return
    this.#tellLoaded('store')
  }

  #tellLoaded(from: 'store' | 'kept'): void {
    this.#toldLoaded = true
    this.#o.onLoaded(from)
    this.announce()
  }

  #tellNothing(): void {
    if (this.#toldNothing || this.#o.follower.loaded) return
    this.#toldNothing = true
    this.#o.onNothingToLoad()
  }

  /** Only if the store is unreachable: a store that answers, for example without a schema, is waited for. */
  async #startFromKept(): Promise<void> {
    if (this.#triedKept || this.#o.follower.loaded || !(await this.#isStoreAway())) return
    this.#triedKept = true
    const kept = await this.#o.kept()
    if (kept === null || this.#stopped) return
    this.#instanceId = kept.instanceId
    // This process then hears of tokens that are disabled from now on, and is known to the bus, if the bus is reachable.
    if (this.#o.redisUrl !== null) await this.#joinBus()
    // The bus makes the follower read the log as soon as it is subscribed, which takes long if the store hangs.
    while (!this.#o.follower.begin(kept)) {
      if (this.#stopped || this.#o.follower.loaded) return
      await this.#o.follower.settled()
    }
    this.#tellLoaded('kept')
  }

  async #joinBus(): Promise<void> {
    await this.#openBus().catch((error) => this.#busFailed(error))
    const deadline = performance.now() + QUERY_TIMEOUT_MS
    while (this.#bus?.connected !== true && performance.now() < deadline) await sleep(BUS_LOOK_AGAIN_MS)
  }

  async #isStoreAway(): Promise<boolean> {
    try {
      await this.#o.store.query((sql) => sql`SELECT 1`)
      return false
    } catch (error) {
      return error instanceof StoreTimeout || storeTrouble(error)?.passes === true
    }
  }

  /** Subscribes before the first read, so that no message is missed between them. A bus that is down reconnects on its own. */
  async #openBus(): Promise<void> {
    if (this.#busOpening) return
    this.#busOpening = true
    try {
      const bus = await this.#o.store.query((sql) =>
        openBus(sql, {
          redisUrl: this.#o.redisUrl,
          instanceId: this.#instanceId,
          silentSeconds: this.#o.trustMs / 1000,
          onTrouble: (message) => this.#o.log.warn({ err: message }, 'the bus is out of reach'),
          onRecovered: () => this.#o.log.info('the bus is within reach again'),
        }),
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
          (state) => this.#o.follower.noteAttested(state),
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

  /** A missing schema is reported when the catalog is read. */
  #busFailed(error: Error): void {
    if (!lacksSchema(error)) this.#busTrouble.note({ err: error.message })
  }

  #failed(error: Error): void {
    const trouble = lacksSchema(error) ? 'no schema' : 'out of reach'
    if (this.#trouble !== trouble) {
      // Normal at the very first start.
      if (trouble === 'no schema')
        this.#o.log.info('the store does not have its schema yet; a control plane creates it')
      else this.#o.log.warn({ err: error.message }, 'the store is out of reach')
    }
    this.#trouble = trouble
  }

  #recovered(): void {
    if (this.#trouble === 'no schema') this.#o.log.info('the store has its schema')
    if (this.#trouble === 'out of reach') this.#o.log.info('the store is within reach again')
    this.#trouble = null
  }
}

/** Codes undefined_table and undefined_column of Postgres: the migrations have not run, as at the very first start. */
function lacksSchema(error: Error): boolean {
  return ['42P01', '42703'].includes((error as { code?: string }).code ?? '')
}

function withinTime<T>(promise: Promise<T>): Promise<T> {
  return within(promise, QUERY_TIMEOUT_MS, 'the bus did not answer in time')
}
