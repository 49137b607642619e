import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { Span } from '@gateway/core/tracing/span.js'
import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import type { RequestKind } from '../metrics/counters.js'

/** Time in ms to the first byte, above which a response is logged. */
const SLOW_MS = 1_000

export interface GivenAnswer {
  readonly kind: RequestKind
  readonly path: string
  readonly query: string
  readonly status: number
  /** Bytes of the body; null if not known yet. */
  readonly bytes: number | null
  readonly ms: number
  /** null for a response of the hot path, which is not traced. */
  readonly trace: Span | null
}

/** Counts, times, traces and logs a response whose head has been written. */
export function noteAnswer(edge: Edge, res: HttpResponse, answer: GivenAnswer): void {
  const { kind, status, ms, trace } = answer
  const answers = edge.counters.answers[kind]
  answers.count(status)
  edge.access?.answered(res, answer)
  trace?.end({ 'http.response.status_code': status }, status >= 500 ? `status ${status}` : null)
  if (kind === 'other') return
  answers.durations.add(ms / 1000)
  // For proxied requests only the edge's own refusals are counted as its errors (proxy.ts).
  if (status >= 500 && kind !== 'passthrough') edge.counters.serverErrors++
  logAnswer(edge, answer)
}

/** Logs slow and failed responses without one line for each, because during a fault there may be thousands. */
function logAnswer({ log }: Edge, { path, query, status, ms, trace }: Omit<GivenAnswer, 'kind' | 'bytes'>): void {
  const isUsual = status < 500 && ms <= SLOW_MS
  if (isUsual && !log.isLevelEnabled('debug')) return
  const address = query === '' ? path : `${path}?${query}`
  const about = { path: address, status, ms: Math.round(ms), trace_id: trace?.context.traceId }
  if (isUsual) log.debug(about, 'answered')
  else if (status < 500) noteTrouble(log, 'requests are answered slowly', about)
  else noteTrouble(log, `requests are answered ${status}`, about, status === 503 ? 'warn' : 'error')
}
