import { toAccessToken } from '@gateway/core/access/access-token.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { StoredToken } from '@gateway/store/tokens.js'

/**
 * The tokens of a catalog that was kept on disk, for as long as this process has not read the store. They are known before the store is asked,
 * which would take its time-out.
 */
export class KeptTokens {
  readonly #leaseExpiresAt: () => number
  readonly #tokens = new Map<string, StoredToken>()

  /** @param leaseExpiresAt until when they may be used, by `performance.now()` */
  constructor(leaseExpiresAt: () => number) {
    this.#leaseExpiresAt = leaseExpiresAt
  }

  begin(tokens: readonly StoredToken[]): void {
    for (const token of tokens) this.#tokens.set(token.digest, token)
  }

  /** The store was read: it alone counts from now on. */
  end(): void {
    this.#tokens.clear()
  }

  /** @param digest hex SHA-256 of the plaintext */
  forget(digest: string): void {
    this.#tokens.delete(digest)
  }

  /** null: ask the store. */
  find(digest: string): AccessToken | null {
    const token = this.#tokens.get(digest)
    return token === undefined || performance.now() > this.#leaseExpiresAt() ? null : toAccessToken(token)
  }
}
