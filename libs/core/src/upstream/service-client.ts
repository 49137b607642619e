import { removeSecrets } from '../access/redact.js'
import type { HostSlots } from '../files/host-slots.js'
import { FairLanes, type Release } from '../lanes/fair-lanes.js'
import { Circuit } from '../object-storage/circuit.js'
import { ObjectRefused } from '../object-storage/errors.js'
import { guardedConnect } from '../object-storage/guarded-connect.js'
import { type Answer, BrokenAnswer, Requester } from '../object-storage/requester.js'
import type { DestinationGuard } from '../outgoing/guard.js'
import { type HostCircuit, LONGEST_PAUSE_MS, OPEN_MS } from './host-circuit.js'

/** Limits: redirects of one request, and requests that wait for their turn. */
const MAX_REDIRECTS = 5
const MAX_WAITING = 1_024
/** Time after which a service that goes on to answer is told of again. */
const TELL_AGAIN_MS = 60_000
/** Time beyond the limit of a request for which others wait, so that they come behind requests that all reach their limit. */
const PATIENCE_MS = 1_000
/** Seconds to which a `Retry-After` of the service is cut. */
const LONGEST_RETRY_AFTER = LONGEST_PAUSE_MS / 1000

/** Secrets of a service: fields that are sent to its host only. */
export type ServiceHeaders = Readonly<Record<string, string>>

export interface ServiceState {
  readonly state: 'open' | 'closed'
  /** successive failures */
  readonly failures: number
  /** the last failure, in the words of the service; without credentials */
  readonly message: string
}

interface TroubleDetail {
  /** words of the service or of the network, for operators */
  readonly words?: string
  readonly retryAfterSeconds?: number
  /** false: the service was not asked, because it failed before, or because the gateway has no room. Default: true */
  readonly wasAsked?: boolean
}

/**
 * `silent`: no answer in time, or none at all; `wrong`: another answer than asked for; `busy`: the gateway has no room. `reason` is for clients; the
 * message also has the words of the service.
 */
export class ServiceTrouble extends Error {
  override readonly name = 'ServiceTrouble'
  readonly kind: 'silent' | 'wrong' | 'busy'
  readonly reason: string
  readonly words: string
  readonly retryAfterSeconds: number
  readonly wasAsked: boolean

  constructor(kind: ServiceTrouble['kind'], reason: string, detail: TroubleDetail = {}) {
    const { words = '', retryAfterSeconds = 5, wasAsked = true } = detail
    super(words === '' ? reason : `${reason}: ${words}`)
    this.kind = kind
    this.reason = reason
    this.words = words
    this.retryAfterSeconds = Math.max(1, Math.ceil(retryAfterSeconds))
    this.wasAsked = wasAsked
  }

  /** Returns the same trouble, whose message has no secrets. */
  without(secrets: readonly string[]): ServiceTrouble {
    return new ServiceTrouble(this.kind, this.reason, { ...this, words: removeSecrets(this.words, secrets) })
  }
}

export interface ServiceRequest {
  readonly url: string
  readonly headers: ServiceHeaders
  /** texts that are removed from the words of the service, since some services return what they were sent */
  readonly secrets: readonly string[]
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
  /** returns the slots that all processes of this machine share for a host of the service; null, or absent: each process counts by itself */
  readonly slots?: (host: string) => HostSlots | null
  /** returns the circuit breaker that all processes of this machine share; null, or absent: this process has its own */
  readonly circuit?: () => HostCircuit | null
  /** called for each request that was sent; `status` null: it got no answer */
  readonly observe?: (status: number | null, seconds: number) => void
  /** called after each failure, after the first success behind it, and once a minute while the service answers */
  readonly onState?: (state: ServiceState, before: ServiceState['state']) => void
}

/**
 * Sends requests to a service of somebody else: at most so many at once for each of its hosts, in turns of their callers, each with a time limit, and
 * with a circuit breaker. Every destination is checked by the guard, also that of a redirect. Messages contain no address, since it may hold a credential.
 */
