import { clipped } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { ControlContext } from '../context.js'
import type { App } from './app-type.js'

/** An answer that takes longer is worth a line. */
const SLOW_MS = 1000

/** Counts every answer, and logs those that went wrong or were slow; the rest only at debug level. */
export function registerRequestLog(app: App, { metrics, log }: ControlContext): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const ms = reply.elapsedTime
    metrics.requests.inc({ method, route, status: reply.statusCode })
    metrics.requestSeconds.observe({ method, route }, ms / 1000)
    const about = { method, url: clipped(request.url), status: reply.statusCode, ms: Math.round(ms) }
    const { isProbe, mayTakeLong } = request.routeOptions.config
    // What makes one request fail or wait does so to all that callers send: no line for each.
    if (reply.statusCode >= 500 && !isProbe) {
      noteTrouble(log, `requests are answered ${reply.statusCode}`, { ...about, err: request.trouble?.message })
    } else if (reply.statusCode !== 503 && ms > SLOW_MS && !mayTakeLong) {
      noteTrouble(log, 'requests are answered slowly', about)
    } else request.log.debug(about, 'request')
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** answers of this route take long (a stream of events, a scan): they are not logged as slow */
    mayTakeLong?: boolean
    /** a 503 is a regular answer of this route */
    isProbe?: boolean
  }
}
