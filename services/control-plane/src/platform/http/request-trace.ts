import { logContext } from '@gateway/core/logging/log.js'
import type { Span } from '@gateway/core/tracing/span.js'
import { parseTraceparent } from '@gateway/core/tracing/trace-context.js'
import type { ControlContext } from '../context.js'
import { traceFields } from '../trace.js'
import type { App } from './app-type.js'

/** Visible ASCII (RFC 9110, 5.6.2, and other usual characters of ids), limited to a length that fits in a log line. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/**
 * Makes each request a span of the trace that its `traceparent` names, or of a new one. Every line of its log contains the trace, and the
 * `X-Request-Id` if it was sent.
 */
export function registerRequestTrace(app: App, { tracer }: ControlContext): void {
  app.decorateRequest('span')
  app.decorateRequest('logFields')
  app.addHook('onRequest', (request, _, done) => {
    const { traceparent, tracestate, 'x-request-id': id } = request.headers
    const parent = parseTraceparent(String(traceparent ?? ''), String(tracestate ?? ''))
    const { method } = request
    const route = request.routeOptions.url ?? 'none'
    const attributes = { 'http.request.method': method, 'http.route': route }
    const span = tracer.start(`${method} ${route}`, { kind: 'server', parent, attributes })
    request.span = span
    const requestId = typeof id === 'string' && REQUEST_ID.test(id) ? { request_id: id } : {}
    request.logFields = { ...traceFields(span.context), ...requestId }
    logContext.run(request.logFields, done)
  })
  // After a body was read, the next hooks are called by its stream instead of the previous hooks.
  app.addHook('preHandler', (request, _, done) => logContext.run(request.logFields, done))
  app.addHook('onResponse', async ({ span }, { statusCode }) => {
    const failed = statusCode >= 500 ? `status ${statusCode}` : null
    span?.end({ 'http.response.status_code': statusCode }, failed)
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined if the request was refused before it had a route */
    span: Span | undefined
    /** fields of every line of the request's log */
    logFields: Readonly<Record<string, string>>
  }
}
