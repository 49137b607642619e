import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'

/** Time in ms for which a slice job retries object storage: a restart of the storage must not waste hours of slicing. */
const PATIENCE_MS = 15 * 60_000

/** Maximum wait between two attempts. */
const PAUSE_MS = 30_000

/** Retries work while object storage has a transient failure. Other errors are thrown at once. */
export async function retryUntil<T>(signal: AbortSignal, work: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const begun = performance.now()
  for (;;) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ObjectStoreTrouble) || performance.now() - begun > patienceMs) throw error
      await sleep(Math.min(error.retryAfterSeconds * 1000, PAUSE_MS), undefined, { signal })
    }
  }
}
