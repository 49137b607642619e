import type { DecidedToken } from '@gateway/contracts/token.js'
import { parseRanges } from './client-address.js'
import type { AccessToken } from './decide.js'

/** A token of the store in the form in which decisions read it. */
export function toAccessToken(token: DecidedToken): AccessToken {
  const { allowed_origins: origins, allowed_networks: networks } = token
  // A catalog that a version before this one has kept does not say.
  const rate = token.rate_limit ?? null
  const area = token.bounds ?? null
  // Not a limit: the quick paths, which pass over tokens with limits, know nothing of versions that are held.
  const readsHeld = token.preview === true
  const hasLimits = origins.length > 0 || networks.length > 0 || rate !== null || area !== null || readsHeld
  return {
    id: token.id,
    prefix: token.prefix,
    scopes: setOf(token.scopes),
    basemaps: setOf(token.basemap_codes),
    vectors: setOf(token.vector_codes),
    // Nor of this, which edges never ask for.
    layers: setOf(token.layer_codes ?? []),
    expiresAtMs: token.expires_at === null ? null : Date.parse(token.expires_at),
    disabled: token.disabled_at !== null,
    limits: hasLimits ? { origins: new Set(origins), networks: parseRanges(networks), rate, area } : null,
    ...(readsHeld && { readsHeld }),
  }
}

/** Limit: sets that are shared; then all of them are made anew. */
const MAX_SHARED = 10_000
const shared = new Map<string, ReadonlySet<string>>()

/** Most lists have one entry, and most tokens the same one: sets of their own would be a third of what a token takes in memory. */
function setOf<T extends string>(list: readonly T[]): ReadonlySet<T> {
  const [only] = list
  if (only === undefined || list.length > 1) return new Set(list)
  const known = shared.get(only) as ReadonlySet<T> | undefined
  if (known !== undefined) return known
  const made = new Set(list)
  if (shared.size >= MAX_SHARED) shared.clear()
  shared.set(only, made)
  return made
}
