import { FairLanes, type Release } from '../lanes/fair-lanes.js'
import { Circuit } from '../object-storage/circuit.js'
import { ObjectRefused } from '../object-storage/errors.js'
import { guardedConnect } from '../object-storage/guarded-connect.js'
import { type Answer, Requester } from '../object-storage/requester.js'
import type { DestinationGuard } from '../outgoing/guard.js'

/** A service that fails is asked by one request in this time. */
const OPEN_MS = 10_000
/** Limits: redirects of one request, and requests that wait for their turn. */
const MAX_REDIRECTS = 5
const MAX_WAITING = 1_024
/** Seconds to which a `Retry-After` of the service is cut. */
const LONGEST_RETRY_AFTER = 60

/** Secrets of a service: fields that are sent to its host only. */
export type ServiceHeaders = Readonly<Record<string, string>>

export interface ServiceState {
  readonly state: 'open' | 'closed'
  /** successive failures */
  readonly failures: number
  /** the last failure, in the words of the service; without credentials */
  readonly message: string
}

/** `silent`: no answer in time, or none at all; `wrong`: another answer than asked for; `busy`: the gateway has no room, or asks later. */
export class ServiceTrouble extends Error {
  override readonly name = 'ServiceTrouble'
  readonly kind: 'silent' | 'wrong' | 'busy'
  readonly retryAfterSeconds: number

  constructor(kind: 'silent' | 'wrong' | 'busy', message: string, retryAfterSeconds = 5) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds))
  }
}

export interface ServiceRequest {
  readonly url: string
  readonly headers: ServiceHeaders
  /** fields that are no secret, such as validators */
  readonly fields?: Readonly<Record<string, string>>
  readonly maxBytes: number
  readonly caller: string
  readonly isWanted: () => boolean
  readonly signal: AbortSignal
}

export interface ServiceOptions {
  readonly guard: DestinationGuard
  readonly maxConcurrent: number
  readonly timeoutMs: number
  /** called for each request that was sent; `status` null: it got no answer */
  readonly observe?: (status: number | null, seconds: number) => void
  readonly onState?: (state: ServiceState) => void
}

/**
 * Sends requests to a service of somebody else: at most so many at once for each host, in turns of their callers, each with a time limit, and with a
 * circuit breaker. Every destination is checked by the guard, also that of a redirect. Messages contain no address, since it may hold a credential.
 */
export class ServiceClient {
  readonly #options: ServiceOptions
  readonly #requesters = new Map<string, Requester>()
  readonly #lanes = new Map<string, FairLanes>()
  readonly #circuit = new Circuit(undefined, () => 0.5, { firstOpenMs: OPEN_MS, longestOpenMs: OPEN_MS })
  #notBeforeMs = 0
  #message = ''

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  get state(): ServiceState {
    const state = this.#circuit.state === 'closed' ? 'closed' : 'open'
    return { state, failures: this.#circuit.failures, message: this.#message }
  }

  /**
   * Returns what `read` makes of the answer; it throws `ServiceTrouble` for a wrong one. All rejections are `ServiceTrouble`, except for the reason of
   * the signal.
   */
  async ask<T>(request: ServiceRequest, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const release = await this.#enter(request)
    try {
      if (!request.isWanted()) throw new ServiceTrouble('busy', 'nobody waits for the answer any more', 1)
      const waitMs = Math.max(this.#notBeforeMs - performance.now(), 0) || (this.#circuit.admit() ?? 0)
      if (waitMs > 0)
        throw new ServiceTrouble('busy', this.#message || 'it has failed several times in a row', waitMs / 1000)
      return await this.#counted(request, read)
    } finally {
      release()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#requesters.values()].map((requester) => requester.close()))
  }

  async #enter({ url, caller }: ServiceRequest): Promise<Release> {
    const { host } = new URL(url)
    const { maxConcurrent, timeoutMs } = this.#options
    const lanes = this.#lanes.get(host) ?? new FairLanes(maxConcurrent, MAX_WAITING)
    this.#lanes.set(host, lanes)
    const entering = lanes.enter(caller)
    if (entering === null) throw new ServiceTrouble('busy', 'too many requests wait for it')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, null)
    })
    const release = await Promise.race([entering, late])
    clearTimeout(timer)
    if (release !== null) return release
    void entering.then((end) => end())
    throw new ServiceTrouble('silent', `the requests before had no answer within ${timeoutMs / 1000} s`)
  }

  async #counted<T>(request: ServiceRequest, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const before = this.state
    try {
      const result = await read(await this.#follow(request))
      this.#circuit.succeeded()
      this.#message = ''
      if (before.failures > 0) this.#options.onState?.(this.state)
      return result
    } catch (error) {
      if (request.signal.aborted) {
        this.#circuit.abandoned()
        throw request.signal.reason
      }
      const trouble = error instanceof ServiceTrouble ? error : new ServiceTrouble('silent', reasonOf(error))
      this.#circuit.failed()
      this.#message = trouble.message
      const now = this.state
      if (now.failures === 1 || now.state !== before.state) this.#options.onState?.(now)
      throw trouble
    }
  }

  async #follow(request: ServiceRequest): Promise<Answer> {
    const { timeoutMs } = this.#options
    const limit: AbortSignal = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([limit, request.signal])
    const first = new URL(request.url)
    let url: URL = first
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const answer = await this.#send(url, url.host === first.host ? request.headers : {}, request, signal).catch(
        (error) => {
          if (limit.aborted) throw new ServiceTrouble('silent', `no answer within ${timeoutMs / 1000} s`)
          if (error instanceof ObjectRefused) throw new ServiceTrouble('wrong', error.message)
          throw error
        },
      )
      const location = [answer.headers.location].flat()[0]
      if (answer.status < 300 || answer.status > 399 || answer.status === 304 || location === undefined)
        return this.#judged(answer)
      if (!URL.canParse(location, url.href)) throw new ServiceTrouble('wrong', 'it redirects to no address')
      url = new URL(location, url)
      const problem = this.#options.guard.problemOf(url.href)
      if (problem !== null)
        throw new ServiceTrouble('wrong', `it redirects to a destination that is refused: ${problem}`)
    }
    throw new ServiceTrouble('wrong', `it redirects more than ${MAX_REDIRECTS} times`)
  }

  #judged(answer: Answer): Answer {
    if (answer.status !== 429 && answer.status !== 503) return answer
    const said = Number([answer.headers['retry-after']].flat()[0])
    const seconds = Number.isFinite(said) && said > 0 ? Math.min(said, LONGEST_RETRY_AFTER) : 5
    if (answer.status === 429) this.#notBeforeMs = performance.now() + seconds * 1000
    throw new ServiceTrouble('wrong', `it returns ${answer.status}`, seconds)
  }

  async #send(url: URL, secrets: ServiceHeaders, request: ServiceRequest, signal: AbortSignal): Promise<Answer> {
    const { guard, observe = () => {} } = this.#options
    const { origin } = url
    const requester = this.#requesters.get(origin) ?? new Requester(origin, guardedConnect(guard, `${origin}/`))
    this.#requesters.set(origin, requester)
    const begun = performance.now()
    let status: number | null = null
    try {
      const headers = () => ({ ...request.fields, ...secrets })
      const path = `${url.pathname}${url.search}`
      const answer = await requester.sendOnce({ method: 'GET', path, headers, maxBytes: request.maxBytes, signal })
      status = answer.status
      return answer
    } finally {
      observe(status, (performance.now() - begun) / 1000)
    }
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] : error
  const { code, message } = cause as NodeJS.ErrnoException
  return message || code || 'the connection failed'
}
