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

/** The bound on how late a lost message is found; the freshness that TOKEN_STALE_SECONDS promises rests on it. */
const POLL_INTERVAL_MS = 1_000
const BUS_LOOK_AGAIN_MS = 50
/** Reading a whole catalog takes longer than one change. */
const FIRST_RETRY_MS = 200

export interface FollowLoopOptions {
  readonly store: StoreLink
  readonly follower: CatalogReplica
  readonly redisUrl: string | null
  readonly staleMs: number
  /** for how long this process goes on with what it knows */
  readonly trustMs: number
  readonly presence: Omit<OwnPresence, 'applied_revision' | 'applied_mark' | 'traffic'>
  /** what this process has counted, for the console */
  readonly traffic: () => OwnPresence['traffic']
  /** a catalog that was kept for a start without the store; null: there is none that may be used */
  readonly kept: () => Promise<(KnownCatalog & { readonly instanceId: string }) | null>
  /** called once, when the catalog has been read for the first time, from the store or from what was kept */
  readonly onLoaded: (from: 'store' | 'kept') => void
  /** called whenever the store has been read */
  readonly onFollowed: () => void
  readonly log: Log
}

/**
 * Drives a follower: waits for a store that is there and has its tables, subscribes, reads, then polls, and tells the bus that this process
 * lives. Runs until stopped, whatever fails.
 */
export class ReplicationLoop {
  readonly #o: FollowLoopOptions
  readonly #pollMs: number
  #bus: Bus | null = null
  #busOpening = false
  #timer: NodeJS.Timeout | null = null
  #announcer: NodeJS.Timeout | null = null
  #stopped = false
  #troubled = false
  readonly #busTrouble: TroubleLog
  readonly #presenceTrouble: TroubleLog
  #presenceStored = false
  #confirming = false
  #unconfirmed = false
  /** announcements that are under way */
  readonly #telling = new Set<Promise<unknown>>()
  #triedKept = false
  #toldLoaded = false
  /** known without the store */
  #instanceId: string | null = null

