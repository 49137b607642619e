import { setTimeout as sleep } from 'node:timers/promises'
import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import { trustSeconds } from '@gateway/core/settings/load.js'
import { Announcements } from '@gateway/store/bus/announcements.js'
import type { Acknowledgement } from '@gateway/store/bus/bus.js'
import { knownStates } from '@gateway/store/change-log.js'
import { type Presence, readPresence } from '@gateway/store/edge-presence.js'
import type { ControlContext } from '../context.js'

/** Often enough that what is remembered when the bus fails is what was there a moment before. */
const REMEMBER_EVERY_MS = 2_000

/** The edge processes of the installation, remembered for the time in which the bus cannot tell. */
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

  /** Those that may accept what they know: the last known ones, and those that had fallen silent by then. */
  get unsure(): readonly EdgePresence[] {
    return [...this.#lastKnown.live, ...this.#lastKnown.silent]
  }

  /** The edges that live now; where the bus is out of reach, those that lived when it was last in reach (see `seen_at`). */
  async read(): Promise<readonly EdgePresence[]> {
    try {
      this.#lastKnown = await this.#ctx.bus.presence()
    } catch {
      // The bus reports its own failures; the last known edges are the answer.
    }
    return this.#lastKnown.live
  }

  /**
   * `Bus.awaitApplied` by what processes that do not reach the bus tell the store. Those that lived when the bus was last in reach are waited
   * for, too: one that has told the store nothing is pending.
   */
  awaitStored(state: LogState, timeoutMs: number): Promise<Acknowledgement> {
    return this.#stored.awaitApplied(state, timeoutMs, this.#lastKnown)
  }

  /** Keeps the memory fresh until the process ends. */
  async watch(shutdown: AbortSignal): Promise<void> {
    // Over Postgres that is a connection more, which the first wait opens.
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
