import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { REFUSAL_HEADER, type Refusal, refuse } from '@gateway/contracts/errors.js'
import { endHead } from '@gateway/sendfile/head-answer.js'
import type { Edge } from '../edge.js'
import { headersForClient, type RequestHead, rebuildHead } from '../passthrough/request-head.js'
import type { UpstreamAnswer } from '../passthrough/upstream.js'
import { active, guarded, logAnswer } from './exchange.js'
import { countRefusal, prepareRefusal, TOO_LONG } from './refusals.js'
import { type TakenBody, takeBody } from './request-body.js'
import { StreamedAnswer } from './streamed-answer.js'

/** Limit: bytes of a JSON document. The control plane says the same, but too late to be read. */
const MAX_BODY_BYTES = 1024 * 1024

/** Takes archives of any size, under a limit and a credential of its own, and reads them as they come. */
const IMPORT_PATH = '/api/v1/import'

const CONTROL_PLANE_DOWN = refuse('dependency_down', 'the control plane is out of reach; please try again')
const BODY_TOO_LARGE = refuse('payload_too_large', `a request body holds at most ${MAX_BODY_BYTES} bytes`)
const STARTING = refuse('dependency_down', 'the edge has not reached the store yet; please try again')

/** Limit: path and query together. The control plane takes 16 KB for all of a head. */
const MAX_TARGET = 8_192

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

/** Everything that is not the edge's own goes to the control plane, and its answer comes back, both as they flow. */
export function onOther(edge: Edge, res: HttpResponse, req: HttpRequest): void {
  edge.counters.requests++
  edge.counters.passedThrough++
  const head = readHead(req)
  new PassedRequest(edge, res, head).start()
}

interface Head {
  readonly path: string
  readonly query: string
  readonly method: string
  readonly rebuilt: RequestHead | Refusal
}

function readHead(req: HttpRequest): Head {
  const path = req.getUrl()
  const query = req.getQuery()
  const method = req.getCaseSensitiveMethod()
  const headers: [string, string][] = []
  req.forEach((name, value) => void headers.push([name, value]))
  const tooLong = path.length + (query?.length ?? 0) > MAX_TARGET
  return {
    path,
    query: query ?? '',
    method,
    rebuilt: tooLong ? TOO_LONG : rebuildHead({ method, path, query, headers }),
  }
}

/** One request on its way through. */
class PassedRequest implements UpstreamAnswer {
  readonly #edge: Edge
  readonly #res: HttpResponse
  readonly #head: Head
  readonly #startedAt = performance.now()
  #answer: StreamedAnswer | null = null
  #body: TakenBody | null = null
  #gone = false
  #over = false
  #giveUp: () => void = () => {}

  constructor(edge: Edge, res: HttpResponse, head: Head) {
    this.#edge = edge
    this.#res = res
    this.#head = head
  }

  start() {
    active.add(this)
    this.#res.onAborted(() => {
      this.#gone = true
      active.delete(this)
      guarded(this.#edge, () => {
        this.#answer?.gone()
        this.#giveUp()
      })
    })
    const { rebuilt } = this.#head
    if (!rebuilt.ok) return this.#refuse(rebuilt)
    if ((rebuilt.bodyLength ?? 0) > this.#maxBodyBytes()) return this.#refuse(BODY_TOO_LARGE)
    const key = this.#edge.upstreamKey
    if (key === null) return this.#refuse(STARTING)
    const peer = Buffer.from(this.#res.getRemoteAddressAsText()).toString()
    if (rebuilt.bodyLength !== 0) this.#body = this.#takeBody()
    const proof = ['x-edge-key', key, 'x-edge-peer', peer]
    this.#giveUp = this.#edge.upstream.send(rebuilt, proof, this.#body?.stream ?? null, this)
  }

  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (this.#gone) return
    // The control plane has made up its mind: what it has not read by now it will not read.
    this.#body?.letGo()
    this.#log(status)
    const refusal = headers[REFUSAL_HEADER]
    if (typeof refusal === 'string') this.#edge.counters.countRefusal(refusal)
    const announced = headers['content-length']
    const length = typeof announced === 'string' ? Number(announced) : null
    const bodiless = this.#head.method === 'HEAD' || BODILESS.has(status)
    this.#answer = new StreamedAnswer(this.#res, {
      status: `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
      headers: headersForClient(headers),
      length,
      bodiless,
      close: this.#edge.draining,
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
      // The status is out: only a cut connection tells that the rest is missing.
      this.#edge.log.warn({ err: error.message, path: this.#head.path }, 'an answer of the control plane broke off')
      this.#res.close()
      return
    }
    this.#edge.log.debug({ err: error.message, path: this.#head.path }, 'the control plane did not answer')
    this.#refuse(CONTROL_PLANE_DOWN)
  }

  #maxBodyBytes(): number {
    return this.#head.path === IMPORT_PATH ? Number.POSITIVE_INFINITY : MAX_BODY_BYTES
  }

  #takeBody(): TakenBody {
    const over = () => this.#gone || this.#over
    return takeBody(this.#edge, this.#res, this.#maxBodyBytes(), over, () => this.#tooLarge())
  }

  #tooLarge() {
    if (this.#over || this.#answer !== null) return
    this.#giveUp()
    this.#refuse(BODY_TOO_LARGE)
  }

  #refuse(refusal: Refusal) {
    this.#body?.letGo()
    const { status, headers, body } = prepareRefusal(refusal)
    countRefusal(this.#edge, refusal)
    const code = Number.parseInt(status, 10)
    if (code >= 500) this.#edge.counters.serverErrors++
    this.#log(code)
    const isHead = this.#head.method === 'HEAD'
    // What was framed in two ways is followed by nobody knows what.
    const close = this.#edge.draining || code === 400
    this.#res.cork(() => {
      this.#res.writeStatus(status).writeHeader(headers.name, headers.value)
      if (!isHead) this.#res.end(body, close)
      else endHead(this.#res, body.length)
    })
    this.#completed(isHead ? 0 : body.length)
  }

  #completed(bytes: number): void {
    this.#over = true
    active.delete(this)
    this.#edge.counters.bytesSent += bytes
  }

  #log(status: number): void {
    const ms = performance.now() - this.#startedAt
    this.#edge.metrics.observe('passthrough', ms / 1000)
    logAnswer(this.#edge, { path: this.#head.path, query: this.#head.query, status, ms })
  }
}
