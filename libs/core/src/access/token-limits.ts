import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { RateLimit } from '@gateway/contracts/rate-limit.js'
import { isInRanges, type Range } from './client-address.js'

/** From where and how often a token may be used. An empty list allows everything. */
export interface TokenLimits {
  readonly origins: ReadonlySet<string>
  readonly networks: readonly Range[]
  /** held by `RateLimiter`, once all else is decided; null: as often as wanted */
  readonly rate: RateLimit | null
  /** what it may read, by the edge's and the control plane's routes; null: everywhere */
  readonly area: Bounds | null
}

/** Where a request comes from. */
export interface Sender {
  /** the headers `Origin` and `Referer`; '' where they are absent */
  readonly origin: string
  readonly referer: string
  /** of the client, as far as proxies are trusted */
  readonly address: string
}

const ORIGIN_NOT_ALLOWED = refuse('origin_not_allowed', coded('token_origin'))
const NETWORK_NOT_ALLOWED = refuse('network_not_allowed', coded('token_network'))

/** The refusal of a request that breaks a token's limits, or null. A sender that is not known (null) breaks them all. */
export function breachOf(limits: TokenLimits, sender: Sender | null): Refusal | null {
  const { origins, networks } = limits
  if (networks.length > 0 && (sender === null || !isInRanges(sender.address, networks))) return NETWORK_NOT_ALLOWED
  if (origins.size > 0 && (sender === null || !origins.has(originOf(sender)))) return ORIGIN_NOT_ALLOWED
  return null
}

/** Browsers leave `Origin` out of plain image requests, and send `Referer` with them. */
function originOf({ origin, referer }: Sender): string {
  if (origin !== '') return origin
  return URL.canParse(referer) ? new URL(referer).origin : ''
}
