import type { Socket } from 'node:net'
import { type ErrorCode, errorBody, type Refusal, refuse } from '@gateway/contracts/errors.js'
import { noteTrouble } from '@gateway/logging/trouble-log.js'
import { storeTrouble } from '@gateway/store/trouble.js'
import type { WriteOutcome } from '@gateway/store/write-fence.js'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isReading } from './answer-in-time.js'
import type { App } from './app-type.js'
import { InputError } from './input-validation.js'
import { sendRefusal } from './refusal.js'

/** Fastify's own refusals as this service answers them. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: refuse('payload_too_large', 'the body is larger than 1 MiB'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported_media_type', 'the body must be application/json'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse('invalid_parameters', 'the body is not as long as Content-Length says'),
  FST_ERR_BAD_URL: refuse('invalid_parameters', 'the address is not well-formed'),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not_found', 'no such resource'),
}

/** SQLSTATEs for text that Postgres cannot hold: a NUL character, plain or inside JSON. It can only come from the caller. */
const UNSTORABLE_TEXT: ReadonlySet<string> = new Set(['22021', '22P05'])

/** Answers every error, expected or not, as `{"error": "..."}` with the status of the one table. Unexpected errors are logged, and not described to the client. */
export function registerErrorAnswers(app: App): void {
  app.decorateRequest('trouble')
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const trouble = isCutShort(error) ? null : storeTrouble(error)
    if (trouble !== null) {
      request.trouble = error
      return sendRefusal(reply, refuse('dependency_down', `${trouble.words}; ${whatNow(request)}`))
    }
    const refusal = refusalOf(error)
    // A request that fails may be sent without end. Routes are known and few.
    if (refusal.code === 'internal')
      noteTrouble(app.log, `requests for ${request.routeOptions.url ?? 'no route'} fail`, { err: error }, 'error')
    return sendRefusal(reply, refusal)
  })
}

const OF_WRITES: Readonly<Record<WriteOutcome, string>> = {
  none: 'nothing was changed, nor will be; try again',
  committed: 'the change itself was carried out: check it before you repeat it',
  unknown: 'whether the change was carried out is not known: check before you repeat it',
}

/** What the failure of the store means for the client, and what to do. */
function whatNow(request: FastifyRequest): string {
  if (isReading(request)) return 'try again'
  const outcome = request.writes?.outcome ?? 'none'
  const { ifUnknown } = request.routeOptions.config
  return outcome === 'none' || ifUnknown === undefined ? OF_WRITES[outcome] : `${OF_WRITES[outcome]}; ${ifUnknown}`
}

/** For faults that Fastify finds before any hook runs: an address that cannot be decoded, a parameter that is too long. */
export function answerFrameworkError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  sendRefusal(reply, refusalOf(error))
}

export function refusalOf(error: unknown): Refusal {
  if (error instanceof InputError) return error.refusal
  if (isCutShort(error)) return refuse('invalid_parameters', 'the request was not sent to its end')
  const trouble = storeTrouble(error)
  if (trouble !== null) return refuse('dependency_down', `${trouble.words}; try again`)
  const { code, statusCode } = error as Partial<FastifyError>
  const known = code === undefined ? undefined : FRAMEWORK_REFUSALS[code]
  if (known !== undefined) return known
  if (code !== undefined && UNSTORABLE_TEXT.has(code)) {
    return refuse('invalid_parameters', 'a text has a character that cannot be stored')
  }
  if (statusCode === 400) return refuse('invalid_parameters', (error as Error).message)
  return refuse('internal', 'the service failed to answer this request')
}

/** The client disconnected in the middle of a body. Node gives that the same code as a lost connection to the store. */
function isCutShort(error: unknown): boolean {
  const { code, message, syscall } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' && message === 'aborted' && syscall === undefined
}

const CLIENT_ERROR_LINES: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
}

/** Answers what is no HTTP request at all, in the form that all errors have, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] = CLIENT_ERROR_LINES[error.code ?? ''] ?? ['400 Bad Request', 'the request is malformed']
  const body = errorBody(message)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

export const NO_SUCH_PATH: Refusal & { code: ErrorCode } = refuse('not_found', 'there is nothing at this address')

declare module 'fastify' {
  interface FastifyRequest {
    /** the store's error for which the request was answered 503 */
    trouble: Error | undefined
  }
}
