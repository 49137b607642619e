import { toAccessToken } from '@gateway/core/access/access-token.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { StoredToken } from '@gateway/store/tokens.js'

/**
 * The tokens of a catalog that was kept on disk, used until this process has read the store. They are found without a query of the store,
 * which would take its time-out.
 */
export class KeptTokens {
  readonly #leaseExpiresAt: () => number
  readonly #tokens = new Map<string, StoredToken>()

  /** @param leaseExpiresAt returns the time of `performance.now()` until which they may be used */
  constructor(leaseExpiresAt: () => number) {
    this.#leaseExpiresAt = leaseExpiresAt
  }

  begin(tokens: readonly StoredToken[]): void {
    for (const token of tokens) this.#tokens.set(token.digest, token)
  }

  /** Must be called when the store was read: only the store decides from then on. */
  end(): void {
    this.#tokens.clear()
  }

  /** @param digest hex SHA-256 of the plaintext */
  forget(digest: string): void {
    this.#tokens.delete(digest)
  }

  /** Returns null if the store must be asked. */
  find(digest: string): AccessToken | null {
    const token = this.#tokens.get(digest)
    return token === undefined || performance.now() > this.#leaseExpiresAt() ? null : toAccessToken(token)
  }
}
