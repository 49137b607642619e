import type { TokenUse } from '@gateway/store/tokens.js'

/** Stores the last use of tokens and its address, by token id. */
export type SaveUsage = (used: ReadonlyMap<string, TokenUse>) => Promise<void>

/** Interval in ms at which uses are written: an operator who has just tried a token sees that it was used. */
export const USAGE_FLUSH_MS = 2_000
/**
 * Minimum interval in ms between two writes for a token in steady use: `last_used_at` shows whether it is still in use, and needs no more
 * precision.
 */
const WRITE_AGAIN_MS = 30_000

/** The last use of each token and its address, collected in memory and written in batches. */
export class TokenUsage {
  #used = new Map<string, number>()
  /** Times of the last write for a token, as long as they delay the next write. */
  // If a clock is set back, that must not delay the writes of a token by that time.
  readonly #written = new Map<string, number>()
  /** Address of a request with each token, as long as it is recent enough. */
  readonly #addresses = new Map<string, { readonly address: string; readonly at: number }>()
  /** True if the addresses of uses are recorded. */
  readonly keepsAddresses: boolean

  constructor(keepsAddresses = true) {
    this.keepsAddresses = keepsAddresses
  }

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs)
  }

  /**
   * True if `noteAddress` should be called for a request with this token. Finding the address has a cost, so it is not done for each request.
   */
  wantsAddress(id: string): boolean {
    return this.keepsAddresses && !this.#addresses.has(id)
  }

  noteAddress(id: string, address: string, nowMs: number): void {
    this.#addresses.set(id, { address, at: nowMs })
  }

  /**
   * Writes the collected uses that are due, or all of them before the process ends. Uses that cannot be written are kept for the next time.
   * Never rejects.
   */
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
