/** Writes down when tokens were last used, by token id. */
export type SaveUsage = (used: ReadonlyMap<string, Date>) => Promise<void>

/** How often uses are looked for: an operator who has just tried a token sees that it was used. */
export const USAGE_FLUSH_MS = 2_000
/** How often a token in steady use is written: `last_used_at` tells whether it is still in use, and needs no better. */
const WRITE_AGAIN_MS = 30_000

/** When each token was last used, gathered in memory and written in batches. */
export class TokenUsage {
  #used = new Map<string, number>()
  /** when the store was last told of a token, for as long as that keeps it from being told again */
  // A clock that is set back must not keep a token from being written for as long.
  readonly #written = new Map<string, number>()

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs)
  }

  /** Writes what has gathered and is due; all of it before the process ends. What cannot be written is kept for the next time. Never rejects. */
  async flush(save: SaveUsage, nowMs: number, everything = false): Promise<void> {
    for (const [id, at] of this.#written) if (Math.abs(nowMs - at) >= WRITE_AGAIN_MS) this.#written.delete(id)
    const batch = [...this.#used].filter(([id]) => everything || !this.#written.has(id))
    if (batch.length === 0) return
    for (const [id] of batch) {
      this.#used.delete(id)
      this.#written.set(id, nowMs)
    }
    try {
      await save(new Map(batch.map(([id, ms]) => [id, new Date(ms)])))
    } catch {
      for (const [id, ms] of batch) {
        this.#written.delete(id)
        if (!this.#used.has(id)) this.#used.set(id, ms)
      }
    }
  }
}
