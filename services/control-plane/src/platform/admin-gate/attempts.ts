import { createHmac, randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

interface Policy {
  /** number of wrong credentials without a pause, since people mistype */
  readonly free: number
  readonly firstPauseMs: number
  readonly longestPauseMs: number
}

/** Nine different guesses, then at most one a minute. */
const REMOTE: Policy = { free: 9, firstPauseMs: 1_000, longestPauseMs: 60_000 }
/** Guesses on this machine must not lock its operator out for long: at most one in two seconds. */
const LOOPBACK: Policy = { free: 49, firstPauseMs: 250, longestPauseMs: 2_000 }

/** Maximum number of tracked addresses, which bounds the memory. The address that was silent for longest is dropped first. */
const MAX_ADDRESSES = 10_000
/** Time without attempts after which failures are forgotten. */
const MEMORY_MS = 15 * 60_000
/** Number of remembered guesses. A script with an outdated credential repeats one of its last few; a guesser never repeats one. */
const REMEMBERED_GUESSES = 16

interface Record {
  failures: number
  pausedUntil: number
  /** keyed digests of the last wrong credentials, oldest first */
  guesses: readonly string[]
}

/**
 * Slows down guessing of one kind of credential, separately for each client address. After the free attempts, each further wrong credential
 * doubles a pause in which nothing from that address is checked. A repeated wrong credential does not count: it tells a guesser nothing, and a
 * script with an outdated password must not lock its operator out. A correct credential resets the count.
 */
export class Attempts {
  readonly #records: LRUCache<string, Record>
  readonly #now: () => number
  /** Wrong credentials may be near misses of correct ones. Keyed digests of them are worthless outside of this process. */
  readonly #key = randomBytes(32)

  constructor(now: () => number) {
    this.#now = now
    this.#records = new LRUCache({ max: MAX_ADDRESSES, ttl: MEMORY_MS, ttlResolution: 0, perf: { now } })
  }

  /** Returns the milliseconds until the next attempt from this address is checked; 0: now. */
  pauseMs(address: string): number {
    const record = this.#records.get(clientKey(address))
    return record === undefined ? 0 : Math.max(0, record.pausedUntil - this.#now())
  }

  noteWrong(address: string, loopback: boolean, credential: string): void {
    const { free, firstPauseMs, longestPauseMs } = loopback ? LOOPBACK : REMOTE
    const key = clientKey(address)
    const before = this.#records.get(key)
    const guess = createHmac('sha256', this.#key).update(credential).digest('base64url')
    if (before?.guesses.includes(guess)) return
    const failures = (before?.failures ?? 0) + 1
    const over = failures - free
    const pause = over <= 0 ? 0 : Math.min(firstPauseMs * 2 ** (over - 1), longestPauseMs)
    const guesses = [...(before?.guesses ?? []), guess].slice(-REMEMBERED_GUESSES)
    this.#records.set(key, { failures, pausedUntil: this.#now() + pause, guesses })
  }

  noteRight(address: string): void {
    this.#records.delete(clientKey(address))
  }
}

/** IPv6 customers have at least a /64, which counts as one client. */
function clientKey(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}
