import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { judgeHeader } from '@gateway/contracts/header-limits.js'
import { coded } from '@gateway/contracts/messages.js'
import { clientAddress, parseRanges } from '@gateway/core/access/client-address.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { Sender } from '@gateway/core/access/token-limits.js'
import { noteTrouble } from '@gateway/core/logging/trouble-log.js'
import { beatInBetween } from '@gateway/core/processes/heartbeat.js'
import type { Span } from '@gateway/core/tracing/span.js'
import { parseTraceparent } from '@gateway/core/tracing/trace-context.js'
import { endHead } from '@gateway/native-edge/transfer/head-answer.js'
import type { Outcome } from '@gateway/native-edge/transfer/types.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { FilePart } from '@gateway/tilesets/source.js'
import type { Edge } from '../edge.js'
import { isNotModified, isPreconditionFailed, type Validators } from '../files/conditional.js'
import type { RequestKind } from '../metrics/counters.js'
import type { TileSource } from '../metrics/tile-times.js'
import type { Answered, UsageName } from '../usage/usage-counts.js'
import { noteAnswer } from './answer-log.js'
import { connectionEnd, endWith, sayEnd } from './connection-end.js'
import type { HeaderBlock } from './header-block.js'
import { contradictsItself, isNeverList, readConnection, readField, readFields } from './request-fields.js'
import { StreamedAnswer } from './streamed-answer.js'

const NOTHING = new Uint8Array(0)
/** Limit: path and query of the edge's own addresses. A relative path may be long; what is longer than this is no address of ours. */
const MAX_ADDRESS = 8_192

/** Headers that the edge's own routes read. */
const NO_HEADERS = {
  authorization: '',
  'x-access-token': '',
  accept: '',
  connection: '',
  'if-match': '',
  'if-none-match': '',
  'if-modified-since': '',
  'if-unmodified-since': '',
  'if-range': '',
  range: '',
  'accept-encoding': '',
  'sec-fetch-dest': '',
  'sec-fetch-mode': '',
  origin: '',
  referer: '',
  'x-forwarded-for': '',
}
type ReadHeaders = typeof NO_HEADERS
const CONTRADICTION = refuse('conflicting_tokens', coded('token_headers_conflict'))
/** Those for whose length a request is refused. */
const REFUSABLE = (Object.keys(NO_HEADERS) as (keyof ReadHeaders)[]).filter(
  (name) => judgeHeader(name, Number.POSITIVE_INFINITY) !== 'ignored',
)

export type Handler = (edge: Edge, res: HttpResponse, req: HttpRequest) => void

/**
 * A throw in a handler would end the process. Where nothing was answered yet, the connection is cut: the client sees a failure at once.
 * @param refuseLong takes the requests whose address is too long
 */
export function safely(edge: Edge, handler: Handler, refuseLong: Handler = handler) {
  return (res: HttpResponse, req: HttpRequest): void => {
    beatInBetween()
    try {
      edge.access?.begin(res, req)
      const isTooLong = req.getUrl().length > MAX_ADDRESS || (req.getQuery()?.length ?? 0) > MAX_ADDRESS
      if (isTooLong) refuseLong(edge, res, req)
      else handler(edge, res, req)
    } catch (error) {
      noteTrouble(edge.log, 'request handlers fail', { err: error }, 'error')
      edge.counters.serverErrors++
      guarded(edge, () => {
        current?.outliveHandler()
        res.close()
      })
      current = null
    } finally {
      current?.outliveHandler()
      current = null
    }
  }
}

/** `safely` for what runs later: the error is logged, and the request left to its time-out. */
export function guarded(edge: Edge, callback: () => void): void {
  try {
    callback()
  } catch (error) {
    noteTrouble(edge.log, 'callbacks fail', { err: error }, 'error')
  }
}

/** The exchange of the request whose handler runs; null: none does. */
let current: RequestContext | null = null

/** Requests whose answer is not complete: what a draining process waits for. */
export const active = new Set<object>()

/**
 * One request that reached JavaScript, and its answer, which can be given at once or at any later time, to a client that may have gone. While its handler
 * runs, headers are read as they are asked for; only a request that is not answered by then keeps them, and is told of its client's end.
 */
