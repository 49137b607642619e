import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Acknowledgement } from './bus.js'

/** A missed acknowledgement message costs this long: presence is read again, which tells the applied revision too. */
const RECHECK_MS = 250

/** What `waitForApplied` needs of a medium. */
export interface AppliedSource {
  edges(): Promise<readonly EdgePresence[]>
  /** calls back with each announcement of another process until the returned function is called */
  onAnnounced(listener: (id: string, appliedRevision: number) => void): () => void
}

/**
 * Waits until every live edge process has applied a revision. Announcements make it fast; presence, read again and again, makes it sure:
 * a process that dies meanwhile drops out, and a lost announcement is found.
 */
export async function waitForApplied(
  source: AppliedSource,
  revision: number,
  timeoutMs: number,
): Promise<Acknowledgement> {
  const deadline = Date.now() + timeoutMs
  const heard = new Set<string>()
  let wake = (): void => {}
  const stop = source.onAnnounced((id, applied) => {
    if (applied >= revision) heard.add(id)
    wake()
  })
  try {
    for (;;) {
      const live = await source.edges()
      const pending = (): EdgePresence[] =>
        live.filter((edge) => edge.applied_revision < revision && !heard.has(edge.id))
      const recheckAt = Math.min(deadline, Date.now() + RECHECK_MS)
      while (pending().length > 0 && Date.now() < recheckAt) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, recheckAt - Date.now())
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      if (pending().length === 0 || Date.now() >= deadline) {
        const late = new Set(pending())
        return { confirmed: live.filter((edge) => !late.has(edge)), pending: [...late] }
      }
    }
  } finally {
    stop()
  }
}
