import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { ObjectRefused, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'

/** True if the fault is that of a store, not of a tile. */
export function isStorageTrouble(error: unknown): error is ObjectRefused | ObjectStoreTrouble {
  return error instanceof ObjectRefused || error instanceof ObjectStoreTrouble
}

/**
 * Logs which content cannot be read, and why: a line when a fault begins, one periodically, and one at its end. A broken archive, or an
 * unreachable storage, would otherwise log a line for each request for its tiles.
 */
export class ReadTroubles {
  readonly #log: Log
  /** Keyed by a source or a resource of the catalog, and its fault: of a handful of kinds each. */
  readonly #troubles = new Map<string, TroubleLog>()

  constructor(log: Log) {
    this.#log = log
  }

  /** @param source scan source whose storage returns no tiles */
  noteStorage(source: string, error: ObjectRefused | ObjectStoreTrouble): void {
    const what =
      error instanceof ObjectRefused
        ? 'the storage of a source refuses requests'
        : 'the storage of a source does not answer'
    this.#note(what, source, { source, err: error.message })
  }

  /**
   * @param what a clause, as in `tiles cannot be read`
   * @param names names of the resource in the catalog
   * @param path path of the request
   */
  noteContent(what: string, names: Record<string, string>, path: string, err: unknown): void {
    this.#note(what, Object.values(names).join('/'), { ...names, path, err })
  }

  #note(what: string, where: string, detail: object): void {
    const key = `${what} ${where}`
    const trouble = this.#troubles.get(key) ?? new TroubleLog(this.#log, what)
    this.#troubles.set(key, trouble)
    trouble.note(detail)
  }
}
