import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Presence } from '@gateway/store/edge-presence.js'
import { type Acknowledgement, ANNOUNCE_INTERVAL_MS, type OwnPresence } from './bus.js'
import { SharedRead } from './shared-read.js'

/** A missed announcement costs this long: presence is read again, which tells the applied revision too. */
const RECHECK_MS = 250

/** After an outage of the medium, every live edge has reconnected and announced itself within this time. */
const SETTLED_MS = 2 * ANNOUNCE_INTERVAL_MS

const NOBODY: Presence = { live: [], silent: [] }

type Listener = (id: string, revision: number, mark: string | undefined) => void

/** Answers the marks of those states that the store has been in. */
export type KnownStates = (states: readonly LogState[]) => Promise<ReadonlySet<string>>

/** What an edge process publishes once it has applied a revision; `Announcements.receive` reads it. */
export function announcementOf({ id, applied_revision, applied_mark = '' }: OwnPresence): string {
  return `${id} ${applied_revision} ${applied_mark}`
}

/** The presence of edges, and the marks in it that are of states which the store has been in. */
interface Seen extends Presence {
  readonly known: ReadonlySet<string>
}

/** Collects the announcements of edge processes, and waits until all of them have applied a revision. The medium passes them in. */
export class Announcements {
  /** one for all waits: each of many changes a second would otherwise read presence several times */
  readonly #seen: SharedRead<Seen>
  readonly #listeners = new Set<Listener>()

  #away = false
  #backAt = Number.NEGATIVE_INFINITY

  /** @param presence reads which edge processes live, and what each has applied */
  constructor(presence: () => Promise<Presence>, knownStates: KnownStates) {
    this.#seen = new SharedRead(async () => {
      const read = await presence()
      return { ...read, known: await knownMarks([...read.live, ...read.silent], knownStates) }
    })
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
   * @param expected processes that count as such too as long as presence does not tell of them
   */
  async awaitApplied(state: LogState, timeoutMs: number, expected: Presence = NOBODY): Promise<Acknowledgement> {
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
        const { known, ...seen } = await this.#seen.read()
        const told = new Set([...seen.live, ...seen.silent].map(({ id }) => id))
        const untold = (edges: readonly EdgePresence[]) => edges.filter(({ id }) => !told.has(id))
        const live = [...seen.live, ...untold(expected.live)]
        const silent = [...seen.silent, ...untold(expected.silent)]
        const has = (edge: EdgePresence) => hasApplied(edge, state, known) || received.has(edge.id)
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
}

async function knownMarks(edges: readonly EdgePresence[], knownStates: KnownStates): Promise<ReadonlySet<string>> {
  const states = new Map(
    edges.flatMap(({ applied_revision: revision, applied_mark: mark }) =>
      mark === undefined ? [] : [[`${revision} ${mark}`, { revision, mark }] as const],
    ),
  )
  return states.size === 0 ? new Set() : knownStates([...states.values()])
}

function hasApplied(edge: EdgePresence, state: LogState, known: ReadonlySet<string>): boolean {
  const { applied_revision: revision, applied_mark: mark } = edge
  return isState(state, revision, mark) || (revision > state.revision && mark !== undefined && known.has(mark))
}

/** A process of the previous version sends no mark, so that its revision has to suffice. */
function isState(state: LogState, revision: number, mark: string | undefined): boolean {
  return mark === undefined ? revision >= state.revision : revision === state.revision && mark === state.mark
}
