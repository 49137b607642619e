import type { AccessToken } from '@gateway/core/access/decide.js'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import { LRUCache } from 'lru-cache'
import { type FindTokens, TokenLookup } from './token-lookup.js'
import type { TokenUsage } from './token-usage.js'

/**
 * Limit: cached tokens, about 3 KB each with a handful of grants, including the native table's part; more tokens than a gateway has in use at
 * once.
 */
const MAX_TOKENS = 65_536
/** Returns a token that is known without a query of the store, by the hex SHA-256 of its plaintext; null if the store must be asked. */
export type KnownToken = (digest: string) => AccessToken | null

/** Limit: cached unknown tokens. They have their own cache, so that a flood of invented tokens evicts no good one. */
const MAX_UNKNOWN = 20_000

interface Entry {
  readonly token: AccessToken | null
  readonly digest: string
}

/**
 * The cached tokens of this process, by their plaintext: a hit costs one look-up, without hashing or a query. Well-formed unknown tokens are
 * cached too (null). Entries have no TTL: `invalidate` drops disabled and changed tokens by their digest. An edge that is cut off refuses all
 * tokens after TOKEN_OFFLINE_SECONDS.
 */
export class TokenCache {
  readonly #known: LRUCache<string, Entry>
  readonly #unknown: LRUCache<string, Entry>
  readonly #plaintextOf = new Map<string, string>()
  readonly #lookup: TokenLookup
  readonly #usage: TokenUsage
  readonly #knownToken: KnownToken

  /**
   * @param onForgotten called with the plaintext of each entry that leaves the cache, whether the token is known or unknown
   * @param onEvicted called for each evicted entry
   */
  constructor(
    find: FindTokens,
    usage: TokenUsage,
    onForgotten: (plaintext: string) => void = () => {},
    knownToken: KnownToken = () => null,
    onEvicted: () => void = () => {},
  ) {
    this.#usage = usage
    this.#knownToken = knownToken
    this.#lookup = new TokenLookup(find)
    const dispose = (entry: Entry, plaintext: string, reason: LRUCache.DisposeReason): void => {
      if (reason === 'evict') onEvicted()
      this.#plaintextOf.delete(entry.digest)
      onForgotten(plaintext)
    }
    this.#known = new LRUCache({ max: MAX_TOKENS, dispose })
    this.#unknown = new LRUCache({ max: MAX_UNKNOWN, dispose })
  }

  get size(): number {
    return this.#known.size
  }

  /** Returns undefined if the token is not cached, so that `lookUp` must be called, and null if the store has no such token. */
  get(plaintext: string): AccessToken | null | undefined {
    const known = this.#known.get(plaintext)
    if (known !== undefined) return known.token
    return this.#unknown.get(plaintext)?.token
  }

  /**
   * Looks up the token in the store. Rejects if the store is unreachable. Requests for one token share a query, and waiting requests for several
   * tokens share one too.
   */
  async lookUp(plaintext: string): Promise<AccessToken | null> {
    const digest = tokenDigest(plaintext)
    const hex = digest.toString('hex')
    const known = this.#knownToken(hex)
    if (known === null) return this.#lookup.find(digest, (found) => this.#remember(plaintext, hex, found))
    this.#remember(plaintext, hex, known)
    return known
  }

  noteUsed(token: AccessToken, nowMs: number): void {
    this.#usage.note(token.id, nowMs)
  }

  /**
   * Records the address from which an admitted request with a token comes, if it is not known yet. `address` is called synchronously or not at
   * all.
   */
  noteAddress(token: AccessToken, nowMs: number, address: () => string): void {
    if (this.#usage.wantsAddress(token.id)) this.#usage.noteAddress(token.id, address(), nowMs)
  }

  /** Drops one token, by the hex SHA-256 of its plaintext; a look-up in progress is repeated. */
  invalidate(digest: string): void {
    this.#lookup.invalidate(digest)
    const plaintext = this.#plaintextOf.get(digest)
    if (plaintext === undefined) return
    this.#known.delete(plaintext)
    this.#unknown.delete(plaintext)
  }

  invalidateAll(): void {
    this.#lookup.invalidateAll()
    this.#known.clear()
    this.#unknown.clear()
    this.#plaintextOf.clear()
  }

  #remember(plaintext: string, digest: string, token: AccessToken | null): void {
    const cache = token === null ? this.#unknown : this.#known
    cache.set(plaintext, { token, digest })
    this.#plaintextOf.set(digest, plaintext)
  }
}
