import { createRequire } from 'node:module'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher, Pool } from 'undici'
import { Circuit } from './circuit.js'
import { ObjectRefused, ObjectStoreTrouble } from './errors.js'
import type { ObservedRequest } from './object-store.js'

const require = createRequire(import.meta.url)

export interface Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** with its query, percent-encoded */
  readonly path: string
  /** created again for every attempt, since a signature is valid only for minutes */
  readonly headers: () => Record<string, string> | Promise<Record<string, string>>
  readonly body?: Buffer | undefined
  /** maximum bytes of the response's body that are read */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** at most `maxBytes`; empty for HEAD */
  readonly bytes: Buffer
}

const CONNECT_MS = 5_000
const CONNECTIONS = 64

/** Time limit of one attempt, plus the time for its bytes at the slowest accepted rate. */
const ATTEMPT_MS = 10_000
const SLOWEST_BYTES_PER_MS = 128

const ATTEMPTS = 3
const FIRST_WAIT_MS = 100
/** No attempt starts after this time, because a caller is waiting. */
const RETRY_WITHIN_MS = 8_000

/** Limits of a response's headers, and of silence while a body is streamed. */
const MAX_HEADER_BYTES = 32 * 1024
const STREAM_IDLE_MS = 30_000

/** Maximum wait in seconds; a longer Retry-After is cut to it. */
const LONGEST_RETRY_AFTER = 60

const OUR_TROUBLE = new Set([408, 425, 429, 500, 502, 503, 504, 507, 509, 598, 599])

/** A response that began, and whose body is not complete. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
}

/**
 * Sends requests to one origin, with timeouts, a few retries with jitter, and a circuit breaker. Every status except 429 and 5xx counts as a
 * response.
 */
export class Requester {
  readonly circuit: Circuit
  readonly #pool: Pool
  readonly #observe: (request: ObservedRequest) => void
  readonly #random: () => number
  readonly #attemptMs: number

  constructor(
    origin: string,
    connect: NonNullable<Pool.Options['connect']> | null,
    observe: (request: ObservedRequest) => void = () => {},
    random: () => number = Math.random,
    attemptMs = ATTEMPT_MS,
  ) {
    this.circuit = new Circuit(undefined, random)
    this.#observe = observe
    this.#random = random
    this.#attemptMs = attemptMs
    // Loaded by the first reader of objects: most gateways never need it, and it would delay every start.
    const undici = require('undici') as typeof import('undici')
    this.#pool = new undici.Pool(origin, {
      connections: CONNECTIONS,
      connect: connect ?? { timeout: CONNECT_MS },
      // The attempt has its own time limit.
      headersTimeout: 0,
      bodyTimeout: STREAM_IDLE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    // A connection that breaks between requests must not become an uncaught error.
    this.#pool.on('connectionError', () => {})
  }

