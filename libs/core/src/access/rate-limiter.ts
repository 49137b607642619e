import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { PermitAnswer, PermitRequest, RateLimit } from '@gateway/contracts/rate-limit.js'
import { LRUCache } from 'lru-cache'

/** Takes permits from the buckets that all processes share. Rejects if they cannot be reached. */
export type TakePermits = (requests: readonly PermitRequest[]) => Promise<readonly PermitAnswer[]>

/** Maximum number of limited tokens that are tracked at once. Above it, the longest unused token starts again from the shared bucket. */
const MAX_TOKENS = 10_000
/** Maximum number of requests of one token that wait for a reply. Further ones are refused at once. */
const MAX_WAITING = 1_000
/** Minimum time between the starts of two calls, for all tokens together. A flood then costs the bus at most 100 calls a second. */
const MIN_INTERVAL_MS = 10
/** Time after which a bus that does not reply counts as unreachable. */
const ANSWER_WITHIN_MS = 500
/** Time after such a failure in which each process limits by itself. */
const ALONE_MS = 2_000
/**
 * Permits taken ahead, so that not every request of a fast token waits: those used within this time, and at most a tenth of a burst. Permits
 * unused after a second are lost, which for ten processes is a few per cent of the limit.
 */
const AHEAD_SECONDS = 0.02
const AHEAD_OF_BURST = 0.1
const KEEP_MS = 1_000

export type Admission = { readonly ok: true } | Refusal
const ADMITTED: Admission = { ok: true }

interface Followed {
  /** taken and unused; they expire at a moment */
  permits: number
  keptUntil: number
  /** until this moment the bucket is empty; the refusal says so */
  emptyUntil: number
  refusal: Refusal
  limit: RateLimit
  /** bucket of this process, used while the shared bucket is unreachable */
  level: number
  filledAt: number
  readonly waiting: ((admission: Admission) => void)[]
}

/**
 * Enforces rate limits of tokens over the whole cluster. All processes take permits from one bucket for each token, with one call at a time for
 * all waiting requests. If the bus is unreachable, each process allows its share: the limit divided by the number of edge processes last seen.
 * Moments are those of `performance.now()`, so a step of the system clock has no effect.
 */
export class RateLimiter {
  readonly #take: TakePermits
  readonly #now: () => number
  readonly #followed = new LRUCache<string, Followed>({ max: MAX_TOKENS })
  #asking = new Map<string, Followed>()
  #running = false
  #lastAt = Number.NEGATIVE_INFINITY
  #aloneUntil = Number.NEGATIVE_INFINITY
  #processes: number

  /** @param processes number of edge processes, used until the bus reports it */
  constructor(take: TakePermits, processes: number, now = () => performance.now()) {
    this.#take = take
    this.#processes = processes
    this.#now = now
  }