export class ServiceClient {
  readonly #options: ServiceOptions
  readonly #requesters = new Map<string, Requester>()
  readonly #lanes = new Map<string, FairLanes>()
  readonly #slots = new Map<string, HostSlots>()
  /** counts if the disk of the shared one fails */
  readonly #circuit = new Circuit(undefined, () => 0.5, { firstOpenMs: OPEN_MS, longestOpenMs: OPEN_MS })
  #hostCircuit: HostCircuit | null = null
  #notBeforeMs = 0
  #tellAgainMs = 0
  #last: ServiceTrouble | null = null

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  get state(): ServiceState {
    const message = this.#last?.message ?? ''
    const { failures } = this.#hostCircuit ?? this.#circuit
    const isOpen = this.#hostCircuit?.isOpen ?? this.#circuit.state !== 'closed'
    return { state: isOpen ? 'open' : 'closed', failures, message }
  }

  /**
   * Returns what `read` makes of the answer; it throws `ServiceTrouble` for a wrong one. All rejections are `ServiceTrouble`, except for the reason of
   * the signal.
   */
  async ask<T>(request: ServiceRequest, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const release = await this.#enter(request)
    try {
      if (!request.isWanted()) throw busy('nobody waits for the answer any more', 1)
      const waitMs = Math.max(this.#notBeforeMs - performance.now(), 0) || (await this.#admit())
      if (waitMs > 0) {
        const { kind = 'silent', reason = 'it has failed several times in a row', words = '' } = this.#last ?? {}
        throw new ServiceTrouble(kind, reason, { words, retryAfterSeconds: waitMs / 1000, wasAsked: false })
      }
      return await this.#counted(request, read)
    } finally {
      release()
    }
  }

  /** Returns the milliseconds for which the service is not asked. */
  async #admit(): Promise<number> {
    this.#hostCircuit ??= this.#options.circuit?.() ?? null
    const waitMs = await this.#hostCircuit?.admit().catch(() => {
      // A disk that fails does not hold up requests.
      this.#hostCircuit = null
    })
    if (this.#hostCircuit === null) return this.#circuit.admit() ?? 0
    const { last } = this.#hostCircuit
    if (last !== null) this.#last = new ServiceTrouble(last.kind as ServiceTrouble['kind'], last.reason, last)
    return waitMs ?? 0
  }

  async close(): Promise<void> {
    await Promise.all([...this.#requesters.values()].map((requester) => requester.close()))
  }

  async #enter(request: ServiceRequest): Promise<Release> {
    const { host } = new URL(request.url)
    const { maxConcurrent, timeoutMs } = this.#options
    const lanes = this.#lanes.get(host) ?? new FairLanes(maxConcurrent, MAX_WAITING)
    this.#lanes.set(host, lanes)
    const entering = lanes.enter(request.caller)
    if (entering === null) throw busy('too many requests wait for it')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, timeoutMs + PATIENCE_MS, null)
    })
    const release = await Promise.race([entering, late])
    clearTimeout(timer)
    const slots = this.#slotsOf(host)
    if (release !== null && slots === null) return release
    const until = performance.now() + timeoutMs
    const mayWait = () => request.isWanted() && performance.now() < until
    const slot = release === null ? null : await slots?.enter(mayWait).catch(() => noSlot)
    if (release !== null && slot) return () => void slot().then(release, release)
    void entering.then((end) => end())
    if (!request.isWanted()) throw busy('nobody waits for the answer any more', 1)
    throw new ServiceTrouble('silent', `the requests before had no answer within ${timeoutMs / 1000} s`, NOT_ASKED)
  }

  #slotsOf(host: string): HostSlots | null {
    const known = this.#slots.get(host) ?? this.#options.slots?.(host) ?? null
    if (known !== null) this.#slots.set(host, known)
    return known
  }

  async #counted<T>(request: ServiceRequest, read: (answer: Answer) => Promise<T> | T): Promise<T> {
    const before = this.state
    try {
      const result = await read(await this.#follow(request))
      this.#circuit.succeeded()
      await this.#hostCircuit?.succeeded().catch(() => {})
      this.#last = null
      this.#succeeded(before)
      return result
    } catch (error) {
      if (request.signal.aborted) {
        this.#circuit.abandoned()
        throw request.signal.reason
      }
      const trouble = troubleOf(error).without(request.secrets)
      this.#circuit.failed()
      const { kind, reason, words } = trouble
      const pauseMs = Math.max(0, this.#notBeforeMs - performance.now())
      await this.#hostCircuit?.failed({ kind, reason, words }, pauseMs).catch(() => {})
      this.#last = trouble
      this.#options.onState?.(this.state, before.state)
      throw trouble
    }
  }

  /** Tells of a success behind failures, and sometimes of others: a process that has told of failures may have ended. */
  #succeeded(before: ServiceState): void {
    const now = performance.now()
    if (before.failures === 0 && now < this.#tellAgainMs) return
    this.#tellAgainMs = now + TELL_AGAIN_MS
    this.#options.onState?.(this.state, before.state)
  }

  async #follow(request: ServiceRequest): Promise<Answer> {
    const { timeoutMs } = this.#options
    const limit: AbortSignal = AbortSignal.timeout(timeoutMs)
    const signal = AbortSignal.any([limit, request.signal])
    const first = new URL(request.url)
    let url: URL = first
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const secrets = maySeeSecrets(url, first) ? request.headers : {}
      const answer = await this.#send(url, secrets, request, signal).catch((error) => {
        throw limit.aborted ? new ServiceTrouble('silent', `no answer within ${timeoutMs / 1000} s`) : error
      })
      const location = [answer.headers.location].flat()[0]
      if (answer.status < 300 || answer.status > 399 || answer.status === 304 || location === undefined)
        return this.#judged(answer)
      if (!URL.canParse(location, url.href)) throw new ServiceTrouble('wrong', 'it redirects to no address')
      url = new URL(location, url)
      const problem = this.#options.guard.problemOf(url.href)
      if (problem !== null)
        throw new ServiceTrouble('wrong', 'it redirects to a destination that is refused', { words: problem })
    }
    throw new ServiceTrouble('wrong', `it redirects more than ${MAX_REDIRECTS} times`)
  }

  #judged(answer: Answer): Answer {
    if (answer.status !== 429 && answer.status !== 503) return answer
    const said = retryAfterOf(answer)
    if (answer.status === 429 || said !== null) this.#notBeforeMs = performance.now() + (said ?? 5) * 1000
    throw new ServiceTrouble('wrong', `it returns ${answer.status}`, { retryAfterSeconds: said ?? 5 })
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

