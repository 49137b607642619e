import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { RateLimit } from '@gateway/contracts/rate-limit.js'
import { isInRanges, type Range } from './client-address.js'

/** Limits of the places and the rate at which a token may be used. An empty list allows everything. */
export interface TokenLimits {
  readonly origins: ReadonlySet<string>
  readonly networks: readonly Range[]
  /** enforced by `RateLimiter` after every other check; null: unlimited */
  readonly rate: RateLimit | null
  /** area that it may read, checked by the routes of the edge and the control plane; null: everywhere */
  readonly area: Bounds | null
}

/** The origin of a request. */
export interface Sender {
  /** headers `Origin` and `Referer`; '' if absent */
  readonly origin: string
  readonly referer: string
  /** address of the client, as far as proxies are trusted */
  readonly address: string
}

const ORIGIN_NOT_ALLOWED = refuse('origin_not_allowed', coded('token_origin'))
const NETWORK_NOT_ALLOWED = refuse('network_not_allowed', coded('token_network'))

/** Returns the refusal of a request that breaks a token's limits, or null. An unknown sender (null) breaks all limits. */
export function breachOf(limits: TokenLimits, sender: Sender | null): Refusal | null {
  const { origins, networks } = limits
  if (networks.length > 0 && (sender === null || !isInRanges(sender.address, networks))) return NETWORK_NOT_ALLOWED
  if (origins.size > 0 && (sender === null || !origins.has(originOf(sender)))) return ORIGIN_NOT_ALLOWED
  return null
}

/** Browsers omit `Origin` from plain image requests, but they send `Referer`. */
function originOf({ origin, referer }: Sender): string {
  if (origin !== '') return origin
  return URL.canParse(referer) ? new URL(referer).origin : ''
}
