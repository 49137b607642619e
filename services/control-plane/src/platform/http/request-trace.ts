import { logContext } from '@gateway/core/logging/log-context.js'
import type { Span } from '@gateway/core/tracing/span.js'
import { parseTraceparent } from '@gateway/core/tracing/trace-context.js'
import type { ControlContext } from '../context.js'
import { traceFields } from '../trace.js'
import type { App } from './app-type.js'

/** Visible ASCII (RFC 9110, 5.6.2, and what ids are made of besides). Limit: what a log line can bear. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/**
 * Each request is a span of the trace that its `traceparent` names, or of a new one, and every line of its log says which. An `X-Request-Id` stands
 * next to it there.
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
  // Where a body was read, what follows is called by its stream and not by the hooks before.
  app.addHook('preHandler', (request, _, done) => logContext.run(request.logFields, done))
  app.addHook('onResponse', async ({ span }, { statusCode }) => {
    const failed = statusCode >= 500 ? `status ${statusCode}` : null
    span?.end({ 'http.response.status_code': statusCode }, failed)
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** not there where the request was refused before it had a route */
    span: Span | undefined
    /** what each line of the request's log says */
    logFields: Readonly<Record<string, string>>
  }
}
