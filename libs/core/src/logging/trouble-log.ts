/** The methods of a log that are needed here. */
type Lines = Readonly<Record<'warn' | 'info', (detail: object, text: string) => void>>

/** Minimum time between two lines about one problem. */
const EVERY_MS = 10_000

/**
 * Logs a problem that may occur a thousand times a second. It writes one line when the problem begins, one for each `everyMs` while it continues,
 * with the number of occurrences, and one when it has not occurred for that time.
 */
export class TroubleLog {
  readonly #log: Lines
  readonly #what: string
  readonly #everyMs: number
  #timer: NodeJS.Timeout | null = null
  #since = 0
  #total = 0
  #untold = 0
  #last: object = {}

  /** @param what a clause, as in `requests are answered 503` */
  constructor(log: Lines, what: string, everyMs = EVERY_MS) {
    this.#log = log
    this.#what = what
    this.#everyMs = everyMs
  }

  /** Counts one occurrence. @param detail fields of the next log line, if no later occurrence replaces them */
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

const ofLogs = new WeakMap<object, Map<string, TroubleLog>>()

/**
 * Does the same for callers that keep no trouble log. `log` must live as long as the process, unlike the log of one request.
 *
 * @param what one of a handful of clauses; each is a separate problem
 */
export function noteTrouble(
  log: Lines & Readonly<Record<'error', Lines['warn']>>,
  what: string,
  detail: object,
  level: 'warn' | 'error' = 'warn',
): void {
  const troubles = ofLogs.get(log) ?? new Map<string, TroubleLog>()
  ofLogs.set(log, troubles)
  const trouble = troubles.get(what) ?? new TroubleLog({ warn: log[level].bind(log), info: log.info.bind(log) }, what)
  troubles.set(what, trouble)
  trouble.note(detail)
}
