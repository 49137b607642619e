import { randomBytes } from 'node:crypto'

/** The position of a request in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits */
  readonly traceId: string
  /** span of the caller; 16 hexadecimal digits */
  readonly spanId: string
  /** whether the caller records the trace */
  readonly sampled: boolean
  /** `tracestate`, unchanged; '' if absent */
  readonly state: string
}

/** Version, trace, parent and flags, and possible additions of later versions. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_VERSION = 'ff'
const ALL_ZERO = /^0+$/
/** Maximum number of characters of `tracestate` that are passed on; the standard requires at least as many. */
const MAX_STATE = 512
const SAMPLED = 1

/**
 * Parses the trace headers of a request. Returns null if they name no trace; a new one then starts. The beginning of later versions is read like
 * version 00 (W3C Trace Context, 3.2.2 and 4.1).
 */
export function parseTraceparent(traceparent: string, tracestate = ''): TraceContext | null {
  // Fast path: most requests have no such header, and the edge checks each request.
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

/** Returns the headers that continue a trace, names and values in turn. */
export function traceHeaders(context: TraceContext): string[] {
  const { state } = context
  return ['traceparent', formatTraceparent(context), ...(state === '' ? [] : ['tracestate', state])]
}

/** Starts a trace that is not recorded. Its id connects log lines. */
export function newTrace(): TraceContext {
  const hex = randomBytes(24).toString('hex')
  return { traceId: hex.slice(0, 32), spanId: hex.slice(32), sampled: false, state: '' }
}
