import type { Socket } from 'node:net'
import { type ErrorCode, errorBody, type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'
import type { WriteOutcome } from '@gateway/store/write-fence.js'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isReading } from './answer-in-time.js'
import type { App } from './app-type.js'
import { InputError } from './input-validation.js'
import { sendRefusal } from './refusal.js'

/** Refusals of this service for Fastify's own errors. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: refuse('payload_too_large', coded('body_over_1_mib')),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported_media_type', coded('body_not_json')),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse('invalid_parameters', coded('body_length_wrong')),
  FST_ERR_BAD_URL: refuse('invalid_parameters', coded('address_malformed')),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not_found', coded('resource_not_found')),
}

/** SQLSTATEs for text that Postgres cannot store: a NUL character, plain or inside JSON. Only a caller can have sent it. */
const UNSTORABLE_TEXT: ReadonlySet<string> = new Set(['22021', '22P05'])

/** Returns every error, expected or not, as `{"error": "..."}` with the status of the one table. Unexpected errors are logged, and not described to the client. */
export function registerErrorAnswers(app: App): void {
  app.decorateRequest('trouble')
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const trouble = isCutShort(error) ? null : storeTrouble(error)
    if (trouble !== null) {
      request.trouble = error
      return sendRefusal(reply, refuse('dependency_down', [trouble.said, ...whatNow(request)]))
    }
    const refusal = refusalOf(error)
    // A client may repeat a failing request endlessly. Routes are known and few.
    if (refusal.code === 'internal')
      noteTrouble(app.log, `requests for ${request.routeOptions.url ?? 'no route'} fail`, { err: error }, 'error')
    return sendRefusal(reply, refusal)
  })
}

const OF_WRITES: Readonly<Record<WriteOutcome, CodedMessage>> = {
  none: coded('nothing_changed_again'),
  committed: coded('change_done'),
  unknown: coded('change_unknown'),
}

/** Describes the consequence of the store's failure for the client, and the remedy. */
function whatNow(request: FastifyRequest): CodedMessage[] {
  if (isReading(request)) return [coded('try_again')]
  const outcome = request.writes?.outcome ?? 'none'
  const { ifUnknown } = request.routeOptions.config
  const advice = OF_WRITES[outcome]
  return outcome === 'none' || ifUnknown === undefined ? [advice] : [advice, coded(ifUnknown)]
}

/** Handles errors that Fastify finds before any hook runs: a path that cannot be decoded, or a parameter that is too long. */
export function answerFrameworkError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  sendRefusal(reply, refusalOf(error))
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof InputError) return error.refusal
  if (isCutShort(error)) return refuse('invalid_parameters', coded('request_cut_short'))
  const trouble = storeTrouble(error)
  if (trouble !== null) return refuse('dependency_down', [trouble.said, coded('try_again')])
  const { code, statusCode } = error as Partial<FastifyError>
  const known = code === undefined ? undefined : FRAMEWORK_REFUSALS[code]
  if (known !== undefined) return known
  if (code !== undefined && UNSTORABLE_TEXT.has(code)) {
    return refuse('invalid_parameters', coded('text_not_storable'))
  }
  if (statusCode === 400)
    return refuse('invalid_parameters', coded('request_unreadable', { reason: (error as Error).message }))
  return refuse('internal', coded('request_failed'))
}

/** True if the client disconnected in the middle of a body. Node uses the same code as for a lost connection to the store. */
function isCutShort(error: unknown): boolean {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' && message === 'aborted' && syscall === undefined
}

const CLIENT_ERROR_LINES: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
}

/** Responds to input that is not HTTP, in the form of all errors, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] = CLIENT_ERROR_LINES[error.code ?? ''] ?? ['400 Bad Request', 'the request is malformed']
  const body = errorBody(message)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

export const NO_SUCH_PATH: Refusal & { code: ErrorCode } = refuse('not_found', coded('address_not_found'))

declare module 'fastify' {
  interface FastifyRequest {
    /** the store's error because of which the request returned 503 */
    trouble: Error | undefined
  }
}
