import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { answerRefusal, INTERNAL, STARTING, STOPPING, STORE_DOWN } from './refusals.js'
import { guarded, RequestContext } from './request-context.js'

const JSON_HEADERS = headerBlock(
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  ...CORS,
)
const TEXT_HEADERS = headerBlock(
  ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  ...CORS,
)

/** Liveness: the event loop of this process turns. It does not cover dependencies, whose faults a restart would not fix. */
export function onHealth(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  new RequestContext(edge, 'other', res, req).answer('200 OK', JSON_HEADERS, '{"status":"ok"}')
}

/** Readiness: this process can serve tiles and decide on tokens. */
export function onReady(edge: Edge, res: HttpResponse, req: HttpRequest) {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'other', res, req)
  if (edge.draining) return answerRefusal(exchange, STOPPING)
  if (!edge.freshness.loaded || !edge.freshness.together) return answerRefusal(exchange, STARTING)
  if (performance.now() > edge.freshness.leaseExpiresAt) return answerRefusal(exchange, STORE_DOWN)
  exchange.answer('200 OK', JSON_HEADERS, '{"status":"ready"}')
}

export function onMetrics(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  const exchange = new RequestContext(edge, 'other', res, req)
  edge.totals().then(
    (text) => guarded(edge, () => exchange.answer('200 OK', TEXT_HEADERS, text)),
    (error) =>
      guarded(edge, () => {
        edge.log.error({ err: error }, 'the metrics cannot be gathered')
        answerRefusal(exchange, INTERNAL)
      }),
  )
}
