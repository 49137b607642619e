import { GRANT_ALL } from '@gateway/contracts/token.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import { type ResponseTable, VECTOR_CODES } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { KnownSignature } from '../auth/signed-urls.js'
import type { TokenUsage } from '../auth/token-usage.js'
import { tokenUsage } from '../usage/usage-counts.js'
import { touchedTiles } from './touched-tiles.js'

/**
 * The tokens that the native table honours itself. Each is also in the token cache, whose limits apply to both, and is dropped from the table when
 * it leaves the cache.
 */
export class PublishedTokens {
  readonly #table: ResponseTable
  /** Exactly the tokens in the table, by plaintext. */
  readonly #known = new Set<string>()
  /** The signatures in the table, which are not tokens, by their text. */
  readonly #signatures = new Set<string>()
  /** Token ids by the table's numbers; a free number keeps its last id; null: a signed URL. */
  readonly #ids: (string | null)[] = []

  constructor(table: ResponseTable) {
    this.#table = table
  }

  /** Puts a token that is good to read at this moment; the table checks its expiry and its grants. */
  put(plaintext: string, token: AccessToken): void {
    if (this.#known.has(plaintext)) return
    const basemaps = token.basemaps.has(GRANT_ALL) ? 'all' : [...token.basemaps]
    // A grant may also name a vector by its path or file. JavaScript judges such requests.
    const vectors = token.vectors.has(GRANT_ALL) ? 'all' : Array.from(token.vectors, (code) => `${VECTOR_CODES}${code}`)
    const area = token.limits?.area ?? null
    const touched = area === null ? null : touchedTiles(area)
    const number = this.#table.putToken(
      plaintext,
      { basemaps, vectors },
      token.expiresAtMs,
      tokenUsage(token.id),
      touched,
    )
    this.#known.add(plaintext)
    this.#ids[number] = token.id
  }

  /**
   * Puts a verified signed URL without bounds: its parameters open the signed resource until they expire. A numeric label is left out, because
   * addresses without version have the zoom in its place; so is one that must be encoded, because it has several spellings.
   */
  putSignature({ code, version, expiresAtMs, text }: KnownSignature): void {
    const isPlain = version === null || (encodeURIComponent(version) === version && !/^\d+$/.test(version))
    if (this.#signatures.has(text) || !isPlain) return
    const prefix = version === null ? '' : `/tiles/${code}/${version}/`
    const number = this.#table.putSignature(text, code, expiresAtMs, prefix, tokenUsage(''))
    this.#signatures.add(text)
    this.#ids[number] = null
  }

  /** Puts a plaintext that is not a token of the store at this moment. */
  putUnknown(plaintext: string): void {
    this.#table.putUnknown(plaintext)
  }

  /** Drops a token that has left the token cache. */
  forget(plaintext: string): void {
    if (this.#known.delete(plaintext)) this.#table.dropToken(plaintext)
    else this.#table.dropUnknown(plaintext)
  }

  forgetSignature(text: string): void {
    if (this.#signatures.delete(text)) this.#table.dropSignature(text)
  }

  /** Records the uses since the last call with the current time. A use directly before its token is dropped is not recorded. */
  noteUses(usage: TokenUsage, nowMs: number): void {
    for (const number of this.#table.takeUsedTokens()) {
      const id = this.#ids[number]
      if (typeof id === 'string') usage.note(id, nowMs)
    }
  }
}
