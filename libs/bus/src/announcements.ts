import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Presence } from '@gateway/store/edge-presence.js'
import { type Acknowledgement, ANNOUNCE_INTERVAL_MS, type OwnPresence } from './bus.js'

/** A missed announcement costs this long: presence is read again, which tells the applied revision too. */
const RECHECK_MS = 250

/** After an outage of the medium, every live edge has reconnected and announced itself within this time. */
const SETTLED_MS = 2 * ANNOUNCE_INTERVAL_MS

type Listener = (id: string, revision: number, mark: string | undefined) => void

/** Answers the marks of those states that the store has been in. */
export type KnownStates = (states: readonly LogState[]) => Promise<ReadonlySet<string>>

/** What an edge process publishes once it has applied a revision; `Announcements.receive` reads it. */
export function announcementOf({ id, applied_revision, applied_mark = '' }: OwnPresence): string {
  return `${id} ${applied_revision} ${applied_mark}`
}

/** Collects the announcements of edge processes, and waits until all of them have applied a revision. The medium passes them in. */
export class Announcements {
  readonly #presence: () => Promise<Presence>
  readonly #knownStates: KnownStates
  readonly #listeners = new Set<Listener>()

  #away = false
  #backAt = Number.NEGATIVE_INFINITY

  /** @param presence reads which edge processes live, and what each has applied */
  constructor(presence: () => Promise<Presence>, knownStates: KnownStates) {
    this.#presence = presence
    this.#knownStates = knownStates
  }

  /** To be called whenever the medium is lost or back: presence that expired meanwhile does not mean that no edge is alive. */
  noteReach(reachable: boolean): void {
    if (reachable && this.#away) this.#backAt = performance.now()
    this.#away = !reachable
  }

  receive(announcement: string): void {
    const [id = '', revision, mark] = announcement.split(' ')
    for (const listener of this.#listeners) listener(id, Number(revision), mark || undefined)
  }

  /**
   * Waits until every live edge process has applied a state. Announcements make it fast; polling presence makes it reliable: a
   * process that dies meanwhile drops out, and a lost announcement is noticed.
   */
  async awaitApplied(state: LogState, timeoutMs: number): Promise<Acknowledgement> {
    const deadline = performance.now() + timeoutMs
    const received = new Set<string>()
    let recheckAt = 0
    let wake = (): void => {}
    const listener: Listener = (id, revision, mark) => {
      if (isState(state, revision, mark)) received.add(id)
      // Only the store knows whether a later state belongs to this history.
      else if (revision > state.revision) recheckAt = 0
      wake()
    }
    this.#listeners.add(listener)
    try {
      for (;;) {
        recheckAt = Math.min(deadline, performance.now() + RECHECK_MS)
        const { live, silent } = await this.#presence()
        const applied = await this.#applied(state, [...live, ...silent])
        const has = ({ id }: EdgePresence) => applied.has(id) || received.has(id)
        const allHave = () => live.every(has)
        const settled = () => performance.now() >= this.#backAt + SETTLED_MS
        while ((!allHave() || !settled()) && performance.now() < recheckAt) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, recheckAt - performance.now())
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
        if ((allHave() && settled()) || performance.now() >= deadline) {
          const all = [...live, ...silent]
          return { confirmed: all.filter(has), pending: all.filter((edge) => !has(edge)) }
        }
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }

  /** The ids of those that have applied the state, by their presence. */
  async #applied(state: LogState, edges: readonly EdgePresence[]): Promise<ReadonlySet<string>> {
    const ahead = edges.flatMap(({ applied_revision: revision, applied_mark: mark }) =>
      revision > state.revision && mark !== undefined ? [{ revision, mark }] : [],
    )
    const later = ahead.length === 0 ? new Set<string>() : await this.#knownStates(ahead)
    const has = ({ applied_revision, applied_mark }: EdgePresence) =>
      isState(state, applied_revision, applied_mark) || (applied_mark !== undefined && later.has(applied_mark))
    return new Set(edges.filter(has).map(({ id }) => id))
  }
}

/** A process of the previous version sends no mark, so that its revision has to suffice. */
function isState(state: LogState, revision: number, mark: string | undefined): boolean {
  return mark === undefined ? revision >= state.revision : revision === state.revision && mark === state.mark
}
