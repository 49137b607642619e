import { type Refusal, refuse } from './errors.js'
import { coded } from './messages.js'

/** Treatment of a longer header: the request is refused (431), or the header counts as absent, where the standard allows that. */
type Beyond = 'refused' | 'ignored'

/** Limits in characters, far above those of honest clients; names in lower case. */
const LIMITS: ReadonlyMap<string, readonly [max: number, Beyond]> = new Map([
  // A name of 253 characters (RFC 1035, 2.3.4, as text), a final dot, a colon and a port.
  ['host', [260, 'refused']],
  ['origin', [512, 'refused']],
  // The longest bearer tokens of sign-in services have some 4 KB.
  ['authorization', [4_096, 'refused']],
  ['x-access-token', [256, 'refused']],
  ['x-esri-authorization', [4_096, 'refused']],
  ['content-type', [512, 'refused']],
  ['transfer-encoding', [64, 'refused']],
  ['content-length', [32, 'refused']],
  ['forwarded', [2_048, 'refused']],
  ['x-forwarded-for', [2_048, 'refused']],
  ['webhook-id', [256, 'refused']],
  ['webhook-timestamp', [64, 'refused']],
  ['webhook-signature', [1_024, 'refused']],
  ['webhook-proof', [1_024, 'refused']],
  // If it were ignored, Range would apply where it must not (RFC 9110, 13.1.5).
  ['if-range', [128, 'refused']],
  ['if-match', [4_096, 'refused']],
  ['if-none-match', [4_096, 'ignored']],
  ['if-modified-since', [64, 'ignored']],
  ['if-unmodified-since', [64, 'refused']],
  ['range', [128, 'ignored']],
  ['accept', [2_048, 'ignored']],
  ['accept-encoding', [512, 'ignored']],
  ['accept-language', [1_024, 'ignored']],
  ['referer', [4_096, 'ignored']],
  ['user-agent', [1_024, 'ignored']],
  ['last-event-id', [128, 'ignored']],
  ['traceparent', [128, 'ignored']],
  ['tracestate', [1_024, 'ignored']],
] as const)

/** The smallest limit. Shorter headers always fit. */
const SHORTEST = 32

/** Maximum length of any other header, cookies included. Most servers have the same limit. */
const MAX_OTHER = 8_192

const TOO_LARGE = refuse('headers_too_large', coded('header_too_long'))

/** Judges a header by its length, before its content is read. */
export function judgeHeader(name: string, length: number): 'fits' | 'ignored' | Refusal {
  if (length <= SHORTEST) return 'fits'
  const [max, beyond] = LIMITS.get(name) ?? [MAX_OTHER, 'refused']
  if (length <= max) return 'fits'
  return beyond === 'ignored' ? 'ignored' : TOO_LARGE
}

/**
 * Header by which the edge asks the control plane, with only the head of a request, whether it would read the body, before a body that is
 * still arriving occupies a connection. The response is the refusal of the request, or an empty one with the other header.
 */
export const EDGE_ASK_HEADER = 'x-edge-ask'
export const EDGE_ADMITTED_HEADER = 'x-edge-admitted'
