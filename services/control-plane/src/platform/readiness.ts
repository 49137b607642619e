import type { CodedMessage } from '@gateway/contracts/messages.js'

/** Limit: time in ms after which the process reports ready in any case; a start must not depend on the size of a catalog. */
const LONGEST_WAIT_MS = 10_000

/** Work at the start that must be done before the process reports ready, so that its first clients find the result. */
export class Readiness {
  #outstanding: CodedMessage | null

  /** @param outstanding description of the outstanding work, for the response of the readiness probe */
  constructor(outstanding: CodedMessage) {
    this.#outstanding = outstanding
    setTimeout(() => this.finish(), LONGEST_WAIT_MS).unref()
  }

  /** null if all work is done */
  get outstanding(): CodedMessage | null {
    return this.#outstanding
  }

  finish(): void {
    this.#outstanding = null
  }
}
