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
import { type Outcome, VERSION_FIELD } from '@gateway/native-edge/transfer/types.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import type { FilePart } from '@gateway/tilesets/source.js'
import type { HeaderBlock } from '../answers/header-block.js'
import type { Edge } from '../edge.js'
import { isNotModified, isPreconditionFailed, type Validators } from '../files/conditional.js'
import type { RequestKind } from '../metrics/counters.js'
import type { TileSource } from '../metrics/tile-times.js'
import type { WmsVersion } from '../standards/wms-request.js'
import type { UsageName } from '../sync/catalog.js'
import type { Answered } from '../usage/usage-counts.js'
import { noteAnswer } from './answer-log.js'
import { connectionEnd, endWith, sayEnd } from './connection-end.js'
import {
  contradictsItself,
  isNeverList,
  readConnection,
  readField,
  readFields,
  unchunkedFor,
} from './request-fields.js'
import { StreamedAnswer } from './streamed-answer.js'

const NOTHING = new Uint8Array(0)
/** Interval at which a download in progress looks whether it may go on. A shorter part is in the buffers of the connection before. */
const LOOK_AGAIN_MS = 1000
const UNWATCHED_BYTES = 1024 * 1024
/** Limit: bytes of path and query of the edge's own addresses. A relative path may be long; a longer address than this cannot exist. */
const MAX_ADDRESS = 8_192

/** Headers that the edge's own routes read. */
const NO_HEADERS = {
  authorization: '',
  'x-access-token': '',
  'x-esri-authorization': '',
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
  [VERSION_FIELD]: '',
}
type ReadHeaders = typeof NO_HEADERS
const CONTRADICTION = refuse('conflicting_tokens', coded('token_headers_conflict'))
/** Headers that are refused if they are too long; one of them is read only at addresses of ArcGIS. */
const REFUSABLE_OF_ESRI = (Object.keys(NO_HEADERS) as (keyof ReadHeaders)[]).filter(
  (name) => judgeHeader(name, Number.POSITIVE_INFINITY) !== 'ignored',
)
const REFUSABLE = REFUSABLE_OF_ESRI.filter((name) => name !== 'x-esri-authorization')

export type Handler = (edge: Edge, res: HttpResponse, req: HttpRequest) => void

/**
 * Wraps a handler, because an error in it would end the process. If nothing was sent yet, the connection is cut, so that the client sees a failure at
 * once.
 * @param refuseLong handles requests whose address is too long
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

/** Like `safely`, for callbacks that run later: the error is logged, and the request ends by its time-out. */
export function guarded(edge: Edge, callback: () => void): void {
  try {
    callback()
  } catch (error) {
    noteTrouble(edge.log, 'callbacks fail', { err: error }, 'error')
  }
}

/** Without this header in Vary, a shared cache would send one token's tiles to clients without a token (RFC 9111, 4.1). */
function varyingByEsri(headers: string): string {
  return headers.replace('Vary: Authorization, X-Access-Token', '$&, X-Esri-Authorization')
}

/** The request whose handler runs; null if none runs. */
let current: RequestContext | null = null

/** Requests whose response is not complete, for which a draining process waits. */
export const active = new Set<object>()

/**
 * A request that reached JavaScript, and its response, which can be sent at once or later, to a client that may have disconnected. While the handler
 * runs, headers are read on demand. A request that is not answered by then stores them, and learns of a disconnect.
 */
