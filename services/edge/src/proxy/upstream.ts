import type { Readable } from 'node:stream'
import { EDGE_ADMITTED_HEADER, EDGE_ASK_HEADER } from '@gateway/contracts/header-limits.js'
import type { Dispatcher, Pool } from 'undici'
import type { RequestHead } from './request-head.js'
import { WaitingBodies } from './waiting-bodies.js'

/**
 * Connections of one edge process to the control plane, separate for each kind of request, so that no kind occupies those of another: short
 * requests, of which further ones wait their turn; streams of events, which last; imports, whose bodies may arrive slowly.
 */
const CONNECTIONS = { answers: 128, events: 256, imports: 4 } as const
export type Lane = keyof typeof CONNECTIONS

/** Limit: bytes of the response to a question by the head only, which is a refusal in JSON. */
const MAX_VERDICT_BYTES = 64 * 1024
const CONNECT_TIMEOUT_MS = 2_000
/**
 * Time in ms until a response must begin. The control plane limits its own routes, except those that wait for work such as a scan, which are writes. So the limit
 * of writes only ends requests to a control plane that hangs.
 */
const HEADERS_TIMEOUT_MS = { reads: 120_000, writes: 3_600_000 } as const

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

interface Attempt {
  controller: Dispatcher.DispatchController | null
  givenUp: boolean
  answered: boolean
  ended: boolean
}

/** Events of a forwarded request. */
export interface UpstreamAnswer {
  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void
  /** `pause` stops the flow until `resume` is called. */
  data(chunk: Buffer, pause: () => void, resume: () => void): void
  end(): void
  /** Before `head`: there is no response. After it: the response broke off. */
  failed(error: Error): void
}

/** The control plane's decision about the head of a request: it would read the body, or its response without the body. */
export type Verdict =
  | { readonly admitted: true }
  | {
      readonly admitted: false
      readonly status: number
      readonly headers: Readonly<Record<string, string | string[] | undefined>>
      readonly body: Buffer
    }

/** The control plane, over persistent connections. */
export class Upstream {
  readonly #origin: string
  #pools: Promise<Readonly<Record<Lane, Pool>>> | null = null
  /** Bodies of requests that are forwarded only when they are complete. */
  readonly waiting = new WaitingBodies()
  readonly #used: Record<Lane, number> = { answers: 0, events: 0, imports: 0 }

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Loads the client with the first request that is forwarded: it takes an eighth of the processor time of a worker's start, and 10 MB. */
  async #opened(): Promise<Readonly<Record<Lane, Pool>>> {
    const { Pool } = await import('undici')
    const pool = (lane: Lane) =>
      new Pool(this.#origin, {
        connections: CONNECTIONS[lane],
        pipelining: 1,
        // Server-sent events may be silent for any time.
        bodyTimeout: 0,
        connect: { timeout: CONNECT_TIMEOUT_MS },
      })
    return { answers: pool('answers'), events: pool('events'), imports: pool('imports') }
  }

  /** True if a request of a lane would have to wait for the end of another. */
  isFull(lane: Lane): boolean {
    return this.#used[lane] >= CONNECTIONS[lane]
  }

  /** Requests without a complete response, by lane; including those that wait for a connection. */
  get used(): Readonly<Record<Lane, number>> {
    return this.#used
  }

  /**
   * Forwards a request; the returned function cancels it. `extra` are the headers by which the edge proves itself. A body that is a stream
   * occupies its connection until it has arrived.
   */
  send(
    lane: Lane,
    head: RequestHead,
    extra: readonly string[],
    body: Readable | Buffer | null,
    answer: UpstreamAnswer,
  ): () => void {
    const headers = [...head.headers, ...extra]
    const length = Buffer.isBuffer(body) ? body.length : head.bodyLength
    if (body !== null && length !== null) headers.push('content-length', String(length))
    const attempt: Attempt = { controller: null, givenUp: false, answered: false, ended: false }
    const options: Dispatcher.DispatchOptions = {
      method: head.method as Dispatcher.HttpMethod,
      path: head.target,
      headers,
      body,
      headersTimeout: SAFE.has(head.method) ? HEADERS_TIMEOUT_MS.reads : HEADERS_TIMEOUT_MS.writes,
    }
    const mayRepeat = body === null && SAFE.has(head.method)
    this.#used[lane]++
    const release = () => {
      if (!attempt.ended) this.#used[lane]--
      attempt.ended = true
    }
    this.#pools ??= this.#opened()
    this.#pools.then(
      (pools) => {
        if (!attempt.givenUp) this.#dispatch(pools[lane], options, attempt, release, answer, mayRepeat)
      },
      (error: Error) => {
        release()
        if (!attempt.givenUp) answer.failed(error)
      },
    )
    return () => {
      attempt.givenUp = true
      if (body !== null && !Buffer.isBuffer(body)) body.destroy()
      if (!attempt.ended) attempt.controller?.abort(new Error('the client has gone'))
      release()
    }
  }

  /** Asks by the head only whether the control plane would read the body. `decided` gets null if it does not answer. */
  ask(head: RequestHead, extra: readonly string[], decided: (verdict: Verdict | null) => void): () => void {
    let status = 0
    let headers: Readonly<Record<string, string | string[] | undefined>> = {}
    const chunks: Buffer[] = []
    let size = 0
    const question = { ...head, bodyLength: 0 }
    return this.send('answers', question, [...extra, EDGE_ASK_HEADER, '1'], null, {
      head: (...got) => {
        ;[status, headers] = got
      },
      data: (chunk) => {
        size += chunk.length
        if (size <= MAX_VERDICT_BYTES) chunks.push(chunk)
      },
      end: () => {
        if (headers[EDGE_ADMITTED_HEADER] !== undefined) decided({ admitted: true })
        else decided({ admitted: false, status, headers, body: Buffer.concat(chunks) })
      },
      failed: () => decided(null),
    })
  }

  #dispatch(
    pool: Pool,
    options: Dispatcher.DispatchOptions,
    attempt: Attempt,
    release: () => void,
    answer: UpstreamAnswer,
    mayRepeat: boolean,
  ): void {
    pool.dispatch(options, {
      onRequestStart(controller) {
        attempt.controller = controller
        if (attempt.givenUp) controller.abort(new Error('the client has gone'))
      },
      onResponseStart(_, status, received) {
        if (status < 200) return
        attempt.answered = true
        answer.head(status, received)
      },
      onResponseData(controller, chunk) {
        answer.data(
          chunk,
          () => controller.pause(),
          () => controller.resume(),
        )
      },
      onResponseEnd() {
        release()
        answer.end()
      },
      onResponseError: (_, error) => {
        if (attempt.givenUp) return
        // A persistent connection may be closed just when it is used again: a request without effects is retried once, on another connection.
        if (mayRepeat && !attempt.answered && isClosedConnection(error)) {
          return this.#dispatch(pool, options, attempt, release, answer, false)
        }
        release()
        answer.failed(error)
      },
    })
  }

  async close(): Promise<void> {
    await Promise.all(Object.values((await this.#pools) ?? {}).map((pool) => pool.destroy()))
  }
}

function isClosedConnection(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
