import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@gateway/core/logging/log.js'
import { isReady } from '@gateway/core/processes/readiness.js'
import { failuresInARow, type RestartPolicy, restartDelayMs } from '@gateway/core/processes/restart-policy.js'
import { controlPlaneUrl, type Settings, trustSeconds } from '@gateway/core/settings/load.js'
import { openStore } from '@gateway/store/connect.js'
import { exposition, Totals } from '../metrics/totals.js'
import { CatalogKeeper } from '../offline/catalog-keeper.js'
import { KeptFile } from '../offline/kept-file.js'
import { type StartCatalog, startCatalog } from '../offline/start-catalog.js'
import { ownVersion } from '../own-version.js'
import { StoreReader } from '../sync/catalog-reader.js'
import { HostReads, type ReadWanted } from '../sync/host-reads.js'
import { ReplicaReads } from '../sync/replica-reads.js'
import { replicaLink, StoreLink } from '../sync/store-link.js'
import { usageRows } from '../usage/usage-counts.js'
import { UsageSaver } from '../usage/usage-saver.js'
import type { FromWorker } from './messages.js'
import { openConnections } from './open-connections.js'
import { Renderer } from './renderer.js'
import { withdrawPresences } from './withdraw-presences.js'
import { WorkerProcess } from './worker-process.js'

/**
 * Time in ms after which a worker that does not answer is counted by its last report. Far less than the time-out of a scrape (Prometheus: 10
 * s), and more than the delay of a healthy worker on a busy machine.
 */
const REPORT_WAIT_MS = 2_000
/** Time in ms in addition to the drain, for closing the store and the bus. */
const STOP_GRACE_MS = 3_000

/**
 * Time in ms that a worker may take to end after it has announced that. It waits for its threads, one of which may hang in a read of a dead
 * mount.
 */
const END_WITHIN_MS = 1_000

/**
 * Time in ms that a starting edge waits for all of its workers, and for the control plane, before it becomes ready, so that the whole
 * interface is available. Longer than a control plane waits for its first scans. An edge without a control plane must serve its tiles
 * nevertheless.
 */
const READY_TOGETHER_MS = 15_000

/** Time in ms for the store to accept the remaining usage when this edge ends. */
const USAGE_WITHIN_MS = 3_000

/** Time in ms for which the kept state stays in memory for the other workers. */
const KEPT_SHARED_MS = 2_000

/** Connections for reading the log, and pages for workers that start or follow: rarely more at a time. */
const READING_CONNECTIONS = 2

/** A worker is replaced at once, unless workers of its slot die repeatedly directly after their start. */
const RESTARTS: RestartPolicy = { soundAfterMs: 5_000, freeRestarts: 3, firstDelayMs: 250, longestDelayMs: 10_000 }

/** Keeps EDGE_WORKERS worker processes running, and sums up their metrics. */
export class Supervisor {
  readonly #settings: Settings
  readonly #log: Log
  readonly #startedAtMs = performance.now()
  readonly #totals = new Totals()
  readonly #workers = new Map<number, WorkerProcess>()
  readonly #failures = new Map<number, number>()
  readonly #keys = new Map<WorkerProcess, number>()
  #lastKey = 0
  #restarts = 0
  readonly #listening = new Set<WorkerProcess>()
  /** Ids with which workers that have read their catalog announce themselves. */
  readonly #presences = new Map<WorkerProcess, string>()
  /** Ids of processes that have ended, to be withdrawn from the bus. */
  #endedPresences: string[] = []
  readonly #store: StoreLink
  readonly #replica: StoreLink | null
  readonly #reads: HostReads
  readonly #keptFile: KeptFile
  readonly #keeper: CatalogKeeper
  readonly #usage: UsageSaver
  readonly #renderer = new Renderer()
  #kept: Promise<StartCatalog | null> | null = null
  #open = false
  #stopping = false
  #wake: () => void = () => {}