  /** Rejects with `ObjectStoreTrouble`, `ObjectRefused` and the signal's reason. */
  send(request: Request): Promise<Answer> {
    return this.#retrying(request, async (signal) => {
      const answer = await this.#dispatch(request, signal)
      const bytes =
        request.method === 'HEAD' ? await nothingOf(answer) : await readBounded(answer.body, request.maxBytes)
      return { status: answer.statusCode, headers: answer.headers, bytes }
    })
  }

  /**
   * Like `send` up to the headers. The caller reads or destroys the body, which ends with `ObjectStoreTrouble` if it breaks off or stalls.
   * For a status other than 200 the body is read like in `send`.
   */
  stream(
    request: Request,
  ): Promise<Omit<Answer, 'bytes'> & { readonly body: Readable | null; readonly bytes: Buffer }> {
    return this.#retrying(request, async (signal) => {
      const answer = await this.#dispatch(request, signal)
      const { statusCode: status, headers } = answer
      if (status === 200) {
        const body = withOurErrors(answer.body)
        return { status, headers, body, bytes: Buffer.alloc(0) }
      }
      return { status, headers, body: null, bytes: await readBounded(answer.body, request.maxBytes) }
    })
  }

  /**
   * Sends a request once, whatever the circuit breaker and the status are. Rejects with the error of the connection, with the signal's reason, and with
   * `BrokenAnswer` if the response ends within its body, or is longer than `maxBytes`.
   */
  async sendOnce(request: Request & { readonly signal: AbortSignal }): Promise<Answer> {
    const answer = await this.#dispatch(request, request.signal)
    const bytes = await readBounded(answer.body, request.maxBytes + 1).catch((error) => {
      request.signal.throwIfAborted()
      throw new BrokenAnswer(reasonOf(error))
    })
    if (bytes.length > request.maxBytes) throw new BrokenAnswer(`it has more than ${request.maxBytes} bytes`)
    return { status: answer.statusCode, headers: answer.headers, bytes }
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  async #retrying<T extends Pick<Answer, 'status' | 'headers'>>(
    request: Request,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const begun = performance.now()
    for (let number = 1; ; number++) {
      request.signal?.throwIfAborted()
      const shut = this.circuit.admit()
      if (shut !== null)
        throw new ObjectStoreTrouble('it has failed several times in a row and is not asked for now', shut / 1000)
      const trouble = await this.#attempt(request, attempt)
      if (!(trouble instanceof ObjectStoreTrouble)) return trouble
      const wait = FIRST_WAIT_MS * 3 ** (number - 1) * (0.5 + this.#random())
      const isWorth = number < ATTEMPTS && trouble.retryAfterSeconds <= 1 && this.circuit.state === 'closed'
      if (!isWorth || performance.now() - begun + wait > RETRY_WITHIN_MS) throw trouble
      await sleep(wait, undefined, request.signal === undefined ? {} : { signal: request.signal }).catch(() => {})
    }
  }

  /** Returns temporary failures as values, and rejects with all others. Reports the outcome to the circuit breaker and the observer. */
  async #attempt<T extends Pick<Answer, 'status' | 'headers'>>(
    request: Request,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | ObjectStoreTrouble> {
    const begun = performance.now()
    const limitMs = this.#attemptMs + ((request.body?.length ?? 0) + request.maxBytes) / SLOWEST_BYTES_PER_MS
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new Error(`no answer within ${Math.round(limitMs / 1000)} s`)), limitMs)
    const abort = () => limit.abort(request.signal?.reason)
    request.signal?.addEventListener('abort', abort, { once: true })
    let status: number | null = null
    try {
      const answer = await attempt(limit.signal)
      status = answer.status
      if (!OUR_TROUBLE.has(status)) {
        this.circuit.succeeded()
        return answer
      }
      this.circuit.failed()
      return new ObjectStoreTrouble(`it returns ${status}`, retryAfterOf(answer.headers))
    } catch (error) {
      if (request.signal?.aborted || error instanceof ObjectRefused) {
        this.circuit.abandoned()
        throw request.signal?.aborted ? request.signal.reason : error
      }
      this.circuit.failed()
      return new ObjectStoreTrouble(reasonOf(error), 1, { cause: error })
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', abort)
      this.#observe({ method: request.method, status, seconds: (performance.now() - begun) / 1000 })
    }
  }

  async #dispatch(request: Request, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const headers = await request.headers()
    return this.#pool.request({
      path: request.path,
      method: request.method,
      // With a content encoding, ranges would refer to different bytes.
      headers: { 'user-agent': 'map-asset-gateway', 'accept-encoding': 'identity', ...headers },
      body: request.body ?? null,
      signal,
    })
  }
}

async function nothingOf(answer: Dispatcher.ResponseData): Promise<Buffer> {
  await answer.body.dump()
  return Buffer.alloc(0)
}

/** Closes the connection if the body exceeds the limit. Otherwise undici would read the body to its end. */
async function readBounded(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    const bytes = chunk as Buffer
    chunks.push(length + bytes.length > maxBytes ? bytes.subarray(0, maxBytes - length) : bytes)
    length += bytes.length
    if (length > maxBytes) break
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

/** Ends the connection if the caller abandons the body. */
function withOurErrors(body: Dispatcher.ResponseData['body']): Readable {
  const ours = new PassThrough()
  body.on('error', (error) => ours.destroy(new ObjectStoreTrouble(reasonOf(error), 1, { cause: error })))
  ours.once('close', () => body.destroy())
  return body.pipe(ours)
}

function retryAfterOf(headers: Answer['headers']): number {
  const seconds = Number([headers['retry-after']].flat()[0])
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER) : 1
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const cause = error instanceof AggregateError ? error.errors[0] : undefined
  return (cause instanceof Error ? cause.message : message) || code || 'the connection failed'
}
