import type { LogState } from '@gateway/contracts/change.js'
import type { RevisionMessage } from './bus.js'

/** Maximum number of remembered states. A confirmation of an older state is looked up in the store. */
const MAX_STATES = 4_096

/** The latest states of the change log, each with its predecessor, as reported by messages of the bus. */
export class StateChain {
  readonly #next = new Map<string, LogState>()

  note({ revision, mark, previousMark }: Pick<RevisionMessage, 'revision' | 'mark' | 'previousMark'>): void {
    if (mark === undefined || previousMark === undefined) return
    this.#next.set(previousMark, { revision, mark })
    if (this.#next.size > MAX_STATES) this.#next.delete(this.#next.keys().next().value as string)
  }

  /** True if remembered states lead from `state` to `later`. False if they do not, or it is unknown here. */
  leads(state: LogState, later: LogState): boolean {
    let at: LogState | undefined = state
    while (at !== undefined && at.revision < later.revision) at = this.#next.get(at.mark)
    return at?.mark === later.mark
  }
}
