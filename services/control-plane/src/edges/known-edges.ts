import { setTimeout as sleep } from 'node:timers/promises'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { ControlContext } from '../context.js'

/** Often enough that what is remembered when the bus fails is what was there a moment before. */
const REMEMBER_EVERY_MS = 2_000

/** The edge processes of the installation, remembered for the time in which the bus cannot tell. */
export class KnownEdges {
  readonly #ctx: Pick<ControlContext, 'bus'>
  #lastKnown: readonly EdgePresence[] = []

  constructor(ctx: Pick<ControlContext, 'bus'>) {
    this.#ctx = ctx
  }

  get lastKnown(): readonly EdgePresence[] {
    return this.#lastKnown
  }

  /** The edges that live now; where the bus is out of reach, those that lived when it was last in reach (`seen_at` tells). */
  async read(): Promise<readonly EdgePresence[]> {
    try {
      this.#lastKnown = await this.#ctx.bus.edges()
    } catch {
      // The bus reports its own trouble; here the memory is the answer.
    }
    return this.#lastKnown
  }

  /** Keeps the memory fresh until the process ends. */
  async watch(shutdown: AbortSignal): Promise<void> {
    while (!shutdown.aborted) {
      await this.read()
      await sleep(REMEMBER_EVERY_MS, undefined, { signal: shutdown, ref: false }).catch(() => {})
    }
  }
}