  constructor(options: FollowLoopOptions) {
    this.#o = options
    this.#presenceTrouble = new TroubleLog(
      options.log,
      'the bus refuses what this process tells of itself; the store is told',
    )
    this.#busTrouble = new TroubleLog(options.log, 'the bus cannot be subscribed to; changes are found by polling')
    this.#pollMs = Math.max(50, Math.min(POLL_INTERVAL_MS, options.staleMs / 3))
  }

  /** Whether the store answered when it was last asked. */
  get storeUp(): boolean {
    return this.#o.follower.loaded && !this.#troubled
  }

  /** Whether invalidations arrive. On Postgres that is judged by the store. */
  get busUp(): boolean {
    return this.#bus !== null && (this.#bus.medium === 'postgres' ? this.storeUp : this.#bus.connected)
  }

  start(): void {
    void this.#tick()
    this.#announcer = setInterval(() => {
      if (this.#bus?.connected === true) this.#o.follower.noteBusAlive()
      this.announce()
    }, ANNOUNCE_INTERVAL_MS)
  }

  /** Says at once which revision has been applied; what waits for it is an operator's disable call. Revisions that come meanwhile are told as one. */
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

  /** Renews what the bus knows of this process. */
  announce(): void {
    void this.#tell((bus, presence) => bus.announce(presence))
  }

  async #tell(tell: (bus: Bus, presence: OwnPresence) => Promise<void>): Promise<void> {
    const { presence: identity, follower, traffic } = this.#o
    if (this.#bus === null || follower.applied === null || this.#stopped) return
    const { revision, mark } = follower.applied
    const presence = {
      ...identity,
      applied_revision: revision,
      applied_mark: mark,
      traffic: traffic(),
    }
    const telling = tell(this.#bus, presence).then(
      () => this.#forgetStoredPresence(),
      (error: Error) => {
        // Out of reach it is told of when it goes; what refuses it all the same, as a Redis without memory does, would be silent.
        if (this.busUp) this.#presenceTrouble.note({ err: error.message })
        return this.#storePresence(presence)
      },
    )
    this.#telling.add(telling)
    await telling.finally(() => this.#telling.delete(telling))
  }

  /** Other processes of this edge have ended without withdrawing their presence, which is done for them. */
  withdraw(ids: readonly string[]): void {
    for (const id of ids) void this.#withdraw(id)
  }

  /** A process that reaches the store and not the bus follows by polling, and says so there. One that reaches neither falls silent. */
  async #storePresence(presence: OwnPresence): Promise<void> {
    if (this.#stopped || this.#bus?.medium !== 'redis') return
    this.#presenceStored = true
    await this.#o.store.query((sql) => upsertPresence(sql, presence)).catch(() => {})
  }

  #forgetStoredPresence(): void {
    if (!this.#presenceStored || this.#stopped) return
    this.#presenceStored = false
    this.#o.store.query((sql) => deletePresence(sql, this.#o.presence.id)).catch(() => {})
  }

  /** Answers whether the presence is gone from wherever it was told. */
  async #withdraw(id: string): Promise<boolean> {
    const fromBus = this.#bus === null ? Promise.resolve() : withinTime(this.#bus.withdraw(id))
    // A bus of Postgres whose pool was replaced has left it there.
    const stored = this.#o.redisUrl === null ? this.#bus === null : id !== this.#o.presence.id || this.#presenceStored
    const fromStore = stored ? this.#o.store.query((sql) => deletePresence(sql, id)) : Promise.resolve()
    const settled = await Promise.allSettled([fromBus, fromStore])
    return settled.every(({ status }) => status === 'fulfilled')
  }

  /** See `Bus`. Rejects at once while there is no bus, or it is known to be away. */
  async takePermits(requests: readonly PermitRequest[]): Promise<readonly PermitAnswer[]> {
    if (this.#bus === null || !this.busUp) throw new Error('the bus is out of reach')
    return this.#bus.takePermits(requests)
  }

  /** The pool was replaced: a bus that works over it must be opened again. */
  storeReplaced(): void {
    if (this.#bus?.medium !== 'postgres') return
    void this.#bus.close().catch(() => {})
    this.#bus = null
  }

  /** Answers whether this process has withdrawn its presence. If not, disables name it as pending until somebody does. */
  async stop(): Promise<boolean> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#announcer !== null) clearInterval(this.#announcer)
    // One over another connection would take effect after the withdrawal.
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
    }
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#tick(), this.#o.follower.loaded ? this.#pollMs : FIRST_RETRY_MS)
  }

  async #step(): Promise<void> {
    // A store that can be read and not listened to, as a replica, is followed by polling.
    if (this.#bus === null) await this.#openBus().catch((error) => this.#busFailed(error))
    // What another process of this host has read within half the time will do: then one reads for all.
    await this.#o.follower.catchUp(performance.now() - this.#pollMs / 2)
    this.#o.onFollowed()
    // Not asked of the follower before: a message of the bus may have had it read between two ticks.
    if (this.#toldLoaded) return
    this.#tellLoaded('store')
  }

  #tellLoaded(from: 'store' | 'kept'): void {
    this.#toldLoaded = true
    this.#o.onLoaded(from)
    this.announce()
  }

  /** Only where the store is away: one that answers, and has no schema say, is waited for. */
  async #startFromKept(): Promise<void> {
    if (this.#triedKept || this.#o.follower.loaded || !(await this.#isStoreAway())) return
    this.#triedKept = true
    const kept = await this.#o.kept()
    if (kept === null || this.#stopped) return
    this.#instanceId = kept.instanceId
    // Whoever disables a token from now on is heard, and told of this process, where the bus can be reached.
    if (this.#o.redisUrl !== null) await this.#joinBus()
    // The bus has the log read as soon as it is subscribed to, which takes its time where the store hangs.
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

  /** Subscribes before the first read, so that nothing is said between the two. A bus that is down is found by its own reconnecting. */
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

  #busFailed({ message }: Error): void {
    this.#busTrouble.note({ err: message })
  }

  #failed(error: Error): void {
    const trouble = lacksSchema(error)
      ? 'the store has no schema of this version yet; a control plane makes it'
      : 'the store is out of reach'
    if (!this.#troubled) this.#o.log.warn({ err: error.message }, trouble)
    this.#troubled = true
  }

  #recovered(): void {
    if (this.#troubled) this.#o.log.info('the store is within reach again')
    this.#troubled = false
  }
}

/** undefined_table and undefined_column of Postgres: migrations have not run, as at the very first start */
function lacksSchema(error: Error): boolean {
  return ['42P01', '42703'].includes((error as { code?: string }).code ?? '')
}

function withinTime<T>(promise: Promise<T>): Promise<T> {
  return within(promise, QUERY_TIMEOUT_MS, 'the bus did not answer in time')
}
