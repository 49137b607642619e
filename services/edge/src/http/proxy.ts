import { STATUS_CODES } from 'node:http'
import { type Refusal, refusalHeaders, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { REFUSAL_HEADER } from '@gateway/contracts/without-schemas.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import type { Span } from '@gateway/core/tracing/span.js'
import { parseTraceparent, type TraceContext, traceHeaders } from '@gateway/core/tracing/trace-context.js'
import { endHead } from '@gateway/native-edge/transfer/head-answer.js'
import { VERSION_FIELD } from '@gateway/native-edge/transfer/types.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { Edge } from '../edge.js'
import { headersForClient, type RequestHead, rebuildHead } from '../proxy/request-head.js'
import type { Lane, UpstreamAnswer, Verdict } from '../proxy/upstream.js'
import { noteAnswer } from './answer-log.js'
import { connectionEnd, endAtOnce, sayEnd } from './connection-end.js'
import { countRefusal, prepareRefusal, TOO_LONG } from './refusals.js'
import { CollectedBody, type TakenBody, takeBody } from './request-body.js'
import { active, guarded } from './request-context.js'
import { readConnection, readFields, unchunkedFor } from './request-fields.js'
import { StreamedAnswer } from './streamed-answer.js'

/** Limit: bytes of a JSON document. The control plane has the same limit, but its refusal comes too late to be read. */
const MAX_BODY_BYTES = 1024 * 1024

/**
 * Limit: announced bytes of a refused body that the edge reads and drops, because many clients read no response before they have sent their
 * body. The connection of a longer one is closed at once.
 */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024

/** Paths that accept archives of any size, with their own limits, and read them as they arrive. */
const IMPORT_PATHS = /^\/api\/v1\/(?:import|admin\/(?:styles\/import|uploads\/[^/]+\/content))$/

/** The console and its API. */
const ADMIN_PATHS = /^\/(?:api\/v1\/)?admin(?:\/|$)/

/**
 * Time in ms after which the control plane is asked whether it would read a body that has not fully arrived. Most bodies arrive earlier and
 * need no question; a request that is refused without its body waits that much longer.
 */
const ASK_AFTER_MS = 50

const CONTROL_PLANE_DOWN = refuse('dependency_down', coded('control_plane_down'))
const BODY_TOO_LARGE = refuse('payload_too_large', coded('body_at_most', { limit: MAX_BODY_BYTES }))
const BODY_TOO_SLOW = refuse('request_timeout', coded('body_too_slow'))
const TOO_MANY_IMPORTS = refuse('too_many_requests', coded('imports_under_way'))
const TOO_MANY_STREAMS = refuse('too_many_requests', coded('event_streams_full'))
const STARTING = refuse('dependency_down', coded('edge_starting'))

/** Limit: bytes of path and query together. The control plane accepts heads of up to 16 KB. */
const MAX_TARGET = 8_192

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Proxies every request without a route here to the control plane, and streams its response back. A body is forwarded when it is complete, so
 * that arriving bodies occupy no connection to the control plane. Only an import streams in both directions, after the control plane has
 * accepted its head.
 */
export function onOther(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  edge.counters.passedThrough++
  const head = readHead(edge, req)
  if (ADMIN_PATHS.test(head.path)) edge.counters.adminRequests++
  new PassedRequest(edge, res, head).start()
}

interface Head {
  readonly path: string
  readonly query: string
  readonly method: string
  readonly connection: string
  /** Of HTTP, if it is 1.0; '' otherwise. */
  readonly version: string
  readonly rebuilt: RequestHead | Refusal
  /** Trace of the caller. */
  readonly trace: TraceContext | null
}

function readHead(edge: Edge, req: HttpRequest): Head {
  const path = req.getUrl()
  const query = req.getQuery()
  const method = req.getCaseSensitiveMethod()
  const headers: [string, string][] = []
  req.forEach((name, value) => void headers.push([name, value]))
  const trace = readFields(req, { traceparent: '', tracestate: '' })
  const tooLong = path.length + (query?.length ?? 0) > MAX_TARGET
  return {
    path,
    query: query ?? '',
    method,
    trace: parseTraceparent(trace.traceparent, trace.tracestate),
    connection: readConnection(edge.sender, req),
    version: req.getHeader(VERSION_FIELD),
    rebuilt: tooLong ? TOO_LONG : rebuildHead({ method, path, query, headers }),
  }
}

/** Open streams of events, which no server ends by itself. */
const eventStreams = new Set<PassedRequest>()

/**
 * Ends the event streams, because they would not end by themselves, and a draining process waits for every request. Clients reconnect, to
 * another edge.
 */
export function endEventStreams(): void {
  for (const stream of eventStreams) stream.endStream()
}

/** A proxied request. */
class PassedRequest implements UpstreamAnswer {
  readonly #edge: Edge
  readonly #res: HttpResponse
  readonly #head: Head
  readonly #startedAt = performance.now()
  readonly #trace: Span
  #answer: StreamedAnswer | null = null
  #body: TakenBody | CollectedBody | null = null
  /** True while the body is incomplete and nobody would drop the rest. */
  #arriving = false
  #asking: NodeJS.Timeout | undefined
  #gone = false
  #noted = false
  #over = false
  #giveUp: () => void = () => {}
  #giveUpAsking: () => void = () => {}

  constructor(edge: Edge, res: HttpResponse, head: Head) {
    this.#edge = edge
    this.#res = res
    this.#head = head
    const { method, path, trace: parent } = head
    const attributes = { 'http.request.method': method, 'url.path': path }
    this.#trace = edge.tracer.start(`${method} passthrough`, { kind: 'server', parent, attributes })
  }

  start() {
    active.add(this)
    this.#res.onAborted(() => {
      this.#gone = true
      active.delete(this)
      eventStreams.delete(this)
      if (!this.#noted) this.#trace.end({}, 'the client has gone')
      guarded(this.#edge, () => {
        this.#answer?.gone()
        if (this.#body instanceof CollectedBody) this.#body.release()
        this.#giveUp()
      })
    })
    const { rebuilt } = this.#head
    if (!rebuilt.ok) return this.#refuse(rebuilt)
    this.#arriving = rebuilt.bodyLength !== 0
    const isImport = IMPORT_PATHS.test(this.#head.path)
    const announced = rebuilt.bodyLength ?? 0
    if (!isImport && announced > MAX_BODY_BYTES) {
      this.#arriving = announced > MAX_DROPPED_BYTES
      return this.#refuse(BODY_TOO_LARGE)
    }
    const key = this.#edge.upstreamKey
    if (key === null) return this.#refuse(STARTING)
    const peer = Buffer.from(this.#res.getRemoteAddressAsText()).toString()
    const proof = ['x-edge-key', key, 'x-edge-peer', peer, ...traceHeaders(this.#trace.context)]
    if (!this.#arriving) return this.#send(rebuilt, proof, null)
    if (isImport) return this.#streamOnceAdmitted(rebuilt, proof)
    this.#collect(rebuilt, proof)
  }

  #send(head: RequestHead, proof: readonly string[], body: Buffer | null) {
    const lane: Lane = isEventStream(head) ? 'events' : 'answers'
    if (lane === 'events' && this.#edge.upstream.isFull(lane)) return this.#refuse(TOO_MANY_STREAMS)
    this.#giveUp = this.#edge.upstream.send(lane, head, proof, body, this)
  }

  /** Ends a stream cleanly, between two of its events. */
  endStream(): void {
    eventStreams.delete(this)
    this.#answer?.end()
    this.#giveUp()
  }

  #collect(head: RequestHead, proof: readonly string[]): void {
    const body = new CollectedBody(this.#edge, this.#res, MAX_BODY_BYTES, {
      whole: (bytes) => {
        this.#arriving = false
        // The answer to a question that was asked meanwhile no longer matters.
        this.#stopAsking()
        this.#send(head, proof, bytes)
      },
      tooLarge: () => {
        this.#stopAsking()
        this.#arriving = false
        this.#refuse(BODY_TOO_LARGE)
      },
      tooSlow: () => {
        this.#stopAsking()
        this.#refuse(BODY_TOO_SLOW)
      },
    })
    this.#body = body
    this.#asking = setTimeout(() => {
      guarded(this.#edge, () => {
        if (this.#gone || this.#over) return
        body.wait()
        this.#ask(head, proof, () => {})
      })
    }, ASK_AFTER_MS)
    // Stops asking, for whatever reason the request ends before.
    this.#giveUp = () => this.#stopAsking()
  }

  #stopAsking(): void {
    clearTimeout(this.#asking)
    this.#giveUpAsking()
  }

  #streamOnceAdmitted(head: RequestHead, proof: readonly string[]): void {
    const over = () => this.#gone || this.#over
    const body = takeBody(this.#edge, this.#res, Number.POSITIVE_INFINITY, over, () => {})
    this.#body = body
    this.#giveUp = () => this.#giveUpAsking()
    this.#ask(head, proof, () => {
      if (this.#edge.upstream.isFull('imports')) return this.#refuse(TOO_MANY_IMPORTS)
      this.#giveUp = this.#edge.upstream.send('imports', head, proof, body.stream, this)
    })
  }

  #ask(head: RequestHead, proof: readonly string[], admitted: () => void): void {
    this.#giveUpAsking = this.#edge.upstream.ask(head, proof, (verdict) =>
      guarded(this.#edge, () => {
        if (this.#gone || this.#over) return
        if (verdict === null) this.#refuse(CONTROL_PLANE_DOWN)
        else if (verdict.admitted) admitted()
        else this.#answerVerdict(verdict)
      }),
    )
  }

  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (this.#gone) return
    // The control plane has decided: it will not read the rest of the body.
    this.#body?.release()
    const refusal = headers[REFUSAL_HEADER]
    if (typeof refusal === 'string') this.#edge.counters.countRefusal(refusal)
    const announced = headers['content-length']
    const length = typeof announced === 'string' ? Number(announced) : null
    const bodiless = this.#head.method === 'HEAD' || BODILESS.has(status)
    this.#note(status, bodiless ? 0 : length)
    // Decided by the media type, since not every client that wants events says so.
    const isOfEvents = headers['content-type'] === 'text/event-stream'
    if (isOfEvents) eventStreams.add(this)
    this.#answer = new StreamedAnswer(this.#res, {
      status: `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
      headers: headersForClient(headers, this.#head.path),
      length,
      bodiless,
      unchunked: unchunkedFor(this.#edge.sender, this.#head.connection, this.#head.version),
      isOfEvents,
      end: connectionEnd(this.#head.connection, this.#edge.draining),
      onComplete: (bytes) => this.#completed(bytes),
    })
  }

  data(chunk: Buffer, pause: () => void, resume: () => void): void {
    if (this.#gone || this.#answer === null) return
    this.#answer.write(chunk, pause, resume)
  }

  end(): void {
    if (!this.#gone) this.#answer?.end()
  }

  failed(error: Error): void {
    if (this.#gone || this.#over) return
    if (this.#answer !== null) {
      // The status was sent, so only closing the connection shows that the rest is missing.
      const about = { err: error.message, path: this.#head.path }
      noteTrouble(this.#edge.log, 'responses of the control plane break off', about)
      this.#res.close()
      return
    }
    this.#edge.log.debug({ err: error.message, path: this.#head.path }, 'the control plane did not respond')
    this.#refuse(CONTROL_PLANE_DOWN)
  }

  #answerVerdict({ status, headers, body }: Extract<Verdict, { admitted: false }>): void {
    const refusal = headers[REFUSAL_HEADER]
    if (typeof refusal === 'string') this.#edge.counters.countRefusal(refusal)
    this.#answerAtOnce(
      `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
      headersForClient(headers, this.#head.path),
      body,
      !this.#endsSoon(),
    )
  }

  /** True if the rest of the body has a known end, up to which the server reads and drops it. */
  #endsSoon(): boolean {
    const { path, rebuilt } = this.#head
    return rebuilt.ok && rebuilt.bodyLength !== null && !IMPORT_PATHS.test(path)
  }

  #refuse(refusal: Refusal) {
    const { status, headers, body } = prepareRefusal(refusal)
    countRefusal(this.#edge, refusal)
    // After a body with ambiguous framing the next request cannot be found.
    const close = refusal.code === 'invalid_parameters' || this.#arriving
    const about = headersForClient(Object.fromEntries(refusalHeaders(refusal)), this.#head.path)
    this.#answerAtOnce(status, [[headers.name, headers.value], ...about], body, close)
  }

  /** @param close ends the connection after the response; the server then reads and drops further input for a while (RFC 9112, 9.6) */
  #answerAtOnce(status: string, headers: readonly (readonly [string, string])[], body: Buffer, close: boolean): void {
    this.#body?.release()
    const code = Number.parseInt(status, 10)
    if (code >= 500) this.#edge.counters.serverErrors++
    const isHead = this.#head.method === 'HEAD'
    this.#note(code, isHead ? 0 : body.length)
    const end = connectionEnd(this.#head.connection, close || this.#edge.draining)
    this.#res.cork(() => {
      this.#res.writeStatus(status)
      for (const [name, value] of headers) this.#res.writeHeader(name, value)
      if (!isHead && !BODILESS.has(code)) return endAtOnce(this.#res, body, end)
      sayEnd(this.#res, end)
      if (isHead) endHead(this.#res, body.length)
      else this.#res.endWithoutBody()
    })
    this.#completed(isHead ? 0 : body.length)
  }

  #completed(bytes: number): void {
    this.#over = true
    active.delete(this)
    eventStreams.delete(this)
    this.#edge.counters.bytesSent += bytes
    if (ADMIN_PATHS.test(this.#head.path)) this.#edge.counters.adminBytes += bytes
  }

  #note(status: number, bytes: number | null): void {
    const ms = performance.now() - this.#startedAt
    const { path, query } = this.#head
    this.#noted = true
    noteAnswer(this.#edge, this.#res, { kind: 'passthrough', path, query, status, bytes, ms, trace: this.#trace })
  }
}

/** True if the request may last as long as its client likes. */
function isEventStream({ headers }: RequestHead): boolean {
  return headers.some((text, place) => {
    const isAccept = place % 2 === 1 && headers[place - 1] === 'accept'
    return isAccept && text.trim().startsWith('text/event-stream')
  })
}
