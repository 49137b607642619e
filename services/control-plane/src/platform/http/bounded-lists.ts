import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { z } from 'zod'
import type { App } from './app-type.js'
import { sendRefusal } from './refusal.js'

/** Limits: lists that are read and written as JSON at once, those that wait for it, and how long; a list of 1,000 takes some tens of milliseconds of the event loop. */
const MAX_AT_ONCE = 8
const MAX_WAITING = 100
const MAX_WAIT_MS = 3_000
const RETRY_SECONDS = 2

const BUSY: Refusal = {
  ...refuse('too_many_requests', coded('lists_full')),
  retryAfterSeconds: RETRY_SECONDS,
}

/** Whether an answer may grow with what is stored: it has a list of objects somewhere. */
export function mayGrow(schema: unknown): boolean {
  if (schema instanceof z.ZodArray) return !(schema.element instanceof z.ZodString)
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(mayGrow)
  if (schema instanceof z.ZodRecord) return true
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return mayGrow(schema.unwrap())
  if (schema instanceof z.ZodUnion) return schema.options.some(mayGrow)
  if (schema instanceof z.ZodIntersection) return mayGrow(schema.def.left) || mayGrow(schema.def.right)
  return false
}

/** The places of those who make a long answer. */
class Places {
  readonly #waiting = new Set<(isFree: boolean) => void>()
  #taken = 0

  /** Whether a place was taken, which has to be given back; at once or when it is the caller's turn. */
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
 * Bounds how many answers that grow with what is stored are made at once, by their schemas: of lists, of the dashboard, of usage. Who
 * comes beyond that is refused (429). To be registered after all else that wraps handlers, so that their time limits begin with the work.
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
  // The text is made by then; who reads it slowly keeps no place.
  app.addHook('onSend', async (request) => request.leaveList?.())
  app.addHook('onResponse', async (request) => request.leaveList?.())
}

declare module 'fastify' {
  interface FastifyInstance {
    /** the addresses, as patterns, whose answers are bounded so; a test compares them with what is large */
    readonly boundedLists: Set<string>
  }
  interface FastifyRequest {
    /** gives back the place of a list; not there where the request has none */
    leaveList: (() => void) | undefined
  }
}
