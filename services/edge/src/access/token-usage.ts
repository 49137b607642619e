/** Writes down when tokens were last used, by token id. */
export type SaveUsage = (used: ReadonlyMap<string, Date>) => Promise<void>

/** How often uses are written: `last_used_at` tells an operator whether a token is still in use, and needs no better. */
export const USAGE_FLUSH_MS = 30_000

/** When each token was last used, gathered in memory and written in batches. */
export class TokenUsage {
  #used = new Map<string, number>()

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs)
  }

  /** Writes what has gathered. What cannot be written is kept for the next time. Never rejects. */
  async flush(save: SaveUsage): Promise<void> {
    if (this.#used.size === 0) return
    const batch = this.#used
    this.#used = new Map()
    try {
      await save(new Map([...batch].map(([id, ms]) => [id, new Date(ms)])))
    } catch {
      for (const [id, ms] of batch) if (!this.#used.has(id)) this.#used.set(id, ms)
    }
  }
}
