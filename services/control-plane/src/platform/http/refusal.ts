import { errorBody, type Refusal, refusalHeaders, refuse, STATUS_OF_ERROR } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { FastifyReply } from 'fastify'

export const NO_SUCH_BASEMAP = refuse('not_found', coded('basemap_not_found'))
export const NO_SUCH_VERSION = refuse('not_found', coded('version_not_found'))
export const NO_SUCH_VECTOR = refuse('not_found', coded('vector_not_found'))
export const NO_SUCH_STYLE = refuse('not_found', coded('style_not_found'))
export const NO_SUCH_SOURCE = refuse('not_found', coded('source_not_found'))

/** `Retry-After` if a dependency is down: roughly the time in which a database or Redis recovers. */
const RETRY_AFTER_SECONDS = 5

/** Sends a refusal in the form of all errors. The status comes from the one table. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return refusalHead(reply, refusal)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(errorBody(refusal.message))
}

/** Headers of the response that a handler began before it failed. */
const OF_ANOTHER_BODY = ['content-encoding', 'content-disposition', 'content-length', 'etag', 'last-modified']

/** Sets the status and headers of a refusal. The caller sends the body. */
export function refusalHead(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const status = STATUS_OF_ERROR[refusal.code]
  const retryAfter = refusal.retryAfterSeconds ?? (status === 503 ? RETRY_AFTER_SECONDS : null)
  if (retryAfter !== null) reply.header('Retry-After', String(retryAfter))
  for (const name of OF_ANOTHER_BODY) reply.removeHeader(name)
  for (const [name, value] of refusalHeaders(refusal)) reply.header(name, value)
  return reply.code(status).header('Cache-Control', 'no-store')
}
