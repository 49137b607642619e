import { WriteWatch, writeWatch } from '@gateway/store/write-fence.js'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { App } from './app-type.js'

/** How long a request may take; milliseconds. */
export interface TimeLimits {
  /** reading requests, and the check of a service token: well above what they take, and less than a map client waits */
  readonly read: number
  /** one transaction of a writing request, waits for the revision counter included */
  readonly write: number
  /** a writing request as a whole, apart from the wait for edges */
  readonly answer: number
}

export const TIME_LIMITS: TimeLimits = { read: 3_000, write: 5_000, answer: 10_000 }

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isReading = (request: FastifyRequest): boolean => READING.has(request.method)

/** A limit is counted in ticks, so that a process that got no processor time handles what has arrived before it gives up. */
const TICKS = 3

/** The store, on which a request depends, did not answer in time. */
class LateAnswer extends Error {
  readonly code = 'ANSWER_TIMEOUT'
}

/**
 * Lets no handler take longer than its limit: a store that refuses connections fails its queries at once; one that is frozen, or behind a
 * network that swallows packets, leaves them open. Watches over the transactions of each request, so that what was answered 503 is not
 * carried out afterwards, or the answer says that it may be.
 */
export function registerAnswerInTime(app: App, limits = TIME_LIMITS): void {
  app.decorateRequest('writes')
  app.addHook('onRoute', (route) => {
    const { handler, config } = route
    const unlimited = config?.mayTakeLong === true
    route.handler = function limited(request, reply) {
      const writes = new WriteWatch(unlimited ? limits.answer : limits.write)
      request.writes = writes
      const answer = writeWatch.run(writes, () => (handler as RouteHandlerMethod).call(this, request, reply))
      if (unlimited || !(answer instanceof Promise)) return answer
      return inTime(answer, isReading(request) ? limits.read : limits.answer, reply, () => writes.giveUp())
    }
  })
}

/** For queries of hooks, before the handler: rejects when they take too long. */
export function readInTime<T>(work: Promise<T>, reply: FastifyReply): Promise<T> {
  return inTime(work, TIME_LIMITS.read, reply, () => {})
}

function inTime<T>(work: Promise<T>, withinMs: number, reply: FastifyReply, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      // An answer that is under way is a stream, which takes its time.
      if (++ticks < TICKS || reply.sent) return
      giveUp()
      reject(new LateAnswer(`no answer after ${withinMs} ms`))
    }, withinMs / TICKS)
  })
  return Promise.race([work, late]).finally(() => clearInterval(timer))
}

declare module 'fastify' {
  interface FastifyRequest {
    /** what became of the request's writes; not there before its handler runs */
    writes: WriteWatch | undefined
  }
  interface FastifyContextConfig {
    /** a clause for clients: what to do where it is not known whether this was carried out */
    ifUnknown?: string
  }
}
