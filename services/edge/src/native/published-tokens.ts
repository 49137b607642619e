import { GRANT_ALL } from '@gateway/contracts/token.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { ResponseTable } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { KnownSignature } from '../auth/signed-addresses.js'
import type { TokenUsage } from '../auth/token-usage.js'
import { tokenUsage } from '../usage/usage-counts.js'

/** The tokens that the native table honours by itself. Each is also in the token cache, whose limits hold for both, and leaves the table with it. */
export class PublishedTokens {
  readonly #table: ResponseTable
  /** exactly what is in the table, by plaintext */
  readonly #known = new Set<string>()
  /** and signatures, which are no tokens, by their text */
  readonly #signatures = new Set<string>()
  /** token ids by the table's numbers; of those that are no one's at the moment the last one's; null: a signed address */
  readonly #ids: (string | null)[] = []

  constructor(table: ResponseTable) {
    this.#table = table
  }

  /** `token` is one that is good to read at this moment; the table watches its expiry and its grants. */
  put(plaintext: string, token: AccessToken): void {
    if (this.#known.has(plaintext)) return
    const codes = token.basemaps.has(GRANT_ALL) ? 'all' : [...token.basemaps]
    const number = this.#table.putToken(plaintext, codes, token.expiresAtMs, tokenUsage(token.id))
    this.#known.add(plaintext)
    this.#ids[number] = token.id
  }

  /**
   * A signed address without bounds that was verified: its parameters open what they sign until they expire. A label that is a number would stand
   * where addresses without version have the zoom, and one that must be encoded has several spellings.
   */
  putSignature({ code, version, expiresAtMs, text }: KnownSignature): void {
    const isPlain = version === null || (encodeURIComponent(version) === version && !/^\d+$/.test(version))
    if (this.#signatures.has(text) || !isPlain) return
    const prefix = version === null ? '' : `/tiles/${code}/${version}/`
    const number = this.#table.putSignature(text, code, expiresAtMs, prefix, tokenUsage(''))
    this.#signatures.add(text)
    this.#ids[number] = null
  }

  /** `plaintext` is no token of the store at this moment. */
  putUnknown(plaintext: string): void {
    this.#table.putUnknown(plaintext)
  }

  /** It has left the token cache: nothing is known of it any more. */
  forget(plaintext: string): void {
    if (this.#known.delete(plaintext)) this.#table.dropToken(plaintext)
    else this.#table.dropUnknown(plaintext)
  }

  forgetSignature(text: string): void {
    if (this.#signatures.delete(text)) this.#table.dropSignature(text)
  }

  /** Notes what was used since the last call as used now. A use just before its token is forgotten is not noted. */
  noteUses(usage: TokenUsage, nowMs: number): void {
    for (const number of this.#table.takeUsedTokens()) {
      const id = this.#ids[number]
      if (typeof id === 'string') usage.note(id, nowMs)
    }
  }
}
