import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { noteTokensUsed, type TokenUse } from '@gateway/store/tokens.js'
import type { ControlContext } from '../context.js'

/** `last_used_at` may lag by this much; it shows whether a token is in use, not when exactly. */
const FLUSH_MS = 2_000

/** Collects when tokens were used and writes that in batches, so that a read does not cost a write. */
export class TokenUses {
  readonly #ctx: Pick<ControlContext, 'sql' | 'now' | 'log' | 'settings'>
  readonly #trouble: TroubleLog
  #used = new Map<string, TokenUse>()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Pick<ControlContext, 'sql' | 'now' | 'log' | 'settings'>) {
    this.#ctx = ctx
    this.#trouble = new TroubleLog(ctx.log, 'the last use of tokens could not be noted')
  }

  note(tokenId: string, address: string): void {
    const from = this.#ctx.settings.tokenAddresses ? address : null
    this.#used.set(tokenId, { at: new Date(this.#ctx.now()), from })
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
