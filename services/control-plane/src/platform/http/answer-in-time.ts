import type { MessageCode } from '@gateway/contracts/messages.js'
import { WriteWatch, writeWatch } from '@gateway/store/write-fence.js'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { App } from './app-type.js'

/** Time limits of requests, in milliseconds. */
export interface TimeLimits {
  /** reading requests, and the check of a service token: far more than they take, and less than a map client waits */
  readonly read: number
  /** one transaction of a writing request, including waits for the revision counter */
  readonly write: number
  /** a whole writing request, except the wait for edges */
  readonly answer: number
}

export const TIME_LIMITS: TimeLimits = { read: 3_000, write: 5_000, answer: 10_000 }

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isReading = (request: FastifyRequest): boolean => READING.has(request.method)

/** A limit is counted in ticks, so that a process that got no processor time handles arrived data before it gives up. */
const TICKS = 3

/** Thrown if the store, on which a request depends, did not respond in time. */
class LateAnswer extends Error {
  readonly code = 'ANSWER_TIMEOUT'
}

/**
 * Limits the time of every handler. A store that refuses connections fails its queries at once, but one that is frozen, or behind a network that
 * swallows packets, leaves them open. The transactions of each request are watched, so that a change that returned 503 is not carried out
 * afterwards, or the response says that it may be.
 */
export function registerAnswerInTime(app: App, limits = TIME_LIMITS): void {
  app.decorateRequest('writes')
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function limited(request, reply) {
      const unlimited = request.routeOptions.config.mayTakeLong === true
      const writes = new WriteWatch(unlimited ? limits.answer : limits.write)
      request.writes = writes
      const answer = writeWatch.run(writes, () => (handler as RouteHandlerMethod).call(this, request, reply))
      if (unlimited || !(answer instanceof Promise)) return answer
      return inTime(answer, isReading(request) ? limits.read : limits.answer, reply, () => writes.giveUp())
    }
  })
}

/** Limits queries of hooks, which run before the handler. Rejects if they take too long. */
export function readInTime<T>(work: Promise<T>, reply: FastifyReply): Promise<T> {
  return inTime(work, TIME_LIMITS.read, reply, () => {})
}

function inTime<T>(work: Promise<T>, withinMs: number, reply: FastifyReply, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      // A response in progress is a stream, which may take long.
      if (++ticks < TICKS || reply.sent) return
      giveUp()
      reject(new LateAnswer(`no answer after ${withinMs} ms`))
    }, withinMs / TICKS)
  })
  return Promise.race([work, late]).finally(() => clearInterval(timer))
}

declare module 'fastify' {
  interface FastifyRequest {
    /** outcome of the request's writes; undefined before its handler runs */
    writes: WriteWatch | undefined
  }
  interface FastifyContextConfig {
    /** code of the remedy for clients if it is unknown whether the change was made */
    ifUnknown?: MessageCode
  }
}
