import type { AccessToken } from '@gateway/core/access/decide.js'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import { LRUCache } from 'lru-cache'
import { type FindTokens, TokenLookup } from './token-lookup.js'
import type { TokenUsage } from './token-usage.js'

/** Limit: about 3 KB each with a handful of grants, the native table's part included; more tokens than a gateway has in use at once. */
const MAX_TOKENS = 65_536
/** A token that is known without asking the store, by the hex SHA-256 of its plaintext; null: it must be asked. */
export type KnownToken = (digest: string) => AccessToken | null

/** Limit: unknown tokens remembered. Their own cache, so that a flood of made-up tokens pushes out no good one. */
const MAX_UNKNOWN = 20_000

interface Entry {
  readonly token: AccessToken | null
  readonly digest: string
}

/**
 * The tokens that this process knows, by their plaintext: a hit costs one look-up, no hashing and no query. That a well-formed token is
 * unknown is remembered too (null). What is disabled or changed is forgotten through `invalidate`, by digest.
 */
export class TokenCache {
  readonly #known: LRUCache<string, Entry>
  readonly #unknown: LRUCache<string, Entry>
  readonly #plaintextOf = new Map<string, string>()
  readonly #lookup: TokenLookup
  readonly #usage: TokenUsage
  readonly #knownToken: KnownToken

  /**
   * @param onForgotten called with the plaintext of each entry that leaves, known token or unknown one
   * @param onEvicted called for each that had to make room
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

  /** undefined: not cached, call `lookUp`. null: no token of the store. */
  get(plaintext: string): AccessToken | null | undefined {
    const known = this.#known.get(plaintext)
    if (known !== undefined) return known.token
    return this.#unknown.get(plaintext)?.token
  }

  /** Asks the store. Rejects where it is out of reach. Requests for one token share one query, those for several share it too. */
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

  /** Notes where a request comes from with a token that may have it, where that is not known yet. `address` is called at once, or not at all. */
  noteAddress(token: AccessToken, nowMs: number, address: () => string): void {
    if (this.#usage.wantsAddress(token.id)) this.#usage.noteAddress(token.id, address(), nowMs)
  }

  /** Forgets one token, by the hex SHA-256 of its plaintext; a look-up under way is asked again. */
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
