import type { Log } from '@gateway/core/logging/log.js'
import { TroubleLog } from '@gateway/core/logging/trouble-log.js'
import { ObjectRefused, ObjectStoreTrouble } from '@gateway/core/object-storage/errors.js'

/** Whether a store, and no tile, is what is wrong. */
export function isStorageTrouble(error: unknown): error is ObjectRefused | ObjectStoreTrouble {
  return error instanceof ObjectRefused || error instanceof ObjectStoreTrouble
}

/**
 * Says in the log what cannot be read, and why: a line when it begins, one now and then, one at its end. A broken archive, or a storage that
 * is away, would write as many lines as there are requests for its tiles.
 */
export class ReadTroubles {
  readonly #log: Log
  /** a source or a resource of the catalog, and what is wrong with it: of a handful of kinds each */
  readonly #troubles = new Map<string, TroubleLog>()

  constructor(log: Log) {
    this.#log = log
  }

  /** @param source the scan source whose storage gives no tiles */
  noteStorage(source: string, error: ObjectRefused | ObjectStoreTrouble): void {
    const what =
      error instanceof ObjectRefused
        ? 'the storage of a source refuses requests'
        : 'the storage of a source does not answer'
    this.#note(what, source, { source, err: error.message })
  }

  /**
   * @param what a clause, as in `tiles cannot be read`
   * @param names of the resource, as the catalog has them
   * @param path of the request
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