  constructor(settings: Settings, log: Log) {
    this.#settings = settings
    this.#log = log
    const databaseUrl = settings.databaseUrl as string
    this.#store = new StoreLink(
      () => openStore(databaseUrl, { applicationName: 'gateway-edge-reader', maxConnections: READING_CONNECTIONS }),
      () => {},
    )
    this.#replica = replicaLink(settings, 'gateway-edge-reader', READING_CONNECTIONS)
    const rows = new ReplicaReads({
      primary: this.#store,
      replica: this.#replica,
      known: () => reader.newest,
      counts: { replicaReads: 0, replicaBehind: 0, replicaFailed: 0 },
      log,
    })
    const reader: StoreReader = new StoreReader(this.#store, rows)
    this.#reads = new HostReads(reader)
    this.#usage = new UsageSaver(databaseUrl, log)
    this.#keptFile = new KeptFile(path.join(settings.dataDir, 'cache', 'catalog'), databaseUrl, ownVersion())
    this.#keeper = new CatalogKeeper({
      file: this.#keptFile,
      // A single worker reads itself, so that nothing would be shared.
      reader: settings.edgeWorkers > 1 ? this.#reads.reader() : reader,
      store: this.#store,
      trustMs: trustSeconds(settings) * 1000,
      log,
    })
  }

  start(): void {
    for (let slot = 0; slot < this.#settings.edgeWorkers; slot++) this.#launch(slot)
    void this.#openTogether()
  }

  /**
   * Reports this edge as not ready for `noticeMs`, then lets every worker finish its requests; resolves when all have ended.
   * @param hurried ends the notice early
   */
  async stop(noticeMs: number, hurried: AbortSignal): Promise<void> {
    this.#stopping = true
    for (const worker of this.#workers.values()) worker.send({ kind: 'notice' })
    await sleep(noticeMs, undefined, { signal: hurried }).catch(() => {})
    for (const worker of this.#workers.values()) worker.send({ kind: 'drain' })
    const deadline = performance.now() + this.#settings.drainSeconds * 1000 + STOP_GRACE_MS
    while (this.#workers.size > 0 && performance.now() < deadline) await this.#nextEvent(deadline - performance.now())
    for (const worker of this.#workers.values()) {
      this.#log.warn({ worker: worker.pid }, 'a worker did not end in time and is killed')
      worker.kill()
    }
    while (this.#workers.size > 0) await this.#nextEvent(STOP_GRACE_MS)
    this.#renderer.close()
    await Promise.all([this.#keeper.stop(), this.#usage.stop(USAGE_WITHIN_MS), this.#withdrawLast()])
    await Promise.all([this.#store.close(), this.#replica?.close()])
  }

  #launch(slot: number): void {
    const worker = new WorkerProcess(slot, {
      message: (from, message) => this.#hear(from, message),
      silent: (which) => {
        this.#log.error({ worker: which.pid }, 'the event loop of a worker is blocked; the worker is killed')
        which.kill()
      },
      ended: (which, how) => this.#ended(which, how),
    })
    this.#keys.set(worker, ++this.#lastKey)
    this.#workers.set(slot, worker)
    if (this.#open) worker.send({ kind: 'open' })
  }

  /** Later workers replace others, and become ready on their own: an outage must not take the others out of service. */
  async #openTogether(): Promise<void> {
    const deadline = performance.now() + READY_TOGETHER_MS
    const controlPlane = controlPlaneReady(controlPlaneUrl(this.#settings), deadline, () => this.#stopping)
    const waiting = () =>
      this.#listening.size < this.#settings.edgeWorkers && performance.now() < deadline && !this.#stopping
    while (waiting()) await this.#nextEvent(deadline - performance.now())
    await controlPlane
    this.#open = true
    for (const worker of this.#workers.values()) worker.send({ kind: 'open' })
  }

  #hear(worker: WorkerProcess, message: FromWorker) {
    switch (message.kind) {
      case 'beat':
        return
      case 'listening':
        this.#listening.add(worker)
        if (this.#listening.size === this.#settings.edgeWorkers) this.#logListening()
        return this.#wake()
      case 'loaded':
        this.#presences.set(worker, message.presenceId)
        this.#keeper.start()
        return this.#withdrawEnded()
      case 'withdrawn':
        this.#presences.delete(worker)
        return
      case 'read_wanted':
        return void this.#read(worker, message.wanted)
      case 'kept_wanted':
        return void this.#sendKept(worker)
      case 'token_forgotten':
        return this.#keeper.forgetToken(message.digest)
      case 'report':
        if (worker.ended) return
        this.#totals.keep(this.#keys.get(worker) ?? 0, message.report)
        return this.#wake()
      case 'usage':
        this.#usage.add(usageRows(message.batch), message.batch.isUrgent)
        return worker.send({ kind: 'usage_taken' })
      case 'picture_wanted':
        return void this.#draw(worker, message)
      case 'ending':
        return worker.killUnlessEndedIn(END_WITHIN_MS)
      case 'totals_wanted':
        void this.#answerTotals(worker, message.id)
    }
  }

  #logListening(): void {
    const { apiHost, apiPort, edgeWorkers } = this.#settings
    this.#log.info({ host: apiHost, port: apiPort, workers: edgeWorkers }, 'the edge listens')
  }

  #ended(worker: WorkerProcess, how: string): void {
    void this.#totals.retire(this.#keys.get(worker) ?? 0)
    this.#keys.delete(worker)
    const presenceId = this.#presences.get(worker)
    if (presenceId !== undefined) this.#endedPresences.push(presenceId)
    this.#presences.delete(worker)
    this.#listening.delete(worker)
    this.#workers.delete(worker.slot)
    this.#withdrawEnded()
    this.#wake()
    if (this.#stopping) return
    const failures = failuresInARow(
      this.#failures.get(worker.slot) ?? 0,
      performance.now() - worker.startedAtMs,
      RESTARTS,
    )
    this.#failures.set(worker.slot, failures)
    const delay = restartDelayMs(failures, RESTARTS)
    this.#log.error({ worker: worker.pid, how, restartInMs: delay }, 'a worker ended and is replaced')
    this.#restarts++
    setTimeout(() => {
      if (!this.#stopping) this.#launch(worker.slot)
    }, delay)
  }

  async #read(asker: WorkerProcess, wanted: ReadWanted): Promise<void> {
    asker.send({ kind: 'read', answer: await this.#reads.answer(wanted) })
  }

  async #draw(
    asker: WorkerProcess,
    { id, caller, task }: Extract<FromWorker, { kind: 'picture_wanted' }>,
  ): Promise<void> {
    asker.send({ kind: 'picture', id, drawn: await this.#renderer.draw(task, caller) })
  }

  /** Workers that start together share one reading of the file. */
  async #sendKept(asker: WorkerProcess): Promise<void> {
    const reading = this.#kept ?? startCatalog(this.#keptFile, trustSeconds(this.#settings) * 1000, this.#log)
    this.#kept = reading
    asker.send({ kind: 'kept', kept: await reading })
    await sleep(KEPT_SHARED_MS, undefined, { ref: false })
    if (this.#kept === reading) this.#kept = null
  }

  /** Makes living workers withdraw the presence of those that have ended: all of them, since one may end before it has done so. */
  #withdrawEnded(): void {
    // Workers that stop may end before they have done it.
    if (this.#stopping || this.#presences.size === 0 || this.#endedPresences.length === 0) return
    for (const living of this.#presences.keys()) living.send({ kind: 'withdraw', presenceIds: this.#endedPresences })
    this.#endedPresences = []
  }

  /**
   * Withdraws the presence of processes that ended after the last one that could do it. Otherwise disables would report them as pending for
   * TOKEN_OFFLINE_SECONDS.
   */
  async #withdrawLast(): Promise<void> {
    const ids = this.#endedPresences
    if (ids.length === 0) return
    await withdrawPresences(this.#store.sql, this.#settings.redisUrl, ids).catch((error: Error) =>
      this.#log.warn(
        { err: error.message, processes: ids.length },
        'the presence of ended processes cannot be withdrawn',
      ),
    )
  }

  async #answerTotals(asker: WorkerProcess, id: number): Promise<void> {
    const [connections] = await Promise.all([openConnections(this.#settings.apiPort), this.#freshReports()])
    const text = await this.#totals.text([
      exposition('gauge', 'gateway_uptime_seconds', 'Seconds since this edge started', this.#uptimeSeconds()),
      exposition('gauge', 'gateway_edge_processes', 'Worker processes of this edge', this.#workers.size),
      exposition(
        'counter',
        'gateway_edge_restarts_total',
        'Worker processes that ended and were replaced',
        this.#restarts,
      ),
      exposition(
        'gauge',
        'gateway_kept_catalog_age_seconds',
        'Seconds for which the catalog on disk has not been known to be the newest',
        this.#keeper.ageMs / 1000,
      ),
      ...(connections === null
        ? []
        : [exposition('gauge', 'gateway_open_connections', 'Open connections of clients', connections)]),
    ])
    asker.send({ kind: 'totals', id, text })
  }

  /** Requests reports from all workers, and waits until each has reported or the time-out. */
  async #freshReports(): Promise<void> {
    const asked = new Set([...this.#workers.values()])
    const before = new Map([...asked].map((worker) => [worker, this.#totals.reportsOf(this.#keys.get(worker) ?? 0)]))
    for (const worker of asked) worker.send({ kind: 'report_wanted' })
    const deadline = performance.now() + REPORT_WAIT_MS
    const missing = () =>
      [...asked].some((w) => !w.ended && this.#totals.reportsOf(this.#keys.get(w) ?? 0) === before.get(w))
    while (missing() && performance.now() < deadline) await this.#nextEvent(deadline - performance.now())
  }

  #uptimeSeconds(): number {
    return (performance.now() - this.#startedAtMs) / 1000
  }

  /** Resolves at the next report or end of a worker, or after `ms`. */
  #nextEvent(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const before = this.#wake
      const timer = setTimeout(resolve, Math.max(0, ms))
      this.#wake = () => {
        clearTimeout(timer)
        this.#wake = before
        before()
        resolve()
      }
    })
  }
}

const ASK_AGAIN_MS = 100

/** Resolves once the control plane is ready, or at the deadline, or if `givenUp` returns true. */
async function controlPlaneReady(url: string, deadline: number, givenUp: () => boolean): Promise<void> {
  while (performance.now() < deadline && !givenUp()) {
    // Does not use `fetch`, whose first use takes a sixth of the processor time of this process's start.
    if (await isReady(`${url}/ready`)) return
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
  }
}
