import type { Log } from './log.js'

/** Limit: lines about one trouble, whatever happens in between. */
const EVERY_MS = 10_000

/**
 * Lines about something that may happen a thousand times a second while it lasts: one when it begins, one for each `everyMs` in which it
 * goes on, with the number of times, and one when it has not happened for as long.
 */
export class TroubleLog {
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #what: string
  readonly #everyMs: number
  #timer: NodeJS.Timeout | null = null
  #since = 0
  #total = 0
  #untold = 0
  #last: object = {}

  /** @param what a clause, as in `requests are answered 503` */
  constructor(log: Pick<Log, 'warn' | 'info'>, what: string, everyMs = EVERY_MS) {
    this.#log = log
    this.#what = what
    this.#everyMs = everyMs
  }

  /** Counts one occurrence. @param detail fields of the log line, if this is the last one before it */
  note(detail: object): void {
    this.#total++
    this.#last = detail
    if (this.#timer !== null) {
      this.#untold++
      return
    }
    this.#since = performance.now()
    this.#log.warn(detail, this.#what)
    this.#timer = setInterval(() => this.#look(), this.#everyMs).unref()
  }

  #look(): void {
    if (this.#untold > 0) {
      this.#log.warn({ ...this.#last, times: this.#untold }, `${this.#what}, still`)
      this.#untold = 0
      return
    }
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    const seconds = Math.round((performance.now() - this.#since) / 1000)
    this.#log.info({ times: this.#total, seconds }, `${this.#what}: no more`)
    this.#total = 0
  }
}
