import { setTimeout as sleep } from 'node:timers/promises'
import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import { trustSeconds } from '@gateway/core/settings/load.js'
import { Announcements } from '@gateway/store/bus/announcements.js'
import type { Acknowledgement } from '@gateway/store/bus/bus.js'
import { knownStates } from '@gateway/store/change-log.js'
import { type Presence, readPresence } from '@gateway/store/edge-presence.js'
import type { ControlContext } from '../context.js'

/** Interval of reading, so that the list is current to a moment before the bus fails. */
const REMEMBER_EVERY_MS = 2_000

/** The edge processes of the installation, remembered for times when the bus cannot report them. */
export class KnownEdges {
  readonly #ctx: Pick<ControlContext, 'bus'>
  readonly #stored: Announcements
  #lastKnown: Presence = { live: [], silent: [] }

  constructor(ctx: Pick<ControlContext, 'bus' | 'sql' | 'settings'>) {
    this.#ctx = ctx
    this.#stored = new Announcements(
      () => readPresence(ctx.sql, trustSeconds(ctx.settings)),
      (states) => knownStates(ctx.sql, states),
      false,
    )
  }

  get lastKnown(): readonly EdgePresence[] {
    return this.#lastKnown.live
  }

  /** The edges that may accept what they have cached: the last known ones, and those that had fallen silent by then. */
  get unsure(): readonly EdgePresence[] {
    return [...this.#lastKnown.live, ...this.#lastKnown.silent]
  }

  /** Returns the live edges. If the bus is out of reach, returns those that lived when it was last in reach (see `seen_at`). */
  async read(): Promise<readonly EdgePresence[]> {
    try {
      this.#lastKnown = await this.#ctx.bus.presence()
    } catch {
      // The bus reports its own failures. The last known edges are returned.
    }
    return this.#lastKnown.live
  }

  /**
   * `Bus.awaitApplied` through the store, for processes that do not reach the bus. It also waits for those that lived when the bus was last in
   * reach: one that has not reported to the store is pending.
   */
  awaitStored(state: LogState, timeoutMs: number): Promise<Acknowledgement> {
    return this.#stored.awaitApplied(state, timeoutMs, this.#lastKnown)
  }

  /** Keeps the list current until the process ends. */
  async watch(shutdown: AbortSignal): Promise<void> {
    // Over Postgres this takes one more connection, so there the first wait opens it.
    if (this.#ctx.bus.medium === 'redis') await this.#ctx.bus.expectConfirmations()
    while (!shutdown.aborted) {
      await this.read()
      await sleep(REMEMBER_EVERY_MS, undefined, {
        signal: shutdown,
        ref: false,
      }).catch(() => {})
    }
  }
}
