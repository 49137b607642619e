import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { endHead } from '@gateway/sendfile/head-answer.js'
import type { Outcome } from '@gateway/sendfile/types.js'
import type { Edge } from '../edge.js'
import type { RequestKind } from '../metrics/registry.js'
import type { FilePart } from '../tiles/load-tile.js'
import type { HeaderBlock } from './header-block.js'

/** Slower answers are worth a line in the log. Milliseconds to the first byte. */
const SLOW_MS = 1_000
const NOTHING = new Uint8Array(0)

/** Headers that the edge's own routes read. The request object is gone once its handler has returned, so they are copied. */
const READ_HEADERS = [
  'authorization',
  'x-access-token',
  'if-none-match',
  'if-modified-since',
  'if-range',
  'range',
  'accept-encoding',
] as const
export type ReadHeader = (typeof READ_HEADERS)[number]

/**
 * One request and its answer, off the hot path: everything of the request that is still needed when the handler has returned, and an
 * answer that can be given at any later time, to a client that may have gone.
 */
export class Exchange {
  readonly raw: HttpResponse
  readonly edge: Edge
  /** null: a probe or the like, neither timed nor logged */
  readonly kind: RequestKind | null
  readonly isHead: boolean
  readonly path: string
  /** without the question mark */
  readonly query: string
  readonly #headers: Readonly<Record<ReadHeader, string>>
  readonly #startedAt = performance.now()
  #aborted = false
  #answered = false

  constructor(edge: Edge, kind: RequestKind | null, res: HttpResponse, req: HttpRequest) {
    this.raw = res
    this.edge = edge
    this.kind = kind
    this.isHead = req.getMethod() === 'head'
    this.path = req.getUrl()
    this.query = req.getQuery() ?? ''
    this.#headers = Object.fromEntries(READ_HEADERS.map((name) => [name, req.getHeader(name)])) as never
    active.add(this)
    res.onAborted(() => {
      this.#aborted = true
      active.delete(this)
    })
  }

  header(name: ReadHeader): string {
    return this.#headers[name]
  }

  get aborted(): boolean {
    return this.#aborted
  }

  /** An answer that is in memory. For HEAD the same headers, Content-Length included, and no body. */
  answer(status: string, headers: HeaderBlock, body: Uint8Array | string) {
    if (!this.#begin(status)) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    if (this.isHead) return this.#endHead(status, headers, bytes.length)
    let done = false
    this.raw.cork(() => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      if (this.edge.draining) {
        this.raw.end(bytes, true)
        done = true
      } else done = this.raw.tryEnd(bytes, bytes.length)[1]
    })
    if (done) return this.#completed(bytes.length)
    this.raw.onWritable((offset) => {
      const [ok, complete] = this.raw.tryEnd(bytes.subarray(offset), bytes.length)
      if (complete) this.#completed(bytes.length)
      return ok
    })
  }

  /** An answer that has no body by its status: 204, 304. */
  answerEmpty(status: string, headers: HeaderBlock): void {
    if (!this.#begin(status)) return
    this.raw.cork(() => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      // Not by `endWithoutBody`, which would announce a length with it. The client closes, or the end of the process does.
      if (this.edge.draining) this.raw.writeHeader('Connection', 'close')
      this.raw.endWithoutBody()
    })
    this.#completed(0)
  }

  /** An answer out of an open file; the part is released when it has been sent, or cannot be any more. */
  answerPart(status: string, headers: HeaderBlock, part: FilePart) {
    if (!this.#begin(status)) return part.release()
    if (this.isHead) {
      part.release()
      return this.#endHead(status, headers, part.length)
    }
    this.raw.cork(() => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      if (this.edge.draining) this.raw.writeHeader('Connection', 'close')
      this.edge.sender.send(this.raw, part.fd, part.offset, part.length, {
        remote: part.remote,
        onDone: (outcome) => this.#partDone(outcome, part),
      })
    })
  }

  /** From here on the sender holds the response, and its end is the only news of it. */
  #partDone(outcome: Outcome, part: FilePart) {
    part.release()
    active.delete(this)
    countSent(this.edge, this.path, outcome, part.length)
  }

  #endHead(status: string, headers: HeaderBlock, length: number): void {
    this.raw.cork(() => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      if (length === 0) this.raw.end(NOTHING, this.edge.draining)
      else endHead(this.raw, length)
    })
    this.#completed(0)
  }

  #begin(status: string): boolean {
    if (this.#aborted || this.#answered) return false
    this.#answered = true
    if (this.kind === null) return true
    const ms = performance.now() - this.#startedAt
    this.edge.metrics.observe(this.kind, ms / 1000)
    if (status.startsWith('5')) this.edge.counters.serverErrors++
    logAnswer(this.edge, { path: this.path, query: this.query, status: Number.parseInt(status, 10), ms })
    return true
  }

  #completed(bytes: number): void {
    active.delete(this)
    this.edge.counters.bytesSent += bytes
  }
}

/** What became of a body that was sent from a file. */
export function countSent(edge: Edge, path: string, outcome: Outcome, length: number): void {
  const { counters, hotTiles, log } = edge
  if (outcome === 'sent') counters.bytesSent += length
  else if (outcome === 'stalled') counters.stalledReaders++
  else if (outcome === 'truncated') {
    counters.truncatedFiles++
    hotTiles.drop(path)
    log.error({ path }, 'a file ended while it was being sent; its connection was cut')
  }
}

/** Requests whose answer is not complete: what a draining process waits for. */
export const active = new Set<object>()

export function logAnswer(
  edge: Edge,
  answer: { readonly path: string; readonly query: string; readonly status: number; readonly ms: number },
): void {
  const level = logLevelOf(answer.status, answer.ms)
  if (!edge.log.isLevelEnabled(level)) return
  const address = answer.query === '' ? answer.path : `${answer.path}?${answer.query}`
  edge.log[level]({ path: address, status: answer.status, ms: Math.round(answer.ms) }, 'answered')
}

function logLevelOf(status: number, ms: number): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 503) return 'warn'
  if (status >= 500) return 'error'
  return ms > SLOW_MS ? 'info' : 'debug'
}

/** A throw in a callback of the HTTP server ends the process: it is logged instead, and the request left to its time-out. */
export function guarded(edge: Edge, callback: () => void): void {
  try {
    callback()
  } catch (error) {
    edge.log.error({ err: error }, 'a callback failed')
  }
}
