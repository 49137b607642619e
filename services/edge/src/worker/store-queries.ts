import { toAccessToken } from '@gateway/core/access/access-token.js'
import { findTokensByDigest, type StoredToken } from '@gateway/store/tokens.js'
import { isLostConnection } from '@gateway/store/transient-errors.js'
import type { FindTokens } from '../auth/token-lookup.js'
import type { ReplicaReads } from '../sync/replica-reads.js'
import type { StoreLink } from '../sync/store-link.js'

/**
 * Limit: lost connections in one look-up. A store after a failover, or a pooler in front of it, loses all connections at once; the next one is
 * new.
 */
const MAX_LOST_CONNECTIONS = 2

/**
 * Returns the look-up of tokens in the store for the token cache. A connection that is lost during a look-up does not cause a 503. Tokens that a
 * replica does not have are looked up in the store: a token is issued without an entry in the log, and the replica may lack the newest ones.
 */
export function tokenFinder(store: StoreLink, replica: Pick<ReplicaReads, 'ask'> | null = null): FindTokens {
  const find = async (digests: readonly Buffer[], lost = 0): Promise<readonly StoredToken[]> => {
    try {
      return await store.query((sql) => findTokensByDigest(sql, digests))
    } catch (error) {
      if (lost === MAX_LOST_CONNECTIONS || !isLostConnection(error)) throw error
      return find(digests, lost + 1)
    }
  }
  return async (digests) => {
    const known = (await replica?.ask((sql) => findTokensByDigest(sql, digests)))?.value ?? []
    const found = new Set(known.map(({ digest }) => digest))
    const rest = digests.filter((digest) => !found.has(digest.toString('hex')))
    const tokens = rest.length === 0 ? known : [...known, ...(await find(rest))]
    return new Map(tokens.map((token) => [token.digest, toAccessToken(token)]))
  }
}
