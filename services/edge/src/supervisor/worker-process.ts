import { KillableChild } from '@gateway/core/processes/killable-child.js'
import { edgeEnvironment, unlessSet, withThreadPool } from '@gateway/core/settings/child-environment.js'
import type { FromWorker, ToWorker } from './messages.js'

/**
 * Limit of the HTTP server for one request's head, in bytes, by the name of the variable that it reads at its start. Its default of 4 KB is
 * less than a few cookies and a long address need, and would cause 431 before the edge could return 414.
 */
const HEAD_LIMIT = { UWS_HTTP_MAX_HEADERS_SIZE: '32768' }

/**
 * Number of threads for disk access, unless the operator has set it: enough that three sources that hang leave some to the others
 * (disk-gate.ts). Unused threads cost no memory, and used ones little.
 */
const THREADS = 32

/**
 * Makes glibc request huge pages: tiles in memory then cost the processor fewer page-table misses, some 3 % of a request (measured with 60
 * MB of tiles). Other C libraries ignore it.
 */
const HUGE_PAGES = ['GLIBC_TUNABLES', 'glibc.malloc.hugetlb=1'] as const

const MODULE = new URL('../worker.js', import.meta.url)

/**
 * Sizes of the heap in MB. In V8's own 1 MB for new objects, rows of the catalog look long-lived while they are read: with 15,000 versions a worker
 * then peaks at 145 instead of 119 MB. Its own size for old objects makes it mark the heap seven times meanwhile, which takes a quarter of the
 * processor time of a start. Later it would collect after each 12 MB of buffers, each time for 25 ms in which no tile is sent; the heap may double
 * before that.
 */
const HEAP = ['--min-semi-space-size=2', '--initial-old-space-size=56', '--heap-growing-percent=100']

export interface WorkerEvents {
  message(worker: WorkerProcess, message: FromWorker): void
  /** Called when it does not turn its event loop. */
  silent(worker: WorkerProcess): void
  ended(worker: WorkerProcess, how: string): void
}

/** One worker process of this edge, from its start to its end. */
export class WorkerProcess {
  /** Slot of the worker, from 0. */
  readonly slot: number
  readonly #child: KillableChild<FromWorker>

  constructor(slot: number, events: WorkerEvents) {
    this.slot = slot
    this.#child = new KillableChild<FromWorker>(
      {
        module: MODULE,
        nodeOptions: [...process.execArgv, ...HEAP],
        env: edgeEnvironment({ ...HEAD_LIMIT, ...unlessSet(...HUGE_PAGES), ...withThreadPool(THREADS) }),
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        endsWithParent: null,
      },
      {
        message: (message) => events.message(this, message),
        silent: () => events.silent(this),
        ended: (how) => events.ended(this, how),
      },
    )
  }

  get startedAtMs(): number {
    return this.#child.startedAtMs
  }

  get pid(): number {
    return this.#child.pid
  }

  get ended(): boolean {
    return this.#child.hasEnded
  }

  /** Does nothing after the worker has ended. */
  send(message: ToWorker): void {
    this.#child.send(message)
  }

  kill(): void {
    this.#child.process.kill('SIGKILL')
  }

  killUnlessEndedIn(ms: number): void {
    const timer = setTimeout(() => this.kill(), ms)
    this.#child.process.once('exit', () => clearTimeout(timer))
  }
}
