import type { EdgePresence } from '@gateway/contracts/edge.js'
import { type Acknowledgement, ANNOUNCE_INTERVAL_MS, type OwnPresence } from './bus.js'

/** A missed announcement costs this long: presence is read again, which tells the applied revision too. */
const RECHECK_MS = 250

/** After the medium was away, every edge that lives has reached it again and announced itself within this time. */
const SETTLED_MS = 2 * ANNOUNCE_INTERVAL_MS

type Listener = (id: string, appliedRevision: number) => void

/** What an edge process says once it has applied a revision; `Announcements.hear` reads it. */
export function announcementOf({ id, applied_revision }: OwnPresence): string {
  return `${id} ${applied_revision}`
}

/** What the edge processes announce, and the wait until all of them have applied a revision. The medium hands the announcements in. */
export class Announcements {
  readonly #edges: () => Promise<readonly EdgePresence[]>
  readonly #listeners = new Set<Listener>()

  #away = false
  #backAt = Number.NEGATIVE_INFINITY

  /** @param edges reads which edge processes live, and which revision each has applied */
  constructor(edges: () => Promise<readonly EdgePresence[]>) {
    this.#edges = edges
  }

  /** To be told of every loss of the medium and every return: presence that ran out meanwhile does not mean that nobody lives. */
  noteReach(reachable: boolean): void {
    if (reachable && this.#away) this.#backAt = Date.now()
    this.#away = !reachable
  }

  hear(announcement: string): void {
    const [id = '', revision] = announcement.split(' ')
    for (const listener of this.#listeners) listener(id, Number(revision))
  }

  /**
   * Waits until every live edge process has applied a revision. Announcements make it fast; presence, read again and again, makes it
   * sure: a process that dies meanwhile drops out, and a lost announcement is found.
   */
  async awaitApplied(revision: number, timeoutMs: number): Promise<Acknowledgement> {
    const deadline = Date.now() + timeoutMs
    const heard = new Set<string>()
    let wake = (): void => {}
    const listener: Listener = (id, applied) => {
      if (applied >= revision) heard.add(id)
      wake()
    }
    this.#listeners.add(listener)
    try {
      for (;;) {
        const live = await this.#edges()
        const pending = (): EdgePresence[] =>
          live.filter((edge) => edge.applied_revision < revision && !heard.has(edge.id))
        const settled = () => Date.now() >= this.#backAt + SETTLED_MS
        const recheckAt = Math.min(deadline, Date.now() + RECHECK_MS)
        while ((pending().length > 0 || !settled()) && Date.now() < recheckAt) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, recheckAt - Date.now())
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
        if ((pending().length === 0 && settled()) || Date.now() >= deadline) {
          const late = new Set(pending())
          return { confirmed: live.filter((edge) => !late.has(edge)), pending: [...late] }
        }
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }
}
