import { createHmac, type Hmac } from 'node:crypto'

/** The headers of Standard Webhooks 1.0 for one attempt. */
export interface WebhookStamp {
  readonly id: string
  /** seconds since 1970, new for each attempt */
  readonly timestamp: number
}

const PREFIX = 'whsec_'

/** Text that the reference library of Standard Webhooks decodes as base64. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Whole groups of base64 and one more character of any kind, which that library ignores: often a space that was copied too. */
const BASE64_AND_ONE = /^((?:[A-Za-z0-9+/]{4})+)[^=]={0,2}$/s
/** Characters of base64 that have three bytes. */
const MIN_BASE64 = 4

/**
 * Returns a new secret in the form that is stored. The reference library reads a secret without `whsec_` as base64, too, so such a secret gets the
 * prefix. Any other text is a key in its `raw` format. Secrets that were stored before this rule have no prefix, and keep signing as text.
 */
export function standardSecret(secret: string): string {
  if (secret.length >= MIN_BASE64 && BASE64.test(secret)) return `${PREFIX}${secret}`
  const [, groups] = BASE64_AND_ONE.exec(secret) ?? []
  return groups === undefined ? secret : `${PREFIX}${groups}`
}

/**
 * Returns the key of a stored secret: the base64 text after `whsec_`, as in Standard Webhooks, or else the bytes of the secret in UTF-8. Returns null if
 * the text after `whsec_` is not base64.
 */
export function signingKey(secret: string): Buffer | null {
  if (!secret.startsWith(PREFIX)) return Buffer.from(secret, 'utf8')
  const text = secret.slice(PREFIX.length)
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(text)) return null
  return Buffer.from(text, 'base64')
}

/** The id is the delivery's own, so that it is the same over all its attempts and after a retry by hand. */
export function webhookId(deliveryId: string): string {
  return `msg_${deliveryId}`
}

/** Starts a signature; the body follows by `update`, in as many parts as it has, then `signatureOf`. */
export function startSignature(key: Buffer, { id, timestamp }: WebhookStamp): Hmac {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`)
}

export function signatureOf(hmac: Hmac): string {
  return `v1,${hmac.digest('base64')}`
}

export function signText(key: Buffer, stamp: WebhookStamp, body: string): string {
  return signatureOf(startSignature(key, stamp).update(body))
}

export function webhookHeaders(stamp: WebhookStamp, signature: string | null): Record<string, string> {
  return {
    'webhook-id': stamp.id,
    'webhook-timestamp': String(stamp.timestamp),
    ...(signature === null ? {} : { 'webhook-signature': signature }),
  }
}
