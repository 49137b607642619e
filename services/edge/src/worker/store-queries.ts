import { toAccessToken } from '@gateway/core/access/access-token.js'
import { findTokensByDigest, type StoredToken } from '@gateway/store/tokens.js'
import { isLostConnection } from '@gateway/store/transient-errors.js'
import type { FindTokens } from '../auth/token-lookup.js'
import type { ReplicaReads } from '../sync/replica-reads.js'
import type { StoreLink } from '../sync/store-link.js'

/** Limit: a store that has failed over, or a pooler before it, loses all connections at once; the next is another one. */
const MAX_LOST_CONNECTIONS = 2

/**
 * The store, as the token cache asks it. A connection that was lost under a look-up is no reason for a 503. What a replica does not find is looked
 * for in the store: tokens are issued without an entry in the log, and the replica may not have the newest.
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
