import type { LogState } from '@gateway/contracts/change.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { Presence } from '@gateway/store/edge-presence.js'
import { type Acknowledgement, ANNOUNCE_INTERVAL_MS, type OwnPresence, type RevisionMessage } from './bus.js'
import { SharedRead } from './shared-read.js'
import { StateChain } from './state-chain.js'

/** Interval at which a wait reads presence again: a process may have ended, or an announcement may be lost. */
const RECHECK_MS = 250

/** Age up to which presence need not be read again for a wait: new processes announce themselves. */
const FRESH_MS = ANNOUNCE_INTERVAL_MS

/** Time after an outage of the bus within which every live edge has reconnected and announced itself. */
const SETTLED_MS = 2 * ANNOUNCE_INTERVAL_MS

const NOBODY: Presence = { live: [], silent: [] }

type Applied = Pick<LogState, 'revision'> & {
  readonly mark: string | undefined
}
/** `applied` null: the process has ended. */
type Listener = (id: string, applied: Applied | null) => void

/** Returns the marks of those states that the store has been in. */
export type KnownStates = (states: readonly LogState[]) => Promise<ReadonlySet<string>>

/** Formats the message that an edge process publishes after it has applied a revision. `Announcements.receive` reads it. */
export function announcementOf({ id, applied_revision, applied_mark = '' }: OwnPresence): string {
  return `${id} ${applied_revision} ${applied_mark}`
}

/** Second word of the message of a process that has withdrawn its presence. The previous version does not read it as a revision. */
const GONE = 'gone'

export function withdrawalOf(id: string): string {
  return `${id} ${GONE}`
}

/** The presence of edges at one moment, and its marks of states that the store has been in. */
interface Seen extends Presence {
  readonly known: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
  readonly liveIds: ReadonlySet<string>
  readonly readAt: number
}

/** Collects the announcements of edge processes, which the bus passes in, and waits until all of them have applied a revision. */
export class Announcements {
  /** shared by all waits: with many changes a second, each wait would otherwise read presence several times */
  readonly #reads: SharedRead<Seen>
  readonly #chain = new StateChain()
  readonly #listeners = new Set<Listener>()
  /** last announcement of each process since presence was read */
  readonly #announced = new Map<string, Applied>()
  #seen: Seen | null = null

  #away = false
  #backAt = Number.NEGATIVE_INFINITY

  /**
   * @param presence reads the live edge processes and the state that each has applied
   * @param notified false if nothing calls `receive`; every wait then begins with a new reading
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

  /** Must be called whenever the bus is lost or back. Presence that expired meanwhile does not mean that no edge is alive. */
  noteReach(reachable: boolean): void {
    if (reachable && this.#away) this.#backAt = performance.now()
    if (!reachable) this.#seen = null
    this.#away = !reachable
  }

  /** Notes a message that this process publishes or receives. Later states are then recognised without the store. */
  noteChange(message: RevisionMessage): void {
    this.#chain.note(message)
  }

  receive(announcement: string): void {
    const [id = '', revision, mark] = announcement.split(' ')
    const applied = revision === GONE ? null : { revision: Number(revision), mark: mark || undefined }
    // A wait must include a process that has just started, and must not include one that has ended.
    if (applied === null || this.#seen?.liveIds.has(id) === false) this.#seen = null
    if (applied !== null) this.#announced.set(id, applied)
    for (const listener of this.#listeners) listener(id, applied)
  }

  /**
   * Waits until every live edge process has applied a state. Announcements make it fast. Repeated reading of presence makes it reliable: a
   * process that dies meanwhile drops out, and a lost announcement is noticed.
   * @param expected processes that also count, as long as presence does not include them
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
    const ageMs = seen === null ? FRESH_MS : performance.now() - seen.readAt
    // A silent process may have returned through the store, which sends no message. It would be reported as pending without being waited for.
    if (seen === null || seen.silent.length > 0 || ageMs >= FRESH_MS) return this.#reads.read()
    // Read ahead for later waits: with hundreds of edges a reading takes longer than their confirmations.
    if (ageMs >= FRESH_MS / 2) this.#reads.read().catch(() => {})
    return seen
  }

  /** Returns null if only the store knows whether a later state belongs to this history. */
  #reaches({ revision, mark }: Applied, state: LogState): boolean | null {
    if (mark === undefined || revision <= state.revision) return isState(state, revision, mark)
    return this.#chain.leads(state, { revision, mark }) ? true : null
  }
}

/** Tracks which processes have announced a state. */
class Wait {
  readonly received = new Map<string, Applied>()
  readonly listener: Listener
  #missing: Set<string> | null = null
  #wake = (): void => {}

  /** @param reaches returns null if it is unknown */
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

  /** Returns an edge with the revision that it confirmed, since presence may report an earlier one. Empty for an edge that has not confirmed. */
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

  /** Resolves to true once all edges have confirmed, and to false at `latest`, or earlier if the store must be asked. */
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

/** A process of the previous version sends no mark, so only its revision is compared. */
function isState(state: LogState, revision: number, mark: string | undefined): boolean {
  return mark === undefined ? revision >= state.revision : revision === state.revision && mark === state.mark
}
