import type { Readable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'
import type { RequestHead } from './request-head.js'

/** Connections of one edge process to the control plane; more requests than that wait their turn. */
const MAX_CONNECTIONS = 128
const CONNECT_TIMEOUT_MS = 2_000
/** A scan that an operator asked for may run as long before its answer begins. */
const HEADERS_TIMEOUT_MS = 120_000

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

interface Attempt {
  controller: Dispatcher.DispatchController | null
  givenUp: boolean
  answered: boolean
  ended: boolean
}

/** What becomes of a request that was handed on. */
export interface UpstreamAnswer {
  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void
  /** `pause` stops the flow until `resume` is called */
  data(chunk: Buffer, pause: () => void, resume: () => void): void
  end(): void
  /** before `head`: nothing was answered. After it: the answer broke off. */
  failed(error: Error): void
}

/** The control plane, over kept-alive connections. */
export class Upstream {
  readonly #pool: Pool

  constructor(origin: string) {
    this.#pool = new Pool(origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Server-sent events may be silent for as long as they like.
      bodyTimeout: 0,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    })
  }

  /** Hands a request on; the returned function gives it up. `extra` are the headers by which the edge proves itself. */
  send(head: RequestHead, extra: readonly string[], body: Readable | null, answer: UpstreamAnswer): () => void {
    const headers = [...head.headers, ...extra]
    if (body !== null && head.bodyLength !== null) headers.push('content-length', String(head.bodyLength))
    const attempt: Attempt = { controller: null, givenUp: false, answered: false, ended: false }
    const options: Dispatcher.DispatchOptions = {
      method: head.method as Dispatcher.HttpMethod,
      path: head.target,
      headers,
      body,
    }
    const mayRepeat = body === null && SAFE.has(head.method)
    this.#dispatch(options, attempt, answer, mayRepeat)
    return () => {
      attempt.givenUp = true
      body?.destroy()
      if (!attempt.ended) attempt.controller?.abort(new Error('the client has gone'))
    }
  }

  #dispatch(options: Dispatcher.DispatchOptions, attempt: Attempt, answer: UpstreamAnswer, mayRepeat: boolean): void {
    this.#pool.dispatch(options, {
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
        attempt.ended = true
        answer.end()
      },
      onResponseError: (_, error) => {
        if (attempt.givenUp) return
        // A kept-alive connection may be closed just when it is used again: what has no effect is asked once more, on another.
        if (mayRepeat && !attempt.answered && isClosedConnection(error)) {
          return this.#dispatch(options, attempt, answer, false)
        }
        attempt.ended = true
        answer.failed(error)
      },
    })
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}

function isClosedConnection(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}