export class RequestContext {
  readonly raw: HttpResponse
  /** once a token was let in: as that token has it (`edgeFor`) */
  edge: Edge
  /** `other` is neither timed nor logged */
  readonly kind: RequestKind
  readonly isHead: boolean
  /** of `/tiles/...` where the address is another form of a tile's; of the version that a time means, once it is known */
  path: string
  /** without the question mark */
  readonly query: string
  /** how an error is answered: WMTS has a form of its own for 400 and 404, ArcGIS REST one for all, and the proxies that use forward-auth understand 401 and 403 alone */
  errorForm: 'json' | 'ows' | 'esri' | 'auth' = 'json'
  /** see `takesTk` of @gateway/access */
  takesTk = false
  /** what it is accounted to: the id of its token ('': it came without one, by a signed address), and what it asks for; null: not known (yet) */
  token: string | null = null
  asked: UsageName | null = null
  /** what its token may read, in degrees; null: everywhere, or not known yet */
  area: Bounds | null = null
  /** the token that was let in, by which it may get other tiles than others do; null: none was */
  reader: AccessToken | null = null
  /** what its answer is counted as */
  answered: Answered = 'other'
  /** where the tile was that it is answered with; null: it is none, or is timed elsewhere */
  tileFrom: TileSource | null = null
  /** null: its handler has returned */
  #req: HttpRequest | null
  #headers: ReadHeaders | null = null
  readonly #startedAt = performance.now()
  readonly #trace: Span | null
  #aborted = false
  #answered = false
  #onGone: () => void = () => {}

  constructor(
    edge: Edge,
    kind: RequestKind,
    res: HttpResponse,
    req: HttpRequest,
    path = req.getUrl(),
    query = req.getQuery() ?? '',
  ) {
    this.raw = res
    this.edge = edge
    this.kind = kind
    this.isHead = req.getMethod() === 'head'
    this.path = path
    this.query = query
    this.#req = req
    this.#trace = startTrace(edge, kind, req)
    current = this
  }

  /** Its handler returns. */
  outliveHandler(): void {
    if (!this.#answered) {
      this.#headers = this.#readHeaders()
      this.#await()
    }
    this.#req = null
  }

  /** Its answer is not complete: the process waits for it when it drains, and the client may go. */
  #await(): void {
    if (active.has(this)) return
    active.add(this)
    this.raw.onAborted(() => {
      this.#aborted = true
      if (!this.#answered) this.#trace?.end({}, 'the client has gone')
      active.delete(this)
      guarded(this.edge, () => this.#onGone())
    })
  }

  /** Where the request comes from. Only while it is not aborted. */
  sender(): Sender {
    const peer = Buffer.from(this.raw.getRemoteAddressAsText()).toString()
    const headers = { 'x-forwarded-for': this.header('x-forwarded-for') }
    const trusted = parseRanges(this.edge.settings.trustedProxies)
    const { address } = clientAddress(peer, headers, trusted)
    return { origin: this.header('origin'), referer: this.header('referer'), address }
  }

  /** '' where it is absent, or so long that it counts as absent. */
  header(name: keyof ReadHeaders): string {
    const value = this.#headers?.[name] ?? this.#read(name)
    if (value === '') return value
    return judgeHeader(name, value.length) === 'ignored' ? '' : value
  }

  #read(name: keyof ReadHeaders): string {
    // What few requests have, and those two that are no lists, are read by themselves; else one pass reads all.
    const first = this.#req?.getHeader(name) ?? ''
    if (first === '' || isNeverList(name)) return first
    this.#headers = this.#readHeaders()
    return this.#headers[name]
  }

  #readHeaders(): ReadHeaders {
    if (this.#headers !== null) return this.#headers
    const req = this.#req as HttpRequest
    const headers = readFields(req, NO_HEADERS)
    headers.connection = readConnection(this.edge.sender, req, headers.connection)
    return headers
  }

