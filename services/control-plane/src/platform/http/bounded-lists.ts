import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Limits: lists that are read and serialised at once, lists that wait, and their wait. A list of 1,000 takes some tens of milliseconds of the event loop. */
const MAX_AT_ONCE = 8
const MAX_WAITING = 100
const MAX_WAIT_MS = 3_000
const RETRY_SECONDS = 2

const BUSY: Refusal = {
  ...refuse('too_many_requests', coded('lists_full')),
  retryAfterSeconds: RETRY_SECONDS,
}

/** True if a response may grow with stored data, because its schema contains a list of objects. */
function mayGrow(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return !(schema.element instanceof z.ZodString)
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(mayGrow)
  if (schema instanceof z.ZodRecord) return true
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return mayGrow(schema.unwrap())
  if (schema instanceof z.ZodUnion) return schema.options.some(mayGrow)
  if (schema instanceof z.ZodIntersection) return mayGrow(schema.def.left) || mayGrow(schema.def.right)
  return false
}

/** A semaphore for long responses. */
class Places {
  readonly #waiting = new Set<(isFree: boolean) => void>()
  #taken = 0

  /** Resolves to true, at once or later, if a place was taken, which the caller must release. */
  take(): boolean | Promise<boolean> {
    if (this.#taken < MAX_AT_ONCE) {
      this.#taken++
      return true
    }
    if (this.#waiting.size >= MAX_WAITING) return false
    return new Promise((resolve) => {
      const answer = (isFree: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(answer)
        resolve(isFree)
      }
      const timer = setTimeout(answer, MAX_WAIT_MS, false)
      this.#waiting.add(answer)
    })
  }

  giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#taken--
    else next(true)
  }
}

/**
 * Bounds the number of concurrent responses that grow with stored data (lists, the dashboard, usage), as found from their schemas. Requests beyond
 * the limit return 429. Must be registered after all other wrappers of handlers, so that their time limits begin with the work.
 */
export function registerBoundedLists(app: App): void {
  const places = new Places()
  app.decorateRequest('leaveList')
  app.decorate('boundedLists', new Set<string>())
  app.addHook('onRoute', (route) => {
    const isReading = route.method === 'GET' || route.method === 'HEAD'
    const response = route.schema?.response as Readonly<Record<number, unknown>> | undefined
    if (!isReading || route.config?.mayTakeLong === true || !mayGrow(response?.[200])) return
    const { handler } = route
    app.boundedLists.add(route.url)
    route.handler = async function bounded(request, reply) {
      if (!(await places.take())) return sendRefusal(reply, BUSY)
      request.leaveList = () => {
        request.leaveList = undefined
        places.giveBack()
      }
      if (request.raw.socket.destroyed) {
        request.leaveList()
        return reply.hijack()
      }
      return handler.call(this, request, reply)
    }
  })
  // The text is complete by then, so a slow reader holds no place.
  app.addHook('onSend', async (request) => request.leaveList?.())
  app.addHook('onResponse', async (request) => request.leaveList?.())
}

declare module 'fastify' {
  interface FastifyInstance {
    /** patterns of the bounded paths; a test compares them with those of large responses */
    readonly boundedLists: Set<string>
  }
  interface FastifyRequest {
    /** releases the place of a list; undefined if the request has none */
    leaveList: (() => void) | undefined
  }
}
