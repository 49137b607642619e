import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Refusal } from '@gateway/contracts/errors.js'
import { judgeHeader } from '@gateway/contracts/header-limits.js'
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
import type { Answered, UsageName } from '../usage/usage-counts.js'
import { noteAnswer } from './answer-log.js'
import { connectionEnd, endWith, sayEnd } from './connection-end.js'
import type { HeaderBlock } from './header-block.js'
import { readConnection, readFields } from './request-fields.js'
import { StreamedAnswer } from './streamed-answer.js'

const NOTHING = new Uint8Array(0)
/** Limit: path and query of the edge's own addresses. A relative path may be long; what is longer than this is no address of ours. */
const MAX_ADDRESS = 8_192

/** Headers that the edge's own routes read. */
const NO_HEADERS = {
  authorization: '',
  'x-access-token': '',
  accept: '',
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
  traceparent: '',
  tracestate: '',
}
type ReadHeaders = typeof NO_HEADERS

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
      guarded(edge, () => void res.close())
    } finally {
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
let current: Exchange | null = null

/** Requests whose answer is not complete: what a draining process waits for. */
export const active = new Set<object>()

/**
 * One request and its answer, off the hot path: everything of the request that is still needed when the handler has returned, and an
 * answer that can be given at any later time, to a client that may have gone.
 */
export class Exchange {
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
  readonly #headers: ReadHeaders
  readonly #connection: string
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
    this.#headers = readFields(req, NO_HEADERS)
    this.#connection = readConnection(edge.sender, req)
    this.#trace = startTrace(edge, kind, req, this.#headers)
    active.add(this)
    current = this
    res.onAborted(() => {
      this.#aborted = true
      if (!this.#answered) this.#trace?.end({}, 'the client has gone')
      active.delete(this)
      guarded(edge, () => this.#onGone())
    })
  }

  /** Where the request comes from. Only while it is not aborted. */
  sender(): Sender {
    const peer = Buffer.from(this.raw.getRemoteAddressAsText()).toString()
    const { origin, referer, 'x-forwarded-for': forwardedFor } = this.#headers
    const trusted = parseRanges(this.edge.settings.trustedProxies)
    return { origin, referer, address: clientAddress(peer, { 'x-forwarded-for': forwardedFor }, trusted).address }
  }

  header(name: keyof ReadHeaders): string {
    return this.#headers[name]
  }

  /** Holds the headers to their limits: what to refuse the request for, or null. Overlong ones that may be ignored count as absent then. */
  limitHeaders(): Refusal | null {
    for (const name of Object.keys(this.#headers) as (keyof ReadHeaders)[]) {
      const judged = judgeHeader(name, this.#headers[name].length)
      if (judged === 'ignored') this.#headers[name] = ''
      else if (judged !== 'fits') return judged
    }
    return null
  }

  /** What its conditions say of the content: it is not to be answered; the client's copy is still good; or neither. */
  judgeConditions(current: Validators): 'failed' | 'not modified' | 'none' {
    const { 'if-match': ifMatch, 'if-unmodified-since': ifUnmodifiedSince } = this.#headers
    if (isPreconditionFailed(ifMatch, ifUnmodifiedSince, current)) return 'failed'
    const { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince } = this.#headers
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
    let done = false
    this.#cork(status, headers, bytes.length, () => {
      done = endWith(this.raw, bytes, this.#end)
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
    if (!this.#begin()) return
    this.#cork(status, headers, 0, () => {
      // Not by `endWithoutBody`, which would announce a length with it. The client closes, or the end of the process does.
      sayEnd(this.raw, this.#end)
      this.raw.endWithoutBody()
    })
    this.#completed(0)
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
      // From here on the sender holds the response, and its end is the only news of it.
      sendPart(this.edge, this.raw, this.path, part, this, () => active.delete(this))
    })
  }

  /**
   * An answer whose body is read piece by piece, as the client takes it. A piece that cannot be read cuts the connection: the status is out.
   * @param length of all pieces together, in bytes; null: not known, for GET alone
   */
  async answerPieces(status: string, headers: HeaderBlock, length: number | null, pieces: AsyncIterable<Uint8Array>) {
    if (!this.#begin()) return
    if (this.isHead) return this.#endHead(status, headers, length ?? 0)
    const ms = performance.now() - this.#startedAt
    const given = { status: Number.parseInt(status, 10), bytes: length ?? 0, ms, trace: this.#trace }
    this.#account()
    noteAnswer(this.edge, this.raw, { kind: this.kind, path: this.path, query: this.query, ...given })
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
    })
    this.#completed(0)
  }

  #begin(): boolean {
    if (this.#aborted || this.#answered) return false
    this.#answered = true
    return true
  }

  /** Writes the head, and what `end` writes behind it, in one piece. */
  #cork(status: string, headers: HeaderBlock, bytes: number, end: () => void): void {
    const ms = performance.now() - this.#startedAt
    this.raw.cork(() => {
      this.raw.writeStatus(status).writeHeader(headers.name, headers.value)
      end()
    })
    const { path, query, kind } = this
    const given = { status: Number.parseInt(status, 10), bytes, ms, trace: this.#trace }
    this.#account()
    noteAnswer(this.edge, this.raw, { kind, path, query, ...given })
  }

  #account(): void {
    if (this.token !== null) this.edge.usage.count(this.token, this.asked, this.answered, 0, this.path)
  }

  get #end() {
    return connectionEnd(this.#connection, this.edge.draining)
  }

  #completed(bytes: number): void {
    active.delete(this)
    this.edge.counters.bytesSent += bytes
    if (this.token !== null) this.edge.usage.addBytes(this.token, this.asked, bytes)
  }
}

/** null: nobody wants to know of this request by the id of a trace. */
function startTrace({ tracer }: Edge, kind: RequestKind, req: HttpRequest, headers: ReadHeaders): Span | null {
  if (kind === 'other') return null
  const parent = parseTraceparent(headers.traceparent, headers.tracestate)
  if (parent === null && !tracer.on) return null
  // uWebSockets.js has written it in lower case where it was asked for so.
  const method = req.getMethod().toUpperCase()
  const attributes = { 'http.request.method': method, 'url.path': req.getUrl() }
  return tracer.start(`${method} ${kind}`, { kind: 'server', parent, attributes })
}

/** Whom the bytes of an answer are accounted to; null: nobody. */
type Accounted = Pick<Exchange, 'token' | 'asked'>

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

function countSent({ counters, tileCache, log }: Edge, path: string, outcome: Outcome, length: number): void {
  if (outcome === 'sent') counters.bytesSent += length
  else if (outcome === 'stalled') counters.stalledReaders++
  else if (outcome === 'truncated') {
    counters.truncatedFiles++
    tileCache.drop(path)
    noteTrouble(log, 'files end while they are being sent; their connections are cut', { path }, 'error')
  }
}
