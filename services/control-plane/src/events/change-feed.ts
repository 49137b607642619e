import type { Change } from '@gateway/contracts/change.js'
import { changesSince, currentRevision } from '@gateway/store/change-log.js'
import type { ControlContext } from '../context.js'

/** Where the bus says nothing, the log is asked this often: a page need not be faster. */
const POLL_MS = 2_000

type Listener = (change: Change) => void

/**
 * Every committed change, from whichever control plane, told once to each listener in commit order. Reads the change log, woken by the bus;
 * asks for nothing while nobody listens.
 */
export class ChangeFeed {
  readonly #ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>
  readonly #listeners = new Set<Listener>()
  #subscription: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #revision: number | null = null
  #pulling = false
  #again = false

  constructor(ctx: Pick<ControlContext, 'sql' | 'bus' | 'log'>) {
    this.#ctx = ctx
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Answers the function that ends it. */
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
      // Polling goes on; the next first listener tries again.
      this.#subscription = null
    })
    void this.#pull()
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#revision = null
  }

  readonly #wake = (): void => {
    if (this.#listeners.size > 0) void this.#pull()
  }

  /** One at a time; a wake-up that comes meanwhile makes it look once more. */
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
    if (this.#revision === null) {
      this.#revision = await currentRevision(this.#ctx.sql)
      return
    }
    const since = await changesSince(this.#ctx.sql, this.#revision)
    this.#revision = since.revision
    const all: Change = { revision: since.revision, kind: 'all', key: '' }
    for (const change of since.covered ? since.changes : [all]) {
      for (const listener of this.#listeners) listener(change)
    }
  }
}
