import { clipped } from '@gateway/logging/log.js'
import type { ControlContext } from '../context.js'
import type { App } from './app-type.js'

/** An answer that takes longer is worth a line. */
const SLOW_MS = 1000

/** Counts every answer, and logs those that went wrong or were slow; the rest only at debug level. */
export function registerRequestLog(app: App, { metrics }: ControlContext): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const ms = reply.elapsedTime
    metrics.requests.inc({ method, route, status: reply.statusCode })
    metrics.requestSeconds.observe({ method, route }, ms / 1000)
    const slow = ms > SLOW_MS && !request.routeOptions.config.mayTakeLong
    const wrong = reply.statusCode >= 500 && !request.routeOptions.config.isProbe
    const level = wrong || slow ? 'warn' : 'debug'
    request.log[level](
      { method, url: clipped(request.url), status: reply.statusCode, ms: Math.round(ms) },
      slow ? 'slow request' : 'request',
    )
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** an answer of this route takes long by its nature (a stream of events, a scan): no line says that it was slow */
    mayTakeLong?: boolean
    /** a 503 of this route is what it is asked for */
    isProbe?: boolean
  }
}
