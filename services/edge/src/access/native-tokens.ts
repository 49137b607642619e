import type { AccessToken } from '@gateway/access/decide.js'
import { GRANT_ALL } from '@gateway/contracts/token.js'
import type { HotTable } from '@gateway/sendfile/hot-table.js'
import type { TokenUsage } from './token-usage.js'

/** Limit: below the table's own of 10,000, beyond which it would drop one without telling. */
const MAX_TOKENS = 8_000

/** The tokens that the native table honours by itself; each is also in the token cache, and leaves the table when it leaves the cache. */
export class NativeTokens {
  readonly #table: HotTable
  /** token ids by plaintext: exactly what is in the table */
  readonly #ids = new Map<string, string>()

  constructor(table: HotTable) {
    this.#table = table
  }

  /** `token` is one that may read at this moment; the table watches its expiry and its grants. */
  put(plaintext: string, token: AccessToken): void {
    if (this.#ids.has(plaintext)) return
    // Those in use come back with their next request.
    if (this.#ids.size >= MAX_TOKENS) for (const known of [...this.#ids.keys()]) this.forget(known)
    const codes = token.basemaps.has(GRANT_ALL) ? 'all' : [...token.basemaps]
    this.#table.putToken(plaintext, codes, token.expiresAtMs)
    this.#ids.set(plaintext, token.id)
  }

  /** `plaintext` is known to be nobody's token at this moment. */
  putUnknown(plaintext: string): void {
    this.#table.putUnknown(plaintext)
  }

  /** It has left the token cache: nothing is known of it any more. */
  forget(plaintext: string): void {
    if (this.#ids.delete(plaintext)) this.#table.dropToken(plaintext)
    else this.#table.dropUnknown(plaintext)
  }

  /** Notes what was used since the last call as used now. A use just before its token is forgotten is not noted. */
  noteUses(usage: TokenUsage, nowMs: number): void {
    for (const plaintext of this.#table.takeUsedTokens()) {
      const id = this.#ids.get(plaintext)
      if (id !== undefined) usage.note(id, nowMs)
    }
  }
}
