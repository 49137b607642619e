import path from 'node:path'
import { coded, messageOfError } from '@gateway/contracts/messages.js'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import type { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import { currentTrace } from '../platform/trace.js'
import { webhookId } from '../platform/webhooks/signature.js'
import { deliverToBucket } from './bucket/deliver.js'
import { copyBundle, isDirectory, NO_DIRECTORY } from './files/copy.js'
import { sendMessage, sendUpload } from './http/send.js'
import { type MailSettings, sendMail } from './mail/send.js'
import { failure, type Outcome, success } from './outcome.js'
import type { NothingToSend, Payload } from './payload.js'

export interface DeliverTools {
  readonly guard: DestinationGuard
  /** milliseconds since 1970 */
  readonly now: () => number
  readonly openStore: (url: string) => ObjectStore
  /** directory for archives on their way into a bucket; it may not exist yet */
  readonly scratch: string
  readonly mail: MailSettings
  readonly payloadOf: (claimed: ClaimedDelivery) => Promise<Payload | NothingToSend>
}

/**
 * Makes one attempt at a delivery, to a target or to a single URL. Rejects if files cannot be read or written; `signal` aborts
 * it.
 */
export async function deliver(tools: DeliverTools, claimed: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
  const { target } = claimed
  if (target === null && claimed.url === null) return failure(coded('delivery_target_gone'))
  if (target?.enabled === false) return failure(coded('delivery_target_disabled'))
  const payload = await tools.payloadOf(claimed)
  if (!payload.ok) return failure(payload.reason)
  const wanted = target?.mode === 'upload' ? payload.bundle : null
  const fetched = await wanted?.prepare?.(signal)
  try {
    return await send(tools, claimed, { ...payload, bundle: fetched ?? wanted }, signal)
  } finally {
    await fetched?.release()
  }
}

const TO_MAIL = 'mailto:'

async function send(
  tools: DeliverTools,
  { id, target, url: own, fence }: ClaimedDelivery,
  { event, bundle, headers }: Omit<Payload, 'ok'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const url = own ?? target?.url ?? ''
  if (url.startsWith(TO_MAIL)) return sendMail(tools.mail, url.slice(TO_MAIL.length), event)
  if (target?.kind === 'directory') {
    const directory = target.path ?? ''
    if (bundle === null) return writeEvent(directory, id, event)
    return copyBundle({ bundle, target: directory, id, turn: fence }, signal)
  }
  if (target?.kind === 'bucket') {
    return deliverToBucket(tools, { url, id, event, bundle }, signal)
  }
  const { guard, now } = tools
  const sending = {
    url,
    trace: currentTrace(),
    secret: target?.secret ?? null,
    webhookId: webhookId(id),
    now: now(),
    event,
    headers,
  }
  return bundle === null ? sendMessage(guard, sending, signal) : sendUpload(guard, sending, bundle, signal)
}

/** Writes the event into a file atomically. A retry writes the same file again. */
async function writeEvent(directory: string, id: string, event: unknown): Promise<Outcome> {
  const name = `${id}.json`
  if (!(await isDirectory(directory))) return NO_DIRECTORY
  try {
    await writeFileAtomically(path.join(directory, name), `${JSON.stringify(event)}\n`, { durable: true })
    return success(coded('delivery_event_in_place', { name }))
  } catch (error) {
    return failure(messageOfError(error))
  }
}
