import { TroubleLog } from '@gateway/logging/trouble-log.js'
import { noteTokensUsed } from '@gateway/store/tokens.js'
import type { ControlContext } from '../context.js'

/** `last_used_at` may lag by this much; it shows whether a token is in use, not when exactly. */
const FLUSH_MS = 2_000

/** Collects when tokens were used and writes that in batches, so that a read does not cost a write. */
export class TokenUses {
  readonly #ctx: Pick<ControlContext, 'sql' | 'now' | 'log'>
  readonly #trouble: TroubleLog
  #used = new Map<string, Date>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Pick<ControlContext, 'sql' | 'now' | 'log'>) {
    this.#ctx = ctx
    this.#trouble = new TroubleLog(ctx.log, 'the last use of tokens could not be noted')
  }

  note(tokenId: string): void {
    this.#used.set(tokenId, new Date(this.#ctx.now()))
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** Writes what is collected. It is lost while the store is down; the next use notes the same again. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const used = this.#used
    this.#used = new Map()
    await noteTokensUsed(this.#ctx.sql, used).catch((error: Error) => {
      this.#trouble.note({ err: error.message })
    })
  }
}
