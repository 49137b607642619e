import type { Bundle } from '../files/bundle.js'
import { zipOf } from '../files/zip.js'
import type { DestinationGuard } from '../guard/guard.js'
import { exchange } from '../http/exchange.js'
import { multipartBody } from '../http/multipart.js'
import { MESSAGE_PATIENCE, UPLOAD_PATIENCE } from '../http/patience.js'
import { sealBody } from '../http/sealed-body.js'
import type { Outcome } from '../outcome.js'
import { signingKey, signText, type WebhookStamp, webhookHeaders } from '../sign.js'

/** One message to one receiver. */
export interface Sending {
  readonly url: string
  /** null: not signed */
  readonly secret: string | null
  readonly webhookId: string
  /** milliseconds since 1970 */
  readonly now: number
  readonly event: unknown
}

/** The event as JSON. */
export async function sendMessage(guard: DestinationGuard, sending: Sending, signal: AbortSignal): Promise<Outcome> {
  const body = JSON.stringify(sending.event)
  const { key, stamp, secrets } = signing(sending)
  const signature = key === null ? null : signText(key, stamp, body)
  return exchange(
    guard,
    {
      url: sending.url,
      headers: { 'content-type': 'application/json', ...webhookHeaders(stamp, signature) },
      body,
      patience: MESSAGE_PATIENCE,
      secrets: [...secrets, ...(signature === null ? [] : [signature])],
    },
    signal,
  )
}

/** The event and the data, as multipart/form-data with the parts `event` and `archive`. */
export async function sendUpload(
  guard: DestinationGuard,
  sending: Sending,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<Outcome> {
  const { key, stamp, secrets } = signing(sending)
  const archiveName = `${bundle.place.replaceAll('/', '-')}.zip`
  const multipart = multipartBody(JSON.stringify(sending.event), archiveName, () => zipOf(bundle))
  const sealed = key === null ? null : await sealBody(multipart.parts, key, stamp, signal)
  // So that a receiver with the same secret need not take in gigabytes before it knows that they come from somebody who has it.
  const proof = key === null ? null : signText(key, stamp, '')
  return exchange(
    guard,
    {
      url: sending.url,
      headers: {
        'content-type': multipart.contentType,
        ...webhookHeaders(stamp, sealed?.signature ?? null),
        ...(proof === null ? {} : { 'webhook-proof': proof }),
        ...(sealed === null ? {} : { 'content-length': String(sealed.length) }),
      },
      body: (sealed ?? multipart).parts(),
      patience: UPLOAD_PATIENCE,
      secrets: [...secrets, ...[sealed?.signature, proof].filter((text) => typeof text === 'string')],
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