  /** Holds the headers to their limits, and those that say who asks to one value: what to refuse the request for, or null. */
  judgeHeaders(): Refusal | null {
    // The native tier has refused what contradicts itself. Elsewhere each request shows only its first lines without a pass over all.
    if (this.edge.sender.tier !== 'native') this.#headers ??= this.#readHeaders()
    for (const name of REFUSABLE) {
      const { length } = this.header(name)
      const judged = length === 0 ? 'fits' : judgeHeader(name, length)
      if (typeof judged !== 'string') return judged
    }
    const isConflict =
      contradictsItself(this.header('authorization')) || contradictsItself(this.header('x-access-token'))
    return isConflict ? CONTRADICTION : null
  }

  /** What its conditions say of the content: it is not to be answered; the client's copy is still good; or neither. */
  judgeConditions(current: Validators): 'failed' | 'not modified' | 'none' {
    if (isPreconditionFailed(this.header('if-match'), this.header('if-unmodified-since'), current)) return 'failed'
    const [ifNoneMatch, ifModifiedSince] = [this.header('if-none-match'), this.header('if-modified-since')]
    const isConditional = ifNoneMatch !== '' || ifModifiedSince !== ''
    return isConditional && isNotModified(ifNoneMatch, ifModifiedSince, current) ? 'not modified' : 'none'
  }

  /** Whether its handler still runs: no other request has come since. */
  get isCurrent(): boolean {
    return current === this
  }

  get aborted(): boolean {
    return this.#aborted
  }

  /** An answer that is in memory. For HEAD the same headers, Content-Length included, and no body. */
  answer(status: string, headers: HeaderBlock, body: Uint8Array | string) {
    if (!this.#begin()) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    if (this.isHead) return this.#endHead(status, headers, bytes.length)
    const done = this.#cork(status, headers, bytes.length, () => endWith(this.raw, bytes, this.#end))
    if (done) return
    this.#await()
    this.raw.onWritable((offset) => {
      const [ok, complete] = this.raw.tryEnd(bytes.subarray(offset), bytes.length)
      if (complete) this.#completed(bytes.length)
      return ok
    })
  }

  /** An answer that has no body by its status: 204, 304. */
  answerEmpty(status: string, headers: HeaderBlock): void {
    if (!this.#begin()) return
    this.#cork(status, headers, 0, () => {
      // Not by `endWithoutBody`, which would announce a length with it. The client closes, or the end of the process does.
      sayEnd(this.raw, this.#end)
      this.raw.endWithoutBody()
      return true
    })
  }

  /** An answer out of an open file; the part is released when it has been sent, or cannot be any more. */
  answerPart(status: string, headers: HeaderBlock, part: FilePart) {
    if (!this.#begin()) return part.release()
    if (this.isHead) {
      part.release()
      return this.#endHead(status, headers, part.length)
    }
    this.#cork(status, headers, part.length, () => {
      sayEnd(this.raw, this.#end)
      active.add(this)
      // From here on the sender holds the response, and its end is the only news of it.
      sendPart(this.edge, this.raw, this.path, part, this, () => active.delete(this))
      return false
    })
  }

  /**
   * An answer whose body is read piece by piece, as the client takes it. A piece that cannot be read cuts the connection: the status is out.
   * @param length of all pieces together, in bytes; null: not known, for GET alone
   */
  async answerPieces(status: string, headers: HeaderBlock, length: number | null, pieces: AsyncIterable<Uint8Array>) {
    if (!this.#begin()) return
    if (this.isHead) return this.#endHead(status, headers, length ?? 0)
    this.#await()
    const ms = performance.now() - this.#startedAt
    this.#account(status, length ?? 0, ms, 0)
    const answer = new StreamedAnswer(this.raw, {
      status,
      headers: [[headers.name, headers.value]],
      length,
      bodiless: false,
      end: this.#end,
      onComplete: (bytes) => this.#completed(bytes),
    })
    let goOn: () => void = () => {}
    this.#onGone = () => {
      answer.gone()
      goOn()
    }
    try {
      for await (const piece of pieces) {
        if (this.#aborted) return
        let room: Promise<void> | null = null
        const pause = () => {
          room = new Promise((resolve) => {
            goOn = resolve
          })
        }
        answer.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength), pause, () => goOn())
        await room
      }
      if (!this.#aborted) answer.end()
    } catch (error) {
      const { message } = error as Error
      noteTrouble(this.edge.log, 'answers that are read piece by piece break off', { err: message, path: this.path })
      if (!this.#aborted) this.raw.close()
    }
  }

  #endHead(status: string, headers: HeaderBlock, length: number): void {
    this.#cork(status, headers, 0, () => {
      sayEnd(this.raw, this.#end)
      if (length === 0) this.raw.end(NOTHING)
      else endHead(this.raw, length)
      return true
    })
  }

