import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Presence } from '@gateway/store/edge-presence.js'
import { type Acknowledgement, ANNOUNCE_INTERVAL_MS, type OwnPresence, type RevisionMessage } from './bus.js'
import { SharedRead } from './shared-read.js'
import { StateChain } from './state-chain.js'

/** A wait that lasts reads presence again after this time: a process may have gone, or an announcement may be lost. */
const RECHECK_MS = 250

/** Presence that was read within this time serves a wait as well as a new reading: processes that come announce themselves. */
const FRESH_MS = ANNOUNCE_INTERVAL_MS

/** After an outage of the medium, every live edge has reconnected and announced itself within this time. */
const SETTLED_MS = 2 * ANNOUNCE_INTERVAL_MS

const NOBODY: Presence = { live: [], silent: [] }

type Applied = Pick<LogState, 'revision'> & {
  readonly mark: string | undefined
}
/** `applied` null: the process has ended. */
type Listener = (id: string, applied: Applied | null) => void

/** Answers the marks of those states that the store has been in. */
export type KnownStates = (states: readonly LogState[]) => Promise<ReadonlySet<string>>

/** The message that an edge process publishes once it has applied a revision; `Announcements.receive` reads it. */
export function announcementOf({ id, applied_revision, applied_mark = '' }: OwnPresence): string {
  return `${id} ${applied_revision} ${applied_mark}`
}

/** The second word of what is published for a process that has withdrawn its presence; no revision for programs of the previous version. */
const GONE = 'gone'

export function withdrawalOf(id: string): string {
  return `${id} ${GONE}`
}

/** The presence of edges at a moment, and the marks in it that are of states which the store has been in. */
interface Seen extends Presence {
  readonly known: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  readonly liveIds: ReadonlySet<string>
  readonly readAt: number
}

/** Collects the announcements of edge processes, and waits until all of them have applied a revision. The medium passes them in. */
export class Announcements {
  /** one for all waits: each of many changes a second would otherwise read presence several times */
  readonly #reads: SharedRead<Seen>
  readonly #chain = new StateChain()
  readonly #listeners = new Set<Listener>()
  /** what each process has announced last, since presence was read */
  readonly #announced = new Map<string, Applied>()
  #seen: Seen | null = null

  #away = false
  #backAt = Number.NEGATIVE_INFINITY

