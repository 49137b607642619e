import type { DrawTask } from '@gateway/contracts/drawing.js'
import type { ProcessMetrics } from '../metrics/registry.js'
import type { StartCatalog } from '../offline/start-catalog.js'
import { type Drawn, type FromWorker, REPORT_INTERVAL_MS, type ToWorker } from '../supervisor/messages.js'
import type { CatalogReader } from '../sync/catalog-reader.js'
import { HostReader } from '../sync/host-reads.js'
import type { UsageBatch } from '../usage/usage-counts.js'

/**
 * Time in ms after which this process's own numbers replace the sums, because a scrape must not hang. Longer than the supervisor waits for
 * workers: a scraper would interpret own numbers as a restart.
 */
const TOTALS_TIMEOUT_MS = 4_000
/** Time in ms for reading and checking the catalog of a hundred thousand versions, which takes a second or two. */
const KEPT_TIMEOUT_MS = 10_000
/** Intervals after which an idle process reports again. Its reports before that would say nothing new. */
const IDLE_REPORTS = 15
/** Time in ms in which a living supervisor always answers. */
const USAGE_TIMEOUT_MS = 2_000

/** A worker's end of the channel to its supervisor. The worker ends with the channel. */
export class SupervisorLink {
  #metrics: ProcessMetrics | null = null
  #giveNotice: () => void = () => {}
  #reader: HostReader | null = null
  #hearKept: (kept: StartCatalog | null) => void = () => {}
  /** Callbacks of the usage messages that the supervisor has not confirmed, in their order. */
  readonly #usageSent: (() => void)[] = []
  #withdraw: (ids: readonly string[]) => void = () => {}
  #drain: () => void = () => {}
  #noticed = false
  #draining = false
  #open = false
  #lastId = 0
  readonly #waiting = new Map<number, (text: string) => void>()

  readonly #pictures = new Map<number, (drawn: Drawn) => void>()

  constructor() {
    process.on('message', (message) => this.#hear(message as ToWorker))
    process.once('disconnect', () => this.#drainOnce())
    // The supervisor may have died while this process was loading, before it listened for the disconnect.
    if (process.connected === false) this.#drainOnce()
  }

  /** `giveNotice` is called once, when the supervisor is about to ask this process to finish. */
  onNotice(giveNotice: () => void): void {
    this.#giveNotice = giveNotice
    if (this.#noticed) giveNotice()
  }

  /** `drain` is called once, when the supervisor asks this process to finish, or has died. */
  onDrain(drain: () => void): void {
    this.#drain = drain
    if (this.#draining) drain()
  }

  /** True if the supervisor allows this process to report that it is ready. */
  get open(): boolean {
    return this.#open
  }

  /** @param presenceId id with which this process announces itself on the bus */
  loaded(presenceId: string): void {
    this.#send({ kind: 'loaded', presenceId })
  }

  /** Reports that this process has withdrawn its presence, so that the supervisor need not. */
  withdrawn(): void {
    this.#send({ kind: 'withdrawn' })
  }

  /** Returns a reader through the supervisor, which reads once for all processes, and through `own` if the supervisor does not answer. */
  reader(own: CatalogReader): CatalogReader {
    this.#reader = new HostReader(own, (wanted) => this.#send({ kind: 'read_wanted', wanted }))
    return this.#reader
  }

  /**
   * Returns the state kept for a start without the store, which the supervisor reads once for all processes; null also if it does not
   * answer.
   */
  kept(): Promise<StartCatalog | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, KEPT_TIMEOUT_MS, null)
      this.#hearKept = (kept) => {
        clearTimeout(timer)
        resolve(kept)
      }
      this.#send({ kind: 'kept_wanted' })
    })
  }

  /** @param digest hex SHA-256 of the plaintext; null: all tokens */
  tokenForgotten(digest: string | null): void {
    this.#send({ kind: 'token_forgotten', digest })
  }

  /** `withdraw` is called with the presence ids of processes that have ended without withdrawing them. */
  onWithdraw(withdraw: (ids: readonly string[]) => void): void {
    this.#withdraw = withdraw
  }

  listening(): void {
    this.#send({ kind: 'listening' })
  }

  /** Must be called directly before this process ends: the process would wait for threads that hang, and the supervisor does not. */
  ending(): void {
    this.#send({ kind: 'ending' })
  }

  /** @param requests returns the number of requests so far: an idle process reports only every IDLE_REPORTS intervals */
  report(metrics: ProcessMetrics, requests: () => number): void {
    this.#metrics = metrics
    let reported = -1
    let skipped = 0
    setInterval(() => {
      const now = requests()
      if (now === reported && ++skipped < IDLE_REPORTS) return
      reported = now
      skipped = 0
      void this.#sendReport()
    }, REPORT_INTERVAL_MS).unref()
  }

  /** Returns the exposition text of all processes; rejects if the supervisor does not answer in time. */
  totals(): Promise<string> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new Error('the supervisor did not answer in time'))
      }, TOTALS_TIMEOUT_MS)
      this.#waiting.set(id, (text) => {
        clearTimeout(timer)
        resolve(text)
      })
      this.#send({ kind: 'totals_wanted', id })
    })
  }

  /** Returns a picture that the renderer of this host has drawn, whose limits end every wait. */
  draw(task: DrawTask, caller: string): Promise<Drawn> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#pictures.set(id, resolve)
      this.#send({ kind: 'picture_wanted', id, caller, task })
    })
  }

  /** Sends the usage of this process. Resolves when the supervisor has it, or does not exist any more. */
  sendUsage(batch: UsageBatch): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, process.connected ? USAGE_TIMEOUT_MS : 0)
      this.#usageSent.push(() => {
        clearTimeout(timer)
        resolve()
      })
      this.#send({ kind: 'usage', batch })
    })
  }

  /** Sends the metrics counted so far. */
  async sendReport(): Promise<void> {
    await this.#sendReport()
  }

  #hear(message: ToWorker) {
    switch (message.kind) {
      case 'notice':
        this.#noticed = true
        return this.#giveNotice()
      case 'drain':
        return this.#drainOnce()
      case 'open':
        this.#open = true
        return
      case 'read':
        return this.#reader?.hear(message.answer)
      case 'kept':
        return this.#hearKept(message.kept)
      case 'withdraw':
        return this.#withdraw(message.presenceIds)
      case 'picture':
        this.#pictures.get(message.id)?.(message.drawn)
        this.#pictures.delete(message.id)
        return
      case 'usage_taken':
        return this.#usageSent.shift()?.()
      case 'report_wanted':
        return void this.#sendReport()
      case 'totals':
        this.#waiting.get(message.id)?.(message.text)
        this.#waiting.delete(message.id)
    }
  }

  async #sendReport(): Promise<void> {
    if (this.#metrics !== null) this.#send({ kind: 'report', report: await this.#metrics.report() })
  }

  #drainOnce(): void {
    if (this.#draining) return
    this.#draining = true
    this.#drain()
  }

  #send(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  }
}
