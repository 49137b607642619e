/** Limit: what is not scanned by then is scanned while requests are answered; a start must not depend on how large a catalog is. */
export const FIRST_SCANS_MS = 10_000

/**
 * Whether the configured sources have been scanned once since the start. Until then the process does not call itself ready, so that who waits
 * for that finds the catalog of the directories that were configured, and no scan in the way.
 */
export class FirstScans {
  #over = false

  get over(): boolean {
    return this.#over
  }

  /** They are done, or nobody waits for them any longer. */
  end(): void {
    this.#over = true
  }
}
