import type { Token } from '@gateway/contracts/token.js'
import { parseRanges } from './client-address.js'
import type { AccessToken } from './decide.js'

/** A token of the store in the form in which decisions read it. */
export function toAccessToken(token: Token): AccessToken {
  const { allowed_origins: origins, allowed_networks: networks } = token
  const hasLimits = origins.length > 0 || networks.length > 0
  return {
    id: token.id,
    prefix: token.prefix,
    scopes: new Set(token.scopes),
    basemaps: new Set(token.basemap_codes),
    vectors: new Set(token.vector_codes),
    expiresAtMs: token.expires_at === null ? null : Date.parse(token.expires_at),
    disabled: token.disabled_at !== null,
    limits: hasLimits ? { origins: new Set(origins), networks: parseRanges(networks) } : null,
  }
}
