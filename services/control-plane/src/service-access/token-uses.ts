import { noteTokensUsed } from '@gateway/store/tokens.js'
import type { ControlContext } from '../context.js'

/** `last_used_at` may lag by this much; it tells an operator whether a token is in use, not when exactly. */
const FLUSH_MS = 2_000

/** Collects when tokens were used and writes it down now and then, so that reading costs no write. */
export class TokenUses {
  readonly #ctx: Pick<ControlContext, 'sql' | 'now' | 'log'>
  #used = new Map<string, Date>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Pick<ControlContext, 'sql' | 'now' | 'log'>) {
    this.#ctx = ctx
  }

  note(tokenId: string): void {
    this.#used.set(tokenId, new Date(this.#ctx.now()))
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** Writes what is collected. A store that is down loses it: the next use tells the same again. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const used = this.#used
    this.#used = new Map()
    await noteTokensUsed(this.#ctx.sql, used).catch((error: Error) => {
      this.#ctx.log.warn({ err: error.message }, 'the last use of tokens could not be noted')
    })
  }
}
