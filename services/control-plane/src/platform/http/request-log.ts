import { clipped } from '@gateway/core/logging/log.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { ControlContext } from '../context.js'
import type { App } from './app-type.js'

/** Time above which a response is logged as slow. */
const SLOW_MS = 1000

/** Counts every response, and logs failures and slow responses; the others only at debug level. */
export function registerRequestLog(app: App, { metrics, log }: ControlContext): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none'
    const { method } = request
    const ms = reply.elapsedTime
    metrics.requests.inc({ method, route, status: reply.statusCode })
    metrics.requestSeconds.observe({ method, route }, ms / 1000)
    const about = { method, url: clipped(request.url), status: reply.statusCode, ms: Math.round(ms) }
    const { isProbe, mayTakeLong } = request.routeOptions.config
    // The same cause makes every request fail or wait, so not each one gets a line.
    if (reply.statusCode >= 500 && !isProbe) {
      noteTrouble(log, `requests are answered ${reply.statusCode}`, { ...about, err: request.trouble?.message })
    } else if (reply.statusCode !== 503 && ms > SLOW_MS && !mayTakeLong) {
      noteTrouble(log, 'requests are answered slowly', about)
    } else request.log.debug(about, 'request')
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** true if responses of this route take long (a stream of events, a scan): they are not logged as slow */
    mayTakeLong?: boolean
    /** true if a 503 is a regular response of this route */
    isProbe?: boolean
  }
}
