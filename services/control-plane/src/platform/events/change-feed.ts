import type { Change } from '@gateway/contracts/change.js'
import { changesSince, currentState, type StoreState } from '@gateway/store/change-log.js'
import type { ControlContext } from '../context.js'

/** Interval of reading the log without the bus. A page needs no faster updates. */
const POLL_MS = 2_000

type Listener = (change: Change) => void

/**
 * Emits every committed change, of any control plane, once to each listener in commit order. It reads the change log when the bus reports a
 * change, and never without a listener.
 */
export class ChangeFeed {
  readonly #ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>
  readonly #listeners = new Set<Listener>()
  #subscription: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #state: StoreState | null = null
  #pulling = false
  #again = false

  constructor(ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>) {
    this.#ctx = ctx
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Returns the function that ends the subscription. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  #start(): void {
    if (this.#timer !== null) return
    this.#timer = setInterval(() => void this.#pull(), POLL_MS).unref()
    this.#subscription ??= this.#ctx.bus.subscribe(this.#wake, this.#wake).catch(() => {
      // Polling continues. The next first listener tries again.
      this.#subscription = null
    })
    void this.#pull()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#state = null
  }

  readonly #wake = (): void => {
    if (this.#listeners.size > 0) void this.#pull()
  }

  /** Reads the log, one read at a time. A notification that arrives during a read causes another one. */
  async #pull(): Promise<void> {
    if (this.#pulling) {
      this.#again = true
      return
    }
    this.#pulling = true
    try {
      do {
        this.#again = false
        await this.#readLog()
      } while (this.#again)
    } catch (error) {
      this.#ctx.log.debug({ err: (error as Error).message }, 'the change log cannot be read now')
    } finally {
      this.#pulling = false
    }
  }

  async #readLog(): Promise<void> {
    if (this.#state === null) {
      this.#state = await currentState(this.#ctx.sql)
      return
    }
    const since = await changesSince(this.#ctx.sql, this.#state)
    this.#state = since.state
    const all: Change = { revision: since.state.revision, kind: 'all', key: '' }
    for (const change of since.covered ? since.changes : [all]) {
      for (const listener of this.#listeners) listener(change)
    }
  }
}
