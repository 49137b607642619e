import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { Span } from '@gateway/core/tracing/span.js'
import type { HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import type { RequestKind } from '../metrics/counters.js'

/** Slower answers are worth a line in the log. Milliseconds to the first byte. */
const SLOW_MS = 1_000

export interface GivenAnswer {
  readonly kind: RequestKind
  readonly path: string
  readonly query: string
  readonly status: number
  /** of the body; null: not known yet */
  readonly bytes: number | null
  readonly ms: number
  /** null: an answer of the hot path, which is not traced */
  readonly trace: Span | null
}

/** Counts, times, traces and logs an answer whose head has been written. */
export function noteAnswer(edge: Edge, res: HttpResponse, answer: GivenAnswer): void {
  const { kind, status, ms, trace } = answer
  const answers = edge.counters.answers[kind]
  answers.count(status)
  edge.access?.answered(res, answer)
  trace?.end({ 'http.response.status_code': status }, status >= 500 ? `status ${status}` : null)
  if (kind === 'other') return
  answers.durations.add(ms / 1000)
  // Of what is handed on, the edge's own refusals alone are its errors (proxy.ts).
  if (status >= 500 && kind !== 'passthrough') edge.counters.serverErrors++
  logAnswer(edge, answer)
}

/** While something is down, damaged or slow, thousands of requests may be answered so: no line for each. */
export function logAnswer(
  { log }: Edge,
  { path, query, status, ms, trace }: Omit<GivenAnswer, 'kind' | 'bytes'>,
): void {
  const isUsual = status < 500 && ms <= SLOW_MS
  if (isUsual && !log.isLevelEnabled('debug')) return
  const address = query === '' ? path : `${path}?${query}`
  const about = { path: address, status, ms: Math.round(ms), trace_id: trace?.context.traceId }
  if (isUsual) log.debug(about, 'answered')
  else if (status < 500) noteTrouble(log, 'requests are answered slowly', about)
  else noteTrouble(log, `requests are answered ${status}`, about, status === 503 ? 'warn' : 'error')
}
