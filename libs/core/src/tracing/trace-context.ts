import { randomBytes } from 'node:crypto'

/** Where a request stands in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits */
  readonly traceId: string
  /** of the caller's span; 16 hexadecimal digits */
  readonly spanId: string
  /** whether the caller records the trace */
  readonly sampled: boolean
  /** `tracestate` as it came; '': none */
  readonly state: string
}

/** Version, trace, parent and flags, and what a later version adds to them. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_VERSION = 'ff'
const ALL_ZERO = /^0+$/
/** Limit: characters of `tracestate` that are handed on; the standard asks for as many. */
const MAX_STATE = 512
const SAMPLED = 1

/**
 * What the headers of a request say; null: they name no trace, and a new one begins. Of later versions the beginning is read as that of version 00
 * (W3C Trace Context, 3.2.2 and 4.1).
 */
export function parseTraceparent(traceparent: string, tracestate = ''): TraceContext | null {
  // Most requests have none, and an edge asks at each.
  if (traceparent === '') return null
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === NO_VERSION || ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return null
  if (version === '00' && rest !== undefined) return null
  const sampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED
  return { traceId, spanId, sampled, state: tracestate.length <= MAX_STATE ? tracestate : '' }
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}

/** The headers by which a trace goes on, names and values in turn. */
export function traceHeaders(context: TraceContext): string[] {
  const { state } = context
  return ['traceparent', formatTraceparent(context), ...(state === '' ? [] : ['tracestate', state])]
}

/** A trace that begins here, and that nobody records: so that log lines can be found by its id. */
export function newTrace(): TraceContext {
  const hex = randomBytes(24).toString('hex')
  return { traceId: hex.slice(0, 32), spanId: hex.slice(32), sampled: false, state: '' }
}
