import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'

/** For so long a slice job waits for object storage that does not answer: hours of slicing are not thrown away for a restart of it. */
const PATIENCE_MS = 15 * 60_000

/** The longest wait between two attempts. */
const PAUSE_MS = 30_000

/** Does what needs object storage, again and again while that has passing trouble. What is no trouble of its own is thrown at once. */
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
