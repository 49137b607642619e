import type { AccessToken } from '@gateway/access/decide.js'
import type { Scope } from '@gateway/contracts/token.js'
import { readBasemaps } from '@gateway/store/basemaps.js'
import { changesSince, currentRevision } from '@gateway/store/change-log.js'
import { findTokensByDigest, type StoredToken } from '@gateway/store/tokens.js'
import { readVectors } from '@gateway/store/vectors.js'
import type { FindTokens } from '../access/token-lookup.js'
import type { FollowedStore } from '../catalog/follower.js'
import type { StoreLink } from '../catalog/store-link.js'

/** A catalog of many thousand versions takes longer to read than one change. */
const READ_ALL_TIMEOUT_MS = 15_000

/** The store, as the follower of the change log asks it. */
export function followedStore(store: StoreLink): FollowedStore {
  const timeout = (codes: readonly string[] | null) => (codes === null ? READ_ALL_TIMEOUT_MS : undefined)
  return {
    currentRevision: () => store.query(currentRevision),
    changesSince: (revision) => store.query((sql) => changesSince(sql, revision)),
    readBasemaps: (codes) => store.query((sql) => readBasemaps(sql, codes), timeout(codes)),
    readVectors: (codes) => store.query((sql) => readVectors(sql, codes), timeout(codes)),
  }
}

/** The store, as the token cache asks it. */
export function tokenFinder(store: StoreLink): FindTokens {
  return async (digests) => {
    const tokens = await store.query((sql) => findTokensByDigest(sql, digests))
    return new Map(tokens.map((token) => [token.digest, toAccessToken(token)]))
  }
}

function toAccessToken(token: StoredToken): AccessToken {
  return {
    id: token.id,
    prefix: token.prefix,
    scopes: new Set<Scope>(token.scopes),
    basemaps: new Set(token.basemap_codes),
    vectors: new Set(token.vector_codes),
    expiresAtMs: token.expires_at === null ? null : Date.parse(token.expires_at),
    disabled: token.disabled_at !== null,
  }
}
