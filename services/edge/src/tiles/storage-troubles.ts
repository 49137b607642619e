import type { Log } from '@gateway/logging/log.js'
import { TroubleLog } from '@gateway/logging/trouble-log.js'
import { ObjectRefused, ObjectStoreTrouble } from '@gateway/object-storage/errors.js'

/** Whether a store, and no tile, is what is wrong. */
export function isStorageTrouble(error: unknown): error is ObjectRefused | ObjectStoreTrouble {
  return error instanceof ObjectRefused || error instanceof ObjectStoreTrouble
}

/** Says in the log which scan source's storage does not give its tiles, and why: a line when it begins, one now and then, one at its end. */
export class StorageTroubles {
  readonly #log: Log
  readonly #troubles = new Map<string, TroubleLog>()

  constructor(log: Log) {
    this.#log = log
  }

  note(source: string, error: ObjectRefused | ObjectStoreTrouble): void {
    const what =
      error instanceof ObjectRefused
        ? 'the storage of a source refuses requests'
        : 'the storage of a source does not answer'
    const key = `${error.name} ${source}`
    const trouble = this.#troubles.get(key) ?? new TroubleLog(this.#log, what)
    this.#troubles.set(key, trouble)
    trouble.note({ source, err: error.message })
  }
}