  /**
   * @param presence reads which edge processes live, and what each has applied
   * @param notified false: nothing calls `receive`, so that every wait begins with a new reading
   */
  constructor(presence: () => Promise<Presence>, knownStates: KnownStates, notified = true) {
    this.#reads = new SharedRead(async () => {
      const readAt = performance.now()
      const { live, silent } = await presence()
      const all = [...live, ...silent]
      const told = all.map(storedApplied)
      const known = await knownMarks([...told, ...this.#announced.values()], knownStates)
      const seen = {
        live,
        silent,
        known,
        ids: idsOf(all),
        liveIds: idsOf(live),
        readAt,
      }
      for (const id of this.#announced.keys()) if (!seen.ids.has(id)) this.#announced.delete(id)
      if (notified) this.#seen = seen
      return seen
    })
  }

  /** To be called whenever the medium is lost or back: presence that expired meanwhile does not mean that no edge is alive. */
  noteReach(reachable: boolean): void {
    if (reachable && this.#away) this.#backAt = performance.now()
    if (!reachable) this.#seen = null
    this.#away = !reachable
  }

  /** A message that this process publishes or hears: states that follow are recognised without the store. */
  noteChange(message: RevisionMessage): void {
    this.#chain.note(message)
  }

  receive(announcement: string): void {
    const [id = '', revision, mark] = announcement.split(' ')
    const applied = revision === GONE ? null : { revision: Number(revision), mark: mark || undefined }
    // A process that has come, or come back, must be waited for, and one that has ended must not.
    if (applied === null || this.#seen?.liveIds.has(id) === false) this.#seen = null
    if (applied !== null) this.#announced.set(id, applied)
    for (const listener of this.#listeners) listener(id, applied)
  }

  /**
   * Waits until every live edge process has applied a state. Announcements make it fast; reading presence again makes it reliable: a
   * process that dies meanwhile drops out, and a lost announcement is noticed.
   * @param expected processes that count as such too as long as presence does not tell of them
   */
  async awaitApplied(state: LogState, timeoutMs: number, expected: Presence = NOBODY): Promise<Acknowledgement> {
    const deadline = performance.now() + timeoutMs
    const wait = new Wait((applied) => this.#reaches(applied, state))
    this.#listeners.add(wait.listener)
    try {
      for (let rereads = 0; ; rereads++) {
        const seen = rereads === 0 ? await this.#recent() : await this.#reads.read()
        const told = (edges: readonly EdgePresence[]) => edges.filter(({ id }) => !seen.ids.has(id))
        const live = [...seen.live, ...told(expected.live)]
        const silent = [...seen.silent, ...told(expected.silent)]
        for (const edge of [...live, ...silent]) {
          for (const applied of [storedApplied(edge), this.#announced.get(edge.id)]) {
            if (applied === undefined) continue
            if (hasApplied(applied, state, seen.known)) wait.received.set(edge.id, applied)
            else wait.listener(edge.id, applied)
          }
        }
        const recheckAt = Math.min(deadline, performance.now() + RECHECK_MS)
        const settlesIn = this.#backAt + SETTLED_MS - performance.now()
        const confirmed = await wait.until(live, recheckAt)
        if ((confirmed && settlesIn <= 0) || performance.now() >= deadline) {
          const all = [...live, ...silent]
          return {
            confirmed: all.flatMap(wait.confirmation),
            pending: all.filter(({ id }) => !wait.received.has(id)),
          }
        }
        if (confirmed) await pause(Math.min(settlesIn, deadline - performance.now()))
      }
    } finally {
      this.#listeners.delete(wait.listener)
    }
  }

  async #recent(): Promise<Seen> {
    const seen = this.#seen
    return seen !== null && performance.now() - seen.readAt < FRESH_MS ? seen : this.#reads.read()
  }

  /** null: only the store knows whether a later state belongs to this history. */
  #reaches({ revision, mark }: Applied, state: LogState): boolean | null {
    if (mark === undefined || revision <= state.revision) return isState(state, revision, mark)
    return this.#chain.leads(state, { revision, mark }) ? true : null
  }
}

/** Which processes have announced a state, and whether that is all of them. */
class Wait {
  readonly received = new Map<string, Applied>()
  readonly listener: Listener
  #missing: Set<string> | null = null
  #wake = (): void => {}

  /** @param reaches null: not known */
  constructor(reaches: (applied: Applied) => boolean | null) {
    this.listener = (id, applied) => {
      if (this.received.has(id)) return
      const reached = applied === null ? null : reaches(applied)
      if (applied !== null && reached === true) {
        this.received.set(id, applied)
        this.#missing?.delete(id)
      }
      if (reached === null || this.#missing?.size === 0) this.#wake()
    }
  }

  /** An edge as it confirmed: presence may tell of an earlier revision. Nothing for one that has not. */
  readonly confirmation = (edge: EdgePresence): EdgePresence[] => {
    const applied = this.received.get(edge.id)
    if (applied === undefined) return []
    const { revision, mark } = applied
    return [
      {
        ...edge,
        applied_revision: revision,
        ...(mark !== undefined && { applied_mark: mark }),
      },
    ]
  }

  /** Answers whether all of them have, at the latest at this moment. Earlier without them where the store must be asked. */
  async until(live: readonly EdgePresence[], latest: number): Promise<boolean> {
    this.#missing = new Set(live.flatMap(({ id }) => (this.received.has(id) ? [] : [id])))
    if (this.#missing.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, latest - performance.now())
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return this.#missing.size === 0
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function idsOf(edges: readonly EdgePresence[]): ReadonlySet<string> {
  return new Set(edges.map(({ id }) => id))
}

function storedApplied({ applied_revision: revision, applied_mark: mark }: EdgePresence): Applied {
  return { revision, mark }
}

async function knownMarks(all: readonly Applied[], knownStates: KnownStates): Promise<ReadonlySet<string>> {
  const states = new Map(
    all.flatMap(({ revision, mark }) =>
      mark === undefined ? [] : [[`${revision} ${mark}`, { revision, mark }] as const],
    ),
  )
  return states.size === 0 ? new Set() : knownStates([...states.values()])
}

function hasApplied({ revision, mark }: Applied, state: LogState, known: ReadonlySet<string>): boolean {
  return isState(state, revision, mark) || (revision > state.revision && mark !== undefined && known.has(mark))
}

/** A process of the previous version sends no mark, so that its revision has to suffice. */
function isState(state: LogState, revision: number, mark: string | undefined): boolean {
  return mark === undefined ? revision >= state.revision : revision === state.revision && mark === state.mark
}
