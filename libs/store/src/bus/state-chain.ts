import type { LogState } from '@gateway/contracts/change.js'
import type { RevisionMessage } from './bus.js'

/** Limit: states that are remembered; a confirmation of an older one is looked up in the store. */
const MAX_STATES = 4_096

/** The latest states of the change log, each with the one that it went on from, as messages of the bus tell. */
export class StateChain {
  readonly #next = new Map<string, LogState>()

  note({ revision, mark, previousMark }: Pick<RevisionMessage, 'revision' | 'mark' | 'previousMark'>): void {
    if (mark === undefined || previousMark === undefined) return
    this.#next.set(previousMark, { revision, mark })
    if (this.#next.size > MAX_STATES) this.#next.delete(this.#next.keys().next().value as string)
  }

  /** Whether `later` goes on from `state` by remembered states. false: it does not, or that is not known here. */
  leads(state: LogState, later: LogState): boolean {
    let at: LogState | undefined = state
    while (at !== undefined && at.revision < later.revision) at = this.#next.get(at.mark)
    return at?.mark === later.mark
  }
}
