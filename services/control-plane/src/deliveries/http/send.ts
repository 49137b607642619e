import { randomBytes } from 'node:crypto'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { formatTraceparent, type TraceContext } from '@gateway/core/tracing/trace-context.js'
import { signingKey, signText, type WebhookStamp, webhookHeaders } from '../../platform/webhooks/signature.js'
import type { Bundle } from '../files/bundle.js'
import { zipOf } from '../files/zip.js'
import type { Outcome } from '../outcome.js'
import { MESSAGE_DEADLINES, UPLOAD_DEADLINES } from './deadlines.js'
import { sendRequest } from './send-request.js'
import { signBody } from './signed-body.js'

/** One message to one receiver. */
export interface Sending {
  readonly url: string
  /** null: unsigned */
  readonly secret: string | null
  readonly webhookId: string
  /** milliseconds since 1970 */
  readonly now: number
  readonly event: unknown
  /** headers of the message, in addition to the standard ones */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** trace of the message (W3C Trace Context); null: none */
  readonly trace?: TraceContext | null
}

function traceHeader({ trace = null }: Sending): Record<string, string> {
  return trace === null ? {} : { traceparent: formatTraceparent(trace) }
}

/** Sends the event as JSON. */
export async function sendMessage(guard: DestinationGuard, sending: Sending, signal: AbortSignal): Promise<Outcome> {
  const body = JSON.stringify(sending.event)
  const { key, stamp, secrets } = signing(sending)
  const signature = key === null ? null : signText(key, stamp, body)
  return sendRequest(
    guard,
    {
      url: sending.url,
      headers: {
        ...sending.headers,
        'content-type': 'application/json',
        ...webhookHeaders(stamp, signature),
        ...traceHeader(sending),
      },
      body,
      deadlines: MESSAGE_DEADLINES,
      secrets: [...secrets, ...(signature === null ? [] : [signature])],
    },
    signal,
  )
}

const ASCII = /^[ -~]*$/

/** Sends the event and the data, as multipart/form-data with the parts `event` and `archive`. */
export async function sendUpload(
  guard: DestinationGuard,
  sending: Sending,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<Outcome> {
  const { key, stamp, secrets } = signing(sending)
  const event = JSON.stringify(sending.event)
  const multipart = multipartBody(event, archiveName(bundle), () => zipOf(bundle))
  const signed = key === null ? null : await signBody(multipart.parts, key, stamp, signal)
  // Lets a receiver with the same secret authenticate the sender before it reads gigabytes.
  const proof = key === null ? null : signText(key, stamp, '')
  return sendRequest(
    guard,
    {
      url: sending.url,
      headers: {
        'content-type': multipart.contentType,
        ...webhookHeaders(stamp, signed?.signature ?? null),
        ...traceHeader(sending),
        ...(proof === null ? {} : { 'webhook-proof': proof }),
        ...(signed === null ? {} : { 'content-length': String(signed.length) }),
      },
      body: (signed ?? multipart).parts(),
      bodyHead: event,
      deadlines: UPLOAD_DEADLINES,
      secrets: [...secrets, ...[signed?.signature, proof].filter((text) => typeof text === 'string')],
    },
    signal,
  )
}

function signing({ secret, webhookId, now }: Sending): {
  key: Buffer | null
  stamp: WebhookStamp
  secrets: readonly string[]
} {
  return {
    key: secret === null ? null : signingKey(secret),
    stamp: { id: webhookId, timestamp: Math.floor(now / 1000) },
    secrets: secret === null ? [] : [secret],
  }
}

/** A multipart/form-data body (RFC 7578) with the event as JSON and an archive. Each call produces it again, byte for byte the same. */
interface MultipartBody {
  readonly contentType: string
  parts(): AsyncIterable<Buffer>
}

function multipartBody(event: string, fileName: string, archive: () => AsyncIterable<Buffer>): MultipartBody {
  const boundary = `gateway-${randomBytes(18).toString('hex')}`
  const head = (disposition: string, type: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\nContent-Type: ${type}\r\n\r\n`
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    parts: async function* () {
      yield Buffer.from(
        `${head('name="event"', 'application/json')}${event}\r\n` +
          head(`name="archive"; filename="${fileName}"`, 'application/zip'),
      )
      yield* archive()
      yield Buffer.from(`\r\n--${boundary}--\r\n`)
    },
  }
}

/** Returns a file name that needs no quoting in any receiver. */
export function archiveName({ place, code }: Pick<Bundle, 'place' | 'code'>): string {
  const name = ASCII.test(place) ? place.replace(/[^A-Za-z0-9._-]+/g, '-') : code
  return `${name}.zip`
}
