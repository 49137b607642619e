import { deserialize, serialize } from 'node:v8'
import { type About, type Answer, type CatalogReader, type Dated, readTimeoutMs, type What } from './catalog-reader.js'

/** A read that a worker requests from its supervisor. Times are of the clock that both share (`HOST_CLOCK_OFFSET`). */
export interface ReadWanted {
  readonly id: number
  readonly what: What
  readonly about: About<What>
  readonly notBefore: number
}

/** `bytes` is null if the read failed. */
export interface ReadAnswer {
  readonly id: number
  readonly bytes: Uint8Array | null
  readonly askedAt: number
  readonly answeredAt: number
  readonly error: string
  /** code of the error, which tells a missing schema from a store that is away */
  readonly code?: string | undefined
}

/** Time in ms for which a result is cached for other workers: by then the slowest has requested it, or reads itself. */
const KEPT_MS = 10_000

interface Kept {
  readonly askedAt: number
  readonly answer: Promise<Dated<Uint8Array>>
}

/** In the supervisor: reads each requested result once, and passes the same bytes to all workers. */
export class HostReads {
  readonly #reader: CatalogReader
  readonly #kept = new Map<string, Kept>()

  constructor(reader: CatalogReader) {
    this.#reader = reader
  }

  /** Returns a reader for this process itself, which shares the results of workers. */
  reader(): CatalogReader {
    return {
      read: async (what, about, notBefore) => {
        const { value, askedAt, answeredAt } = await this.#shared(what, about, notBefore)
        return { value: deserialize(value), askedAt, answeredAt }
      },
    }
  }

  /** Never rejects. */
  async answer({ id, what, about, notBefore }: ReadWanted): Promise<ReadAnswer> {
    try {
      const { value, askedAt, answeredAt } = await this.#shared(what, about, notBefore - HOST_CLOCK_OFFSET)
      const toHost = (at: number) => at + HOST_CLOCK_OFFSET
      return { id, bytes: value, askedAt: toHost(askedAt), answeredAt: toHost(answeredAt), error: '' }
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      return { id, bytes: null, askedAt: 0, answeredAt: 0, error: message, code }
    }
  }

  #shared(what: What, about: About<What>, notBefore: number): Promise<Dated<Uint8Array>> {
    const now = performance.now()
    for (const [key, { askedAt }] of this.#kept) if (now - askedAt > KEPT_MS) this.#kept.delete(key)
    const key = JSON.stringify([what, about])
    const known = this.#kept.get(key)
    if (known !== undefined && known.askedAt >= notBefore) return known.answer
    const answer = this.#read(what, about)
    this.#kept.set(key, { askedAt: now, answer })
    answer.catch(() => {
      if (this.#kept.get(key)?.answer === answer) this.#kept.delete(key)
    })
    return answer
  }

  async #read(what: What, about: About<What>): Promise<Dated<Uint8Array>> {
    const read = await this.#reader.read(what, about, 0)
    return { ...read, value: serialize(read.value) }
  }
}

/**
 * Time in ms that a supervisor may take in addition to a query: if all processes read themselves, a busy machine would suffer more. For
 * the log it is below the default of TOKEN_STALE_SECONDS.
 */
const ANSWER_WITHIN_MS = 2_000
/** Time in ms for which a supervisor that does not answer, or cannot read, is not asked. */
const ALONE_MS = 5_000
/**
 * Number of failures after which workers read themselves: a store that is unreachable for the supervisor usually is for its workers too.
 */
const MAX_FAILURES = 2

/** In a worker: reads through the supervisor, and itself if the supervisor does not answer. */
export class HostReader implements CatalogReader {
  readonly #own: CatalogReader
  readonly #send: (wanted: ReadWanted) => void
  readonly #waiting = new Map<number, (answer: ReadAnswer) => void>()
  #lastId = 0
  #failures = 0
  #aloneUntil = 0

  constructor(own: CatalogReader, send: (wanted: ReadWanted) => void) {
    this.#own = own
    this.#send = send
  }

  hear(answer: ReadAnswer): void {
    this.#waiting.get(answer.id)?.(answer)
    this.#waiting.delete(answer.id)
  }

  async read<W extends What>(what: W, about: About<W>, notBefore: number): Promise<Dated<Answer<W>>> {
    if (performance.now() >= this.#aloneUntil) {
      const answer = await this.#ask(what, about, notBefore)
      if (answer?.bytes != null) {
        this.#failures = 0
        const toOwn = (at: number) => at - HOST_CLOCK_OFFSET
        const value = deserialize(answer.bytes) as Answer<W>
        return { value, askedAt: toOwn(answer.askedAt), answeredAt: toOwn(answer.answeredAt) }
      }
      if (answer !== null && ++this.#failures < MAX_FAILURES)
        throw Object.assign(new Error(answer.error), { code: answer.code })
      this.#aloneUntil = performance.now() + ALONE_MS
    }
    return this.#own.read(what, about, notBefore)
  }

  /** Resolves with null if there is no answer in time. */
  #ask(what: What, about: About<What>, notBefore: number): Promise<ReadAnswer | null> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        resolve(null)
      }, readTimeoutMs(what) + ANSWER_WITHIN_MS)
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      this.#send({ id, what, about, notBefore: notBefore + HOST_CLOCK_OFFSET })
    })
  }
}

/**
 * Offset in ms from `performance.now()` to the clock that all processes of this machine share (CLOCK_MONOTONIC on Linux). That clock is
 * never set, and it stops while the machine is suspended.
 */
export const HOST_CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()
