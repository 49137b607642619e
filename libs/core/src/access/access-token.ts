import type { DecidedToken } from '@gateway/contracts/token.js'
import { parseRanges } from './client-address.js'
import type { AccessToken } from './decide.js'

/** Converts a token of the store into the form that decisions read. */
export function toAccessToken(token: DecidedToken): AccessToken {
  const { allowed_origins: origins, allowed_networks: networks } = token
  // A kept catalog that an earlier version wrote lacks this field.
  const rate = token.rate_limit ?? null
  const area = token.bounds ?? null
  // Not a limit, but the fast paths do not know held versions.
  const readsHeld = token.preview === true
  const hasLimits = origins.length > 0 || networks.length > 0 || rate !== null || area !== null || readsHeld
  return {
    id: token.id,
    prefix: token.prefix,
    scopes: setOf(token.scopes),
    basemaps: setOf(token.basemap_codes),
    vectors: setOf(token.vector_codes),
    // Absent on the edge, which never asks for it.
    layers: setOf(token.layer_codes ?? []),
    expiresAtMs: token.expires_at === null ? null : Date.parse(token.expires_at),
    disabled: token.disabled_at !== null,
    limits: hasLimits ? { origins: new Set(origins), networks: parseRanges(networks), rate, area } : null,
    ...(readsHeld && { readsHeld }),
  }
}

/** Maximum number of shared sets. Above it, all of them are dropped and built again. */
const MAX_SHARED = 10_000
const shared = new Map<string, ReadonlySet<string>>()

/** Most lists have one entry, and most tokens have the same one. Separate sets would take a third of a token's memory. */
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
