import { toAccessToken } from '@gateway/access/access-token.js'
import { findTokensByDigest } from '@gateway/store/tokens.js'
import type { FindTokens } from '../auth/token-lookup.js'
import type { StoreLink } from '../sync/store-link.js'

/** The store, as the token cache asks it. */
export function tokenFinder(store: StoreLink): FindTokens {
  return async (digests) => {
    const tokens = await store.query((sql) => findTokensByDigest(sql, digests))
    return new Map(tokens.map((token) => [token.digest, toAccessToken(token)]))
  }
}