export class RequestContext {
  readonly raw: HttpResponse
  /** After a token was admitted, the edge as that token sees it (`edgeFor`). */
  edge: Edge
  /** `other` is neither timed nor logged. */
  readonly kind: RequestKind
  readonly isHead: boolean
  /** Path of the request, in the form `/tiles/...` for every other form of a tile's address; with the version that a time means, once it is known. */
  path: string
  /** Without the question mark. */
  readonly query: string
  /**
   * Form of errors: WMTS and each version of WMS have their own form for 400 and 404, ArcGIS REST one for all errors, and the proxies that use forward-auth understand only 401
   * and 403.
   */
  errorForm: 'json' | 'ows' | `wms ${WmsVersion}` | 'esri' | 'auth' = 'json'
  /** See `takesTk` of @gateway/access. */
  takesTk = false
  /** See `takesEsri` of the same module. */
  takesEsri = false
  /** Accounting: the id of the token ('' for a signed URL without one), and the requested resource; null if not known (yet). */
  token: string | null = null
  asked: UsageName | null = null
  /** Area in degrees that the token may read; null for everywhere, or if not known yet. */
  area: Bounds | null = null
  /** The admitted token, which may get other tiles than other tokens; null if no token is admitted. */
  reader: AccessToken | null = null
  /** Category in which the response is counted. */
  answered: Answered = 'other'
  /** Storage of the tile that is sent; null if the response is not a tile, or is timed elsewhere. */
  tileFrom: TileSource | null = null
  /** null after the handler has returned. */
  #req: HttpRequest | null
  #headers: ReadHeaders | null = null
  readonly #startedAt = performance.now()
  readonly #trace: Span | null
  #aborted = false
  #answered = false
  #onGone: () => void = () => {}
  #gone: AbortController | null = null

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

  /** Must be called when the handler returns. */
  outliveHandler(): void {
    if (!this.#answered) {
      this.#headers = this.#readHeaders()
      this.#await()
    }
    this.#req = null
  }

