import type { AccessToken } from '@gateway/core/access/decide.js'

/** Finds the tokens with these digests, by hex digest; digests without a token are omitted. */
export type FindTokens = (digests: readonly Buffer[]) => Promise<ReadonlyMap<string, AccessToken>>

interface Waiting {
  readonly digest: Buffer
  /** Caches the result before any waiting request sees it. */
  readonly remember: (token: AccessToken | null) => void
  readonly answered: ((token: AccessToken | null) => void)[]
  readonly failed: ((error: unknown) => void)[]
}

/** Limit: digests in one query, so that a query during a flood is as short as any other. */
const BATCH = 500
/**
 * Minimum time in ms between the starts of two queries. The first request for a token waits for it only if other tokens were looked up just
 * before, as in a flood of invented ones. So a flood costs the store at most a hundred queries a second.
 */
const MIN_INTERVAL_MS = 10
/**
 * Limit: tokens that wait for a result; beyond it further ones are refused instead of queued. More than the connections that return together after
 * a restart, each with its own token, and no more than the store can answer in a second or two.
 */
const MAX_WAITING = 20_000

/**
 * Looks up unknown tokens: one query at a time, for all waiting tokens. If a token was invalidated after the start of a query, its result is
 * outdated; it is discarded, and the token is looked up again.
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

  /** Rejects if the store is unreachable, or if too many tokens are waiting. */
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
    // Further tokens in this turn of the loop join the first query.
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
