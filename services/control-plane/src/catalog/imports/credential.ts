import { createHash, type Hmac, timingSafeEqual } from 'node:crypto'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  signatureOf,
  signingKey,
  signText,
  startSignature,
  type WebhookStamp,
} from '../../platform/webhooks/signature.js'

/** From Standard Webhooks: an older message may be a replay. Its age is checked when the head arrives, not after a long upload. */
const TOLERANCE_SECONDS = 300

/** The request may be read. `hmac`: what its whole body must sign with; null: the bearer token has said enough. */
export interface Admitted {
  readonly ok: true
  readonly hmac: Hmac | null
  /** the `webhook-signature` that the body must have */
  readonly signature: string
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

const WRONG = refuse('token_unknown', coded('import_credential_expected'))

/**
 * Judges an import by its head, before any of its body is taken in: `Authorization: Bearer <IMPORT_TOKEN>`, or the headers of a gateway that
 * signs with IMPORT_TOKEN as its target's secret. Of the latter `webhook-proof`, a signature of no body, shows that the sender has the
 * secret; `webhook-signature` shows at the end that the body is its own.
 */
export function admitImport(headers: Headers, token: string, now: number): Admitted | Refusal {
  const authorization = headers.authorization
  if (typeof authorization === 'string') {
    return equal(authorization, `Bearer ${token}`) ? { ok: true, hmac: null, signature: '' } : WRONG
  }
  const stamp = stampOf(headers)
  const key = signingKey(token)
  if (stamp === null || key === null) return WRONG
  if (Math.abs(now / 1000 - stamp.timestamp) > TOLERANCE_SECONDS) {
    return refuse('token_expired', coded('import_timestamp'))
  }
  if (!equal(String(headers['webhook-proof']), signText(key, stamp, ''))) return WRONG
  return { ok: true, hmac: startSignature(key, stamp), signature: String(headers['webhook-signature']) }
}

/** The credential of a refused head; null: none, which does not count as a guess. */
export function guessOf({ authorization, 'webhook-proof': proof }: Headers): string | null {
  const guess = authorization ?? proof
  return guess === undefined ? null : String(guess)
}

/** Whether the body that was read is the one that was signed. */
export function isSignedBody(admitted: Admitted): boolean {
  return admitted.hmac === null || equal(admitted.signature, signatureOf(admitted.hmac))
}

function stampOf(headers: Headers): WebhookStamp | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return null
  return { id, timestamp: Number(timestamp) }
}

/** In constant time, whatever the lengths. */
function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