  /** Makes a draining process wait for this request, and detects a disconnect of the client. */
  #await(): void {
    if (active.has(this)) return
    active.add(this)
    this.raw.onAborted(() => {
      this.#aborted = true
      if (!this.#answered) this.#trace?.end({}, 'the client has gone')
      active.delete(this)
      this.#gone?.abort()
      guarded(this.edge, () => this.#onGone())
    })
  }

  /** Returns the sender of the request. Must not be called after an abort. */
  sender(): Sender {
    const peer = Buffer.from(this.raw.getRemoteAddressAsText()).toString()
    const headers = { 'x-forwarded-for': this.header('x-forwarded-for') }
    const trusted = parseRanges(this.edge.settings.trustedProxies)
    const { address } = clientAddress(peer, headers, trusted)
    return { origin: this.header('origin'), referer: this.header('referer'), address }
  }

  /** Returns '' if the header is absent, or so long that it is ignored. */
  header(name: keyof ReadHeaders): string {
    const value = this.#headers?.[name] ?? this.#read(name)
    if (value === '') return value
    return judgeHeader(name, value.length) === 'ignored' ? '' : value
  }

  #read(name: keyof ReadHeaders): string {
    // Rare headers, and the two that are never lists, are read individually; otherwise one pass reads all headers.
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

  /** Checks the limits of headers, and that credentials have one value. Returns the refusal, or null. */
  judgeHeaders(): Refusal | null {
    // The native tier has already refused contradictory headers. In the copying tier, only a pass over all headers finds the second line of a header.
    if (this.edge.sender.tier !== 'native') this.#headers ??= this.#readHeaders()
    for (const name of this.takesEsri ? REFUSABLE_OF_ESRI : REFUSABLE) {
      const { length } = this.header(name)
      const judged = length === 0 ? 'fits' : judgeHeader(name, length)
      if (typeof judged !== 'string') return judged
    }
    const isConflict =
      contradictsItself(this.header('authorization')) || contradictsItself(this.header('x-access-token'))
    return isConflict ? CONTRADICTION : null
  }

  /** Compares the request's conditions with the content: the precondition failed, the client's copy is current, or neither. */
  judgeConditions(current: Validators): 'failed' | 'not modified' | 'none' {
    if (isPreconditionFailed(this.header('if-match'), this.header('if-unmodified-since'), current)) return 'failed'
    const [ifNoneMatch, ifModifiedSince] = [this.header('if-none-match'), this.header('if-modified-since')]
    const isConditional = ifNoneMatch !== '' || ifModifiedSince !== ''
    return isConditional && isNotModified(ifNoneMatch, ifModifiedSince, current) ? 'not modified' : 'none'
  }

  /** True while the handler of this request runs, so that no other request has come since. */
  get isCurrent(): boolean {
    return current === this
  }

  get aborted(): boolean {
    return this.#aborted
  }

  /** Aborted when the client disconnects before the response is complete. */
  get gone(): AbortSignal {
    this.#gone ??= new AbortController()
    if (this.#aborted) this.#gone.abort()
    return this.#gone.signal
  }

  /** Sends a response that is in memory. For HEAD it has the same headers, Content-Length included, and no body. */
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

  /** Sends a response whose status allows no body: 204, 304. */
  answerEmpty(status: string, headers: HeaderBlock): void {
    if (!this.#begin()) return
    this.#cork(status, headers, 0, () => {
      // `endWithoutBody` with arguments would announce a length. The client closes the connection, or the end of the process does.
      sayEnd(this.raw, this.#end)
      this.raw.endWithoutBody()
      return true
    })
  }

  /**
   * Sends a response from an open file. The part is released when it has been sent or can no longer be sent.
   * @param mayGoOn asked once a second for a long part; if it says no, the connection is cut
   */
  answerPart(status: string, headers: HeaderBlock, part: FilePart, mayGoOn?: () => Promise<boolean>) {
    if (!this.#begin()) return part.release()
    if (this.isHead) {
      part.release()
      return this.#endHead(status, headers, part.length)
    }
    this.#cork(status, headers, part.length, () => {
      sayEnd(this.raw, this.#end)
      active.add(this)
      // From here on the sender owns the response, and only reports its end.
      const watch = mayGoOn && part.length > UNWATCHED_BYTES ? this.#cutUnless(mayGoOn) : undefined
      sendPart(this.edge, this.raw, this.path, part, this, () => {
        clearInterval(watch)
        active.delete(this)
      })
      return false
    })
  }

  #cutUnless(mayGoOn: () => Promise<boolean>): NodeJS.Timeout {
    const look = async () => {
      if ((await mayGoOn()) || !active.has(this)) return
      noteTrouble(this.edge.log, 'downloads break off, because their tokens have been disabled', { path: this.path })
      guarded(this.edge, () => this.raw.close())
    }
    return setInterval(() => void look(), LOOK_AGAIN_MS)
  }

  /**
   * Sends a response whose body is read in pieces, at the client's pace. If a piece cannot be read, the connection is cut, since the status was
   * already sent.
   * @param length total bytes of all pieces; null: not known, only for GET
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
      unchunked: unchunkedFor(this.edge.sender, this.#headers?.connection ?? '', this.#headers?.[VERSION_FIELD] ?? ''),
      isOfEvents: false,
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
      if (this.#aborted) return
      const { message } = error as Error
      noteTrouble(this.edge.log, 'responses that are read in pieces break off', { err: message, path: this.path })
      this.raw.close()
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

  /**
   * Writes the head, and the output of `end` after it, in one piece. Both `end` and this method return true if the response is complete, including
   * its body of `bytes` bytes.
   */
  #cork(status: string, headers: HeaderBlock, bytes: number, end: () => boolean): boolean {
    const ms = performance.now() - this.#startedAt
    let done = false
    const value = this.takesEsri ? varyingByEsri(headers.value) : headers.value
    const write = () => {
      this.raw.writeStatus(status).writeHeader(headers.name, value)
      done = end()
    }
    // The response is corked while its handler runs.
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

/** Returns null if the request is not traced. */
function startTrace({ tracer }: Edge, kind: RequestKind, req: HttpRequest): Span | null {
  if (kind === 'other') return null
  const traceparent = req.getHeader('traceparent')
  if (traceparent === '' && !tracer.on) return null
  const parent = parseTraceparent(readField(req, 'traceparent'), readField(req, 'tracestate'))
  if (parent === null && !tracer.on) return null
  // uWebSockets.js returns the method in lower case.
  const method = req.getMethod().toUpperCase()
  const attributes = { 'http.request.method': method, 'url.path': req.getUrl() }
  return tracer.start(`${method} ${kind}`, { kind: 'server', parent, attributes })
}

/** The parties to which the bytes of a response are accounted; null for none. */
type Accounted = Pick<RequestContext, 'token' | 'asked'>

/** Sends a body from its file, after a head that has been written. Releases and counts it at the end. */
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