  /** Decides whether one more request of a token may pass, at once if permits are known here. Never rejects. */
  admit(tokenId: string, limit: RateLimit): Admission | Promise<Admission> {
    const now = this.#now()
    const followed = this.#follow(tokenId, limit, now)
    if (followed.permits > 0 && now < followed.keptUntil) {
      followed.permits--
      return ADMITTED
    }
    if (now < followed.emptyUntil) return followed.refusal
    if (now < this.#aloneUntil) return this.#admitAlone(followed, now)
    if (followed.waiting.length >= MAX_WAITING) return refusalAfter(1000)
    return new Promise((resolve) => {
      followed.waiting.push(resolve)
      this.#asking.set(tokenId, followed)
      if (!this.#running) void this.#run()
    })
  }

  #follow(tokenId: string, limit: RateLimit, now: number): Followed {
    const known = this.#followed.get(tokenId)
    if (known !== undefined && isSame(known.limit, limit)) return known
    const made: Followed = {
      permits: 0,
      keptUntil: 0,
      emptyUntil: 0,
      refusal: refusalAfter(0),
      limit,
      level: limit.burst,
      filledAt: now,
      waiting: known?.waiting ?? [],
    }
    this.#followed.set(tokenId, made)
    return made
  }

  async #run(): Promise<void> {
    this.#running = true
    // Requests that arrive in this turn of the event loop join the call.
    await new Promise(setImmediate)
    while (this.#asking.size > 0) {
      const pauseMs = this.#lastAt + MIN_INTERVAL_MS - this.#now()
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      this.#lastAt = this.#now()
      const asked = [...this.#asking]
      this.#asking = new Map()
      await this.#ask(asked)
    }
    this.#running = false
  }

  async #ask(asked: readonly (readonly [tokenId: string, Followed])[]): Promise<void> {
    const requests = asked.map(([tokenId, { limit, waiting }]) => ({
      tokenId,
      perSecond: limit.per_second,
      burst: effectiveBurst(limit),
      wanted: Math.min(effectiveBurst(limit), Math.max(waiting.length, ahead(limit))),
    }))
    try {
      const answers = await inTime(this.#take(requests))
      const now = this.#now()
      asked.forEach(([tokenId, followed], i) => {
        const answer = answers[i] as PermitAnswer
        this.#processes = Math.max(1, answer.processes)
        this.#apply(tokenId, followed, answer, now)
      })
    } catch {
      const now = this.#now()
      this.#aloneUntil = now + ALONE_MS
      for (const [, followed] of asked)
        for (const resolve of followed.waiting.splice(0)) resolve(this.#admitAlone(followed, now))
    }
  }

  #apply(tokenId: string, followed: Followed, { granted, retryAfterMs }: PermitAnswer, now: number): void {
    const admitted = followed.waiting.splice(0, granted)
    followed.permits = granted - admitted.length
    followed.keptUntil = now + KEEP_MS
    for (const resolve of admitted) resolve(ADMITTED)
    if (retryAfterMs > 0) {
      followed.emptyUntil = now + retryAfterMs
      followed.refusal = refusalAfter(retryAfterMs)
      for (const resolve of followed.waiting.splice(0)) resolve(followed.refusal)
    }
    // More requests arrived during the call.
    if (followed.waiting.length > 0) this.#asking.set(tokenId, followed)
  }

  #admitAlone(followed: Followed, now: number): Admission {
    const rate = followed.limit.per_second / this.#processes / 1000
    const burst = Math.max(1, effectiveBurst(followed.limit) / this.#processes)
    followed.level = Math.min(burst, followed.level + rate * (now - followed.filledAt))
    followed.filledAt = now
    if (followed.level < 1) return refusalAfter((1 - followed.level) / rate)
    followed.level--
    return ADMITTED
  }
}

/** The bucket must not overflow between two calls. */
function effectiveBurst({ per_second, burst }: RateLimit): number {
  return Math.max(burst, Math.ceil((per_second * 2 * MIN_INTERVAL_MS) / 1000))
}

function ahead({ per_second, burst }: RateLimit): number {
  return Math.max(1, Math.floor(Math.min(per_second * AHEAD_SECONDS, burst * AHEAD_OF_BURST)))
}

function isSame(a: RateLimit, b: RateLimit): boolean {
  return a.per_second === b.per_second && a.burst === b.burst
}

const refusals = new Map<number, Refusal>()

const MAX_RETRY_SECONDS = 86_400

/** Returns one shared object for each number of seconds, because the response is cached for each refusal. */
function refusalAfter(ms: number): Refusal {
  const seconds = Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(ms / 1000)))
  const known = refusals.get(seconds)
  if (known !== undefined) return known
  const made: Refusal = {
    ...refuse('rate_limited', coded('token_rate_limited', { seconds })),
    retryAfterSeconds: seconds,
  }
  refusals.set(seconds, made)
  return made
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), ANSWER_WITHIN_MS)
  })
  answer.catch(() => {})
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