  #begin(): boolean {
    if (this.#aborted || this.#answered) return false
    this.#answered = true
    return true
  }

  /** Writes the head, and what `end` writes behind it, in one piece. `end` and this tell whether the answer is complete, its body of so many bytes included. */
  #cork(status: string, headers: HeaderBlock, bytes: number, end: () => boolean): boolean {
    const ms = performance.now() - this.#startedAt
    let done = false
    const write = () => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      done = end()
    }
    // While its handler runs it is corked.
    if (this.isCurrent) write()
    else this.raw.cork(write)
    if (done) {
      active.delete(this)
      this.edge.counters.bytesSent += bytes
    }
    this.#account(status, bytes, ms, done ? bytes : 0)
    return done
  }

  #account(status: string, bytes: number, ms: number, sent: number): void {
    const { edge, raw, kind, path, query, token, asked, answered } = this
    if (token !== null) edge.usage.count(token, asked, answered, sent, path)
    if (this.tileFrom !== null) edge.counters.tileTimes.of(this.tileFrom).add(ms / 1000)
    noteAnswer(edge, raw, { kind, path, query, status: Number.parseInt(status, 10), bytes, ms, trace: this.#trace })
  }

  #connection(): string {
    const req = this.#req
    return req === null ? '' : readConnection(this.edge.sender, req)
  }

  get #end() {
    const connection = this.#headers?.connection ?? this.#connection()
    return connectionEnd(connection, this.edge.draining)
  }

  #completed(bytes: number): void {
    active.delete(this)
    this.edge.counters.bytesSent += bytes
    if (this.token !== null) this.edge.usage.addBytes(this.token, this.asked, bytes)
  }
}

/** null: nobody wants to know of this request by the id of a trace. */
function startTrace({ tracer }: Edge, kind: RequestKind, req: HttpRequest): Span | null {
  if (kind === 'other') return null
  const traceparent = req.getHeader('traceparent')
  if (traceparent === '' && !tracer.on) return null
  const parent = parseTraceparent(readField(req, 'traceparent'), readField(req, 'tracestate'))
  if (parent === null && !tracer.on) return null
  // uWebSockets.js has written it in lower case where it was asked for so.
  const method = req.getMethod().toUpperCase()
  const attributes = { 'http.request.method': method, 'url.path': req.getUrl() }
  return tracer.start(`${method} ${kind}`, { kind: 'server', parent, attributes })
}

/** Whom the bytes of an answer are accounted to; null: nobody. */
type Accounted = Pick<RequestContext, 'token' | 'asked'>

/** Sends a body from its file, behind a head that has been written; releases and counts it when that is over. */
export function sendPart(
  edge: Edge,
  res: HttpResponse,
  path: string,
  part: FilePart,
  { token, asked }: Accounted,
  done: () => void,
): void {
  const { fd, offset, length, remote } = part
  edge.sender.send(res, fd, offset, length, {
    remote,
    onDone: (outcome, bytes) => {
      part.release()
      done()
      if (token !== null) edge.usage.addBytes(token, asked, bytes)
      countSent(edge, path, outcome, length)
    },
  })
}

function countSent({ counters, hotTiles, log }: Edge, path: string, outcome: Outcome, length: number): void {
  if (outcome === 'sent') counters.bytesSent += length
  else if (outcome === 'stalled') counters.stalledReaders++
  else if (outcome === 'truncated') {
    counters.truncatedFiles++
    hotTiles.drop(path)
    noteTrouble(log, 'files end while they are being sent; their connections are cut', { path }, 'error')
  }
}