/** A disk that fails does not hold up requests. */
const noSlot = async (): Promise<void> => {}
/** Details of a trouble without a request. */
const NOT_ASKED = { wasAsked: false } as const

function busy(reason: string, retryAfterSeconds = 5): ServiceTrouble {
  return new ServiceTrouble('busy', reason, { retryAfterSeconds, wasAsked: false })
}

/** The headers of a source go to its own host only, and never over a connection that is less safe. */
function maySeeSecrets(url: URL, first: URL): boolean {
  return url.host === first.host && (url.protocol === first.protocol || url.protocol === 'https:')
}

/** Returns the seconds of `Retry-After` (RFC 9110, 10.2.3: a number or a date), within the limit; null: it has none. */
function retryAfterOf({ headers }: Answer): number | null {
  const said = [headers['retry-after']].flat()[0] ?? ''
  // biome-ignore lint/plugin: calendar, of a date that a server sends
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1000
  return seconds > 0 ? Math.min(Math.ceil(seconds), LONGEST_RETRY_AFTER) : null
}

function troubleOf(error: unknown): ServiceTrouble {
  if (error instanceof ServiceTrouble) return error
  if (error instanceof ObjectRefused)
    return new ServiceTrouble('wrong', 'it leads to a destination that is refused', { words: error.message })
  const cause = error instanceof AggregateError ? error.errors[0] : error
  const { code, name, message } = cause as NodeJS.ErrnoException
  const words = message || code || ''
  if (error instanceof BrokenAnswer) return new ServiceTrouble('wrong', 'its answer breaks off', { words })
  if (name === 'HTTPParserError') return new ServiceTrouble('wrong', 'its answer is no HTTP', { words })
  return new ServiceTrouble('silent', 'the connection fails', { words })
}
