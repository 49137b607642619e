import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { signatureOf, startSignature, type WebhookStamp } from '../../platform/webhooks/signature.js'

/** A body whose length and signature are known before its first byte is sent. */
export interface SignedBody {
  readonly length: number
  readonly signature: string
  parts(): AsyncIterable<Buffer>
}

/**
 * Signs a streamed body. The signature is in the head of the request and covers the whole body, so the body is produced twice: to sign it, and
 * to send it. A body that differs the second time is aborted before its last part, so that no receiver ever gets a complete body with a wrong
 * signature.
 */
export async function signBody(
  produce: () => AsyncIterable<Buffer>,
  key: Buffer,
  stamp: WebhookStamp,
  signal: AbortSignal,
): Promise<SignedBody> {
  const hmac = startSignature(key, stamp)
  let length = 0
  for await (const part of produce()) {
    signal.throwIfAborted()
    hmac.update(part)
    length += part.length
    // Reading from the page cache never waits, so other work needs a turn.
    await yieldToOthers()
  }
  const signature = signatureOf(hmac)
  return { length, signature, parts: () => sameAgain(produce(), key, stamp, signature) }
}

async function* sameAgain(parts: AsyncIterable<Buffer>, key: Buffer, stamp: WebhookStamp, signature: string) {
  const hmac = startSignature(key, stamp)
  let held: Buffer | null = null
  for await (const part of parts) {
    hmac.update(part)
    if (held !== null) yield held
    held = part
  }
  if (signatureOf(hmac) !== signature) throw new CodedError(coded('delivery_data_changed'))
  if (held !== null) yield held
}
