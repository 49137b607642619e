import type { Log } from '@gateway/core/logging/log.js'

/**
 * Limits, as fractions of the process's threads for file calls: for one root, so that a mount that hangs leaves threads to the others; and for all
 * roots, so that some threads are left for closing, unpacking and names even if several mounts hang.
 */
const PART_OF_ONE = 1 / 4
const PART_OF_ALL = 3 / 4
/**
 * Limit: reads of one root that wait for their turn. More than the connections that return together after a restart, each with a tile that was not
 * requested before; reads that a disk does not complete within DISK_LIMIT_MS are refused then.
 */
const MAX_WAITING = 16_384
/** Limit: time in ms from the call to the result, waiting included; then the result is `busy`. Far more than a working disk needs. */
export const DISK_LIMIT_MS = 10_000

/** Reads in threads of the pool, in any number of steps, one at a time. */
export interface DiskWork<T> {
  read(): Promise<T>
  /** Disposes of the result of `read` that arrives after the time limit. */
  discard?(late: T): void
  /** Called directly before `read`; false drops the read. */
  isWanted?(): boolean
}

/** `busy`: the disk did not answer in time, or too many reads wait for it. `unwanted`: the read was dropped. */
export type DiskOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: 'busy' | 'unwanted' }

interface Lane {
  running: number
  /** Number of the running reads that exceed their time. */
  stuck: number
  /** In the order of their arrival. */
  readonly waiting: Set<Waiting>
}

interface Waiting {
  isWanted(): boolean
  begin(): void
  /** Called instead of `begin`. */
  drop(): void
}

/**
 * Admits file reads to the thread pool, by the root (scan source) of their file. A read that hangs cannot be cancelled and keeps its thread. While
 * all threads of a root are stuck, its calls are `busy` at once.
 */
export class DiskGate {
  readonly #log: Log
  readonly #limitMs: number
  readonly #atOnce: number
  readonly #atOnceInAll: number
  readonly #lanes = new Map<string, Lane>()
  #running = 0

  constructor(options: { readonly log: Log; readonly threads: number; readonly limitMs?: number }) {
    this.#log = options.log
    this.#limitMs = options.limitMs ?? DISK_LIMIT_MS
    this.#atOnce = Math.max(1, Math.floor(options.threads * PART_OF_ONE))
    this.#atOnceInAll = Math.max(1, Math.floor(options.threads * PART_OF_ALL))
  }

  /** Rejects with the error of `read`. */
  run<T>(root: string, work: DiskWork<T>): Promise<DiskOutcome<T>> {
    const lane = this.#laneOf(root)
    if (lane.stuck >= this.#atOnce || lane.waiting.size >= MAX_WAITING) {
      return Promise.resolve({ ok: false, why: 'busy' })
    }
    return new Promise((resolve, reject) => {
      let [begun, late] = [false, false]
      const timer = setTimeout(() => {
        late = true
        if (begun) this.#markStuck(root, lane)
        else lane.waiting.delete(waiting)
        resolve({ ok: false, why: 'busy' })
      }, this.#limitMs)
      const ended = () => {
        clearTimeout(timer)
        this.#ended(root, lane, late)
      }
      const take = (value: T) => {
        if (late) work.discard?.(value)
        else resolve({ ok: true, value })
      }
      const waiting: Waiting = {
        isWanted: () => work.isWanted?.() ?? true,
        begin: () => {
          begun = true
          work.read().then(take, reject).finally(ended)
        },
        drop: () => {
          clearTimeout(timer)
          resolve({ ok: false, why: 'unwanted' })
        },
      }
      lane.waiting.add(waiting)
      this.#beginNext()
    })
  }

  #laneOf(root: string): Lane {
    const known = this.#lanes.get(root)
    if (known !== undefined) return known
    const lane: Lane = { running: 0, stuck: 0, waiting: new Set() }
    this.#lanes.set(root, lane)
    return lane
  }

  #beginNext(): void {
    for (const lane of this.#lanes.values()) {
      for (const waiting of lane.waiting) {
        if (lane.running >= this.#atOnce) break
        if (this.#running >= this.#atOnceInAll) return
        lane.waiting.delete(waiting)
        if (!waiting.isWanted()) {
          waiting.drop()
          continue
        }
        lane.running++
        this.#running++
        waiting.begin()
      }
    }
  }

  #markStuck(root: string, lane: Lane): void {
    lane.stuck++
    if (lane.stuck === this.#atOnce)
      this.#log.error({ root }, 'a source does not respond; requests for its files that are not in memory are refused')
  }

  #ended(root: string, lane: Lane, wasStuck: boolean): void {
    lane.running--
    this.#running--
    if (wasStuck && lane.stuck-- === this.#atOnce) this.#log.info({ root }, 'a source responds again')
    // If the limit of all threads is reached, the roots alternate.
    this.#lanes.delete(root)
    if (lane.running > 0 || lane.waiting.size > 0) this.#lanes.set(root, lane)
    this.#beginNext()
  }
}
