import { TroubleLog } from '@gateway/logging/trouble-log.js'
import type { Edge } from '../edge.js'
import type { RequestKind } from '../metrics/registry.js'

/** Slower answers are worth a line in the log. Milliseconds to the first byte. */
const SLOW_MS = 1_000

export interface GivenAnswer {
  readonly path: string
  readonly query: string
  readonly status: number
  readonly ms: number
}

/** Times and logs an answer whose head has been written. */
export function noteAnswer(edge: Edge, kind: RequestKind, answer: GivenAnswer): void {
  edge.metrics.observe(kind, answer.ms / 1000)
  if (answer.status >= 500) edge.counters.serverErrors++
  logAnswer(edge, answer)
}

export function logAnswer(edge: Edge, { path, query, status, ms }: GivenAnswer): void {
  const level = status === 503 ? 'warn' : logLevelOf(status, ms)
  if (!edge.log.isLevelEnabled(level)) return
  const address = query === '' ? path : `${path}?${query}`
  const about = { path: address, status, ms: Math.round(ms) }
  if (status === 503) unavailable(edge).note(about)
  else edge.log[level](about, 'answered')
}

let unavailableLog: TroubleLog | null = null

/** While something is down, thousands of requests may be answered so. */
function unavailable({ log }: Edge): TroubleLog {
  unavailableLog ??= new TroubleLog(log, 'requests are answered 503')
  return unavailableLog
}

function logLevelOf(status: number, ms: number): 'error' | 'info' | 'debug' {
  if (status >= 500) return 'error'
  return ms > SLOW_MS ? 'info' : 'debug'
}
