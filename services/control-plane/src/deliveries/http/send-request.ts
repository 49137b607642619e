import { STATUS_CODES } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { coded, codeOfSentence, textOf } from '@gateway/contracts/messages.js'
import type { SentRequest } from '@gateway/contracts/push.js'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import type { ResolvedAddress } from '@gateway/core/outgoing/resolve.js'
import { failure, type Outcome } from '../outcome.js'
import { type Deadlines, DeadlineTimer } from './deadlines.js'
import { errorMessage, readAnswer, shownText } from './texts.js'

export interface DeliveryRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** a text, or parts that are produced as fast as the receiver takes them */
  readonly body: string | AsyncIterable<Uint8Array>
  readonly deadlines: Deadlines
  /** beginning of a body in parts, for operators who look for a fault in the request */
  readonly bodyHead?: string
  /** secrets that are removed from the kept parts of request and response */
  readonly secrets: readonly string[]
}

/** Maximum bytes of the response's status line and headers. A receiver has no reason to send more. */
const MAX_ANSWER_HEADER_BYTES = 16 * 1024

const OWN_HEADERS = { 'user-agent': 'map-asset-gateway' }

/** Delay between attempts at the several addresses of one host. */
const NEXT_ADDRESS_MS = 1000

/**
 * Sends one POST to a destination that the guard admits, on a new connection that dials only the checked addresses. Redirects are not
 * followed, no proxy is used, and the connection is closed afterwards. Never throws: every behaviour of a receiver becomes an outcome. `signal`
 * aborts it at once.
 */
export async function sendRequest(
  guard: DestinationGuard,
  request: DeliveryRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  const timer = new DeadlineTimer(request.deadlines, signal)
  let sent: SentRequest | null = null
  try {
    const admission = await orAbort(guard.admit(request.url), timer.signal)
    if (!admission.ok) return failure(coded('delivery_refused', { reason: codeOfSentence(admission.reason) }))
    sent = shownRequest(request)
    return { ...(await post(request, admission.addresses, timer)), request: sent }
  } catch (error) {
    if (timer.exceeded === null) return { ...failure(errorMessage(error)), request: sent }
    const { deadline, seconds } = timer.exceeded
    const code = sent === null ? (`delivery_name_${deadline}` as const) : (`delivery_${deadline}` as const)
    return { ...failure(coded(code, { seconds })), request: sent }
  } finally {
    timer.stop()
  }
}

/** Maximum characters kept for the operator: a whole event, unless it lists hundreds of items. */
const MAX_KEPT_BODY = 4000
/** Headers with credentials: their owner could send the signed message. */
const HIDDEN_HEADERS: ReadonlySet<string> = new Set(['webhook-signature', 'webhook-proof'])
const HIDDEN = '[hidden]'

function shownRequest({ url, headers, body, bodyHead = '', secrets }: DeliveryRequest): SentRequest {
  const all = Object.entries({ ...OWN_HEADERS, ...headers })
  const shownHeaders = all.map(([name, value]) => [name, HIDDEN_HEADERS.has(name) ? HIDDEN : shownText(value, secrets)])
  const text = (typeof body === 'string' ? body : bodyHead).slice(0, MAX_KEPT_BODY)
  return {
    method: 'POST',
    url: shownText(url, []),
    headers: Object.fromEntries(shownHeaders),
    body: shownText(text, secrets),
  }
}

type Answer = Omit<Outcome, 'request'>

async function post(
  request: DeliveryRequest,
  addresses: readonly ResolvedAddress[],
  timer: DeadlineTimer,
): Promise<Answer> {
  const { Client } = await import('undici')
  const url = new URL(request.url)
  const client = new Client(url.origin, {
    connect: {
      lookup: only(addresses),
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      timeout: request.deadlines.idleMs,
    },
    // The deadline timer has its own limits.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
  })
  // A connection that breaks between requests must not become an uncaught error.
  client.on('disconnect', () => {})
  const body = typeof request.body === 'string' ? request.body : touching(request.body, timer)
  try {
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: { ...OWN_HEADERS, ...request.headers },
      body: body as never,
      signal: timer.signal,
      reset: true,
      onInfo: () => timer.touch(),
    })
    const kept = await readAnswer(answer.body as unknown as Readable, request.secrets)
    return outcomeOf(answer.statusCode, answer.headers['retry-after'], kept)
  } finally {
    await client.destroy()
    // A source that was not read to its end must close its files.
    if (typeof body !== 'string') await body.return(undefined)
  }
}

function outcomeOf(status: number, retryAfter: string | string[] | undefined, answer: string): Answer {
  const delivered = status >= 200 && status < 300
  const isRedirect = status >= 300 && status < 400
  const said = coded(isRedirect ? 'delivery_redirected' : 'delivery_answered', {
    status: `${status} ${STATUS_CODES[status] ?? ''}`.trim(),
  })
  return {
    delivered,
    httpStatus: status,
    retryAfter: [retryAfter].flat()[0] ?? null,
    message: textOf(said),
    said,
    answer,
  }
}

/** Returns a look-up that knows only the checked addresses. */
function only(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family ?? 0)
  }
}

async function* touching(body: AsyncIterable<Uint8Array>, timer: DeadlineTimer): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    timer.touch()
    yield chunk
  }
}

/** Rejects on an abort. Resolving a name cannot be stopped, but need not be awaited. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
    work.catch(() => {})
  }
}
