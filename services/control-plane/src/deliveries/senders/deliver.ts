import path from 'node:path'
import { writeFileAtomically } from '@gateway/files/write-atomically.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import type { Sql } from '@gateway/store/connect.js'
import type { ClaimedDelivery } from '@gateway/store/delivery-leases.js'
import type { TargetWithSecret } from '@gateway/store/targets.js'
import { readVector } from '@gateway/store/vectors.js'
import { type Bundle, vectorBundle, versionBundle } from '../files/bundle.js'
import { copyBundle } from '../files/copy.js'
import type { DestinationGuard } from '../guard/guard.js'
import { failure, type Outcome, success } from '../outcome.js'
import { webhookId } from '../sign.js'
import { basemapPushed, jobFinished, vectorPushed } from './events.js'
import { sendMessage, sendUpload } from './send-http.js'

export interface Sender {
  readonly sql: Sql
  readonly guard: DestinationGuard
  /** VECTOR_PUBLIC_BASE_URL */
  readonly vectorBaseUrl: string
  readonly now: () => number
}

/** Makes one attempt at a delivery. Throws only what nobody planned; `signal` breaks it off. */
export async function deliver(sender: Sender, claimed: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
  if (claimed.kind === 'slice_callback') return sendCallback(sender, claimed, signal)
  const { target } = claimed
  if (target === null) return failure('the target is gone')
  if (!target.enabled) return failure('the target is disabled')
  const pushed = await whatIsPushed(sender, claimed)
  if (typeof pushed === 'string') return failure(pushed)
  return push(sender, claimed, target, pushed, signal)
}

function sendCallback(sender: Sender, claimed: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
  const now = sender.now()
  const event = jobFinished(claimed, now)
  const sending = { url: claimed.url ?? '', secret: null, webhookId: webhookId(claimed.id), now, event }
  return sendMessage(sender.guard, sending, signal)
}

interface Pushed {
  readonly bundle: Bundle
  event(now: number): unknown
}

/** The catalog as it is now, not as it was when the push was asked for; or why there is nothing to send. */
async function whatIsPushed(sender: Sender, claimed: ClaimedDelivery): Promise<Pushed | string> {
  if (claimed.kind === 'vector_push') {
    const vector = await readVector(sender.sql, claimed.vectorCode ?? '')
    if (vector === null || !vector.available) return 'the vector is not available'
    return {
      bundle: vectorBundle(vector),
      event: (now) => vectorPushed(claimed, vector, sender.vectorBaseUrl, now),
    }
  }
  const basemap = await readBasemap(sender.sql, claimed.basemapCode ?? '')
  const version = basemap?.versions.find((v) => v.version === claimed.version)
  if (basemap === null || version === undefined || !version.available) return 'the version is not available'
  return {
    bundle: versionBundle(basemap.code, basemap.sourcePath, version),
    event: (now) => basemapPushed(claimed, basemap, version, now),
  }
}

async function push(
  sender: Sender,
  claimed: ClaimedDelivery,
  target: TargetWithSecret,
  { bundle, event }: Pushed,
  signal: AbortSignal,
): Promise<Outcome> {
  const now = sender.now()
  if (target.kind === 'directory') {
    const directory = target.path ?? ''
    return target.mode === 'upload'
      ? copyBundle({ bundle, target: directory, id: claimed.id, turn: claimed.fence }, signal)
      : writeEvent(directory, claimed.id, event(now))
  }
  const sending = {
    url: target.url ?? '',
    secret: target.secret,
    webhookId: webhookId(claimed.id),
    now,
    event: event(now),
  }
  return target.mode === 'upload'
    ? sendUpload(sender.guard, sending, bundle, signal)
    : sendMessage(sender.guard, sending, signal)
}

/** The event as a file of its own, whole from the moment it is there; a retry writes the same one again. */
async function writeEvent(directory: string, id: string, event: unknown): Promise<Outcome> {
  const name = `${id}.json`
  try {
    await writeFileAtomically(path.join(directory, name), `${JSON.stringify(event)}\n`, { durable: true })
    return success(`${name} is in place`)
  } catch (error) {
    return failure((error as Error).message)
  }
}
