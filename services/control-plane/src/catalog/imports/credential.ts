import { createHash, type Hmac, timingSafeEqual } from 'node:crypto'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  signatureOf,
  signingKey,
  signText,
  standardSecret,
  startSignature,
  type WebhookStamp,
} from '../../platform/webhooks/signature.js'

/** Tolerance of Standard Webhooks: an older message may be a replay. The age is checked when the head arrives, not after a long upload. */
const TOLERANCE_SECONDS = 300

/** An import whose body may be read. `hmac`: computes the required signature of the whole body; null: the bearer token suffices. */
export interface Admitted {
  readonly ok: true
  readonly hmac: Hmac | null
  /** required `webhook-signature` of the body */
  readonly signature: string
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

const WRONG = refuse('token_unknown', coded('import_credential_expected'))

/**
 * Judges an import by its head, before any of its body is read. It needs `Authorization: Bearer <IMPORT_TOKEN>`, or the headers of a gateway that
 * signs with IMPORT_TOKEN as its target's secret. For the latter, `webhook-proof`, a signature of an empty body, proves first that the sender has the
 * secret. At the end, `webhook-signature` proves the body.
 */
export function admitImport(headers: Headers, token: string, now: number): Admitted | Refusal {
  const authorization = headers.authorization
  if (typeof authorization === 'string') {
    return equal(authorization, `Bearer ${token}`) ? { ok: true, hmac: null, signature: '' } : WRONG
  }
  const stamp = stampOf(headers)
  if (stamp === null) return WRONG
  if (Math.abs(now / 1000 - stamp.timestamp) > TOLERANCE_SECONDS) {
    return refuse('token_expired', coded('import_timestamp'))
  }
  const key = keysOf(token).find((one) => equal(String(headers['webhook-proof']), signText(one, stamp, '')))
  if (key === undefined) return WRONG
  return { ok: true, hmac: startSignature(key, stamp), signature: String(headers['webhook-signature']) }
}

/** Returns the keys of a token: the sender may have stored it before or after such texts were read as base64 (`standardSecret`). */
function keysOf(token: string): Buffer[] {
  return [token, standardSecret(token)].flatMap((secret) => signingKey(secret) ?? [])
}

/** Returns the credential of a refused head. null: no credential, which does not count as a guess. */
export function guessOf({ authorization, 'webhook-proof': proof }: Headers): string | null {
  const guess = authorization ?? proof
  return guess === undefined ? null : String(guess)
}

/** True if the signature matches the body that was read. */
export function isSignedBody(admitted: Admitted): boolean {
  return admitted.hmac === null || equal(admitted.signature, signatureOf(admitted.hmac))
}

function stampOf(headers: Headers): WebhookStamp | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return null
  return { id, timestamp: Number(timestamp) }
}

/** Compares in constant time, for any lengths. */
function equal(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
