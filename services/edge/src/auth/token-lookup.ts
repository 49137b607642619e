import type { AccessToken } from '@gateway/core/access/decide.js'

/** The tokens with these digests, by hex digest; those that no token has are left out. */
export type FindTokens = (digests: readonly Buffer[]) => Promise<ReadonlyMap<string, AccessToken>>

interface Waiting {
  readonly digest: Buffer
  /** keeps the answer, before anyone who waits sees it */
  readonly remember: (token: AccessToken | null) => void
  readonly answered: ((token: AccessToken | null) => void)[]
  readonly failed: ((error: unknown) => void)[]
}

/** Limit: digests in one query, to keep a query under a flood as short as any other. */
const BATCH = 500
/**
 * Limit: from the start of one query to the start of the next. A token that is asked for the first time waits for it only where others
 * were asked for just before, as in a flood of made-up ones, which so costs the store a hundred queries a second and no more.
 */
const MIN_INTERVAL_MS = 10
/**
 * Limit: tokens that wait for an answer; beyond it a flood is refused instead of queued. More than the connections that come back together after a
 * restart, each with a token of its own, and no more than the store answers in a second or two.
 */
const MAX_WAITING = 20_000

/**
 * Look-ups of unknown tokens: one query at a time, for all that wait. An answer whose query began before an invalidation of the same
 * token says what was true before it; it is discarded and the token asked again.
 */
export class TokenLookup {
  readonly #find: FindTokens
  #waiting = new Map<string, Waiting>()
  #flying = new Map<string, Waiting>()
  readonly #outdated = new Set<string>()
  #running = false
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(find: FindTokens) {
    this.#find = find
  }

  /** Rejects where the store is out of reach, or too many tokens wait for it already. */
  find(digest: Buffer, remember: (token: AccessToken | null) => void): Promise<AccessToken | null> {
    const key = digest.toString('hex')
    return new Promise((answered, failed) => {
      const same = this.#waiting.get(key) ?? this.#flying.get(key)
      if (same !== undefined) {
        same.answered.push(answered)
        same.failed.push(failed)
        return
      }
      if (this.#waiting.size >= MAX_WAITING) {
        failed(new Error('too many unknown tokens wait for the store'))
        return
      }
      this.#waiting.set(key, { digest, remember, answered: [answered], failed: [failed] })
      if (!this.#running) void this.#run()
    })
  }

  invalidate(digest: string): void {
    if (this.#flying.has(digest)) this.#outdated.add(digest)
  }

  invalidateAll(): void {
    for (const key of this.#flying.keys()) this.#outdated.add(key)
  }

  async #run(): Promise<void> {
    this.#running = true
    // What else arrives in this turn of the loop joins the first query.
    await new Promise(setImmediate)
    while (this.#waiting.size > 0) {
      const pauseMs = this.#lastAt + MIN_INTERVAL_MS - performance.now()
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      this.#lastAt = performance.now()
      this.#takeOff()
      try {
        this.#land(await this.#find([...this.#flying.values()].map((waiting) => waiting.digest)))
      } catch (error) {
        for (const waiting of this.#flying.values()) for (const failed of waiting.failed) failed(error)
      }
      this.#flying = new Map()
      this.#outdated.clear()
    }
    this.#running = false
  }

  #takeOff(): void {
    for (const [key, waiting] of this.#waiting) {
      if (this.#flying.size >= BATCH) break
      this.#flying.set(key, waiting)
      this.#waiting.delete(key)
    }
  }

  #land(found: ReadonlyMap<string, AccessToken>): void {
    for (const [key, waiting] of this.#flying) {
      if (this.#outdated.has(key)) {
        this.#waiting.set(key, waiting)
        continue
      }
      const token = found.get(key) ?? null
      waiting.remember(token)
      for (const answered of waiting.answered) answered(token)
    }
  }
}
