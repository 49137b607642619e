import type { TokenUse } from '@gateway/store/tokens.js'

/** Writes down when tokens were last used, and from where, by token id. */
export type SaveUsage = (used: ReadonlyMap<string, TokenUse>) => Promise<void>

/** How often uses are looked for: an operator who has just tried a token sees that it was used. */
export const USAGE_FLUSH_MS = 2_000
/** How often a token in steady use is written: `last_used_at` tells whether it is still in use, and needs no better. */
const WRITE_AGAIN_MS = 30_000

/** When each token was last used, and from where, gathered in memory and written in batches. */
export class TokenUsage {
  #used = new Map<string, number>()
  /** when the store was last told of a token, for as long as that keeps it from being told again */
  // A clock that is set back must not keep a token from being written for as long.
  readonly #written = new Map<string, number>()
  /** where a request with it came from, for as long as that is new enough */
  readonly #addresses = new Map<string, { readonly address: string; readonly at: number }>()
  /** whether it is noted where tokens are used from */
  readonly keepsAddresses: boolean

  constructor(keepsAddresses = true) {
    this.keepsAddresses = keepsAddresses
  }

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs)
  }

  /** Whether it is to be found out, by `noteAddress`, where a request with this token comes from. That is not free: it is not for each. */
  wantsAddress(id: string): boolean {
    return this.keepsAddresses && !this.#addresses.has(id)
  }

  noteAddress(id: string, address: string, nowMs: number): void {
    this.#addresses.set(id, { address, at: nowMs })
  }

  /** Writes what has gathered and is due; all of it before the process ends. What cannot be written is kept for the next time. Never rejects. */
  async flush(save: SaveUsage, nowMs: number, everything = false): Promise<void> {
    forgetOld(this.#written, (at) => at, nowMs)
    const batch = [...this.#used].filter(([id]) => everything || !this.#written.has(id))
    const uses = batch.map(
      ([id, ms]) => [id, { at: new Date(ms), from: this.#addresses.get(id)?.address ?? null }] as const,
    )
    forgetOld(this.#addresses, ({ at }) => at, nowMs)
    if (batch.length === 0) return
    for (const [id] of batch) {
      this.#used.delete(id)
      this.#written.set(id, nowMs)
    }
    try {
      await save(new Map(uses))
    } catch {
      for (const [id, ms] of batch) {
        this.#written.delete(id)
        if (!this.#used.has(id)) this.#used.set(id, ms)
      }
      for (const [id, { from }] of uses)
        if (from !== null && !this.#addresses.has(id)) this.noteAddress(id, from, nowMs)
    }
  }
}

function forgetOld<T>(noted: Map<string, T>, atOf: (entry: T) => number, nowMs: number): void {
  for (const [id, entry] of noted) if (Math.abs(nowMs - atOf(entry)) >= WRITE_AGAIN_MS) noted.delete(id)
}
