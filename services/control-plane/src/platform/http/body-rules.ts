import type { IncomingHttpHeaders } from 'node:http'
import { refuse } from '@gateway/contracts/errors.js'
import { EDGE_ADMITTED_HEADER, EDGE_ASK_HEADER } from '@gateway/contracts/header-limits.js'
import { coded } from '@gateway/contracts/messages.js'
import type { App } from './app-type.js'
import { NO_SUCH_PATH } from './error-answers.js'
import { sendRefusal } from './refusal.js'

/** Maximum time from the head to the end of a body, even of one that is not read. A client that needs longer for 1 MiB holds the connection on purpose. */
const ARRIVES_WITHIN_MS = 30_000

const TOO_SLOW = refuse('request_timeout', coded('body_too_slow'))
const NOT_JSON = refuse('unsupported_media_type', coded('body_not_json'))

const PACKED = refuse('unsupported_media_type', coded('body_compressed'))

/**
 * Refuses requests before their bodies are read, both for unknown paths and behind gates. An edge may send only the head of a request to ask
 * whether its body would be read. It receives the refusal, or 204. A body must arrive in limited time.
 */
export function registerBodyRules(app: App, withinMs = ARRIVES_WITHIN_MS): void {
  app.addHook('onRequest', async ({ raw, routeOptions }, reply) => {
    if (!hasBody(raw.headers) || routeOptions.config?.readsOwnBody) return
    const timer = setTimeout(() => {
      if (raw.complete) return
      if (reply.sent || reply.raw.headersSent) raw.destroy()
      else sendRefusal(reply.header('Connection', 'close'), TOO_SLOW)
    }, withinMs)
    raw.once('close', () => clearTimeout(timer))
  })
  // After all checks of the head, and before any of the body is read.
  app.addHook('preParsing', async (request, reply) => {
    if (request.is404) return sendRefusal(reply, NO_SUCH_PATH)
    const { readsOwnBody, takesForm } = request.routeOptions.config
    const { 'content-encoding': coding = 'identity' } = request.headers
    if (!readsOwnBody && coding.toLowerCase() !== 'identity') return sendRefusal(reply, PACKED)
    if (request.headers[EDGE_ASK_HEADER] === undefined) return
    if (!readsOwnBody && !takesForm && !isJson(request.headers)) return sendRefusal(reply, NOT_JSON)
    return reply.header(EDGE_ADMITTED_HEADER, '1').code(204).send()
  })
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** true if the route reads its own kind of body, with its own time limit */
    readsOwnBody?: boolean
    /** true if the route accepts the form of a page without scripts */
    takesForm?: boolean
  }
}
