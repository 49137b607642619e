import type { Log } from '@gateway/core/logging/log.js'

/**
 * Limits, as parts of the process's threads for file calls: what one root may take, so that a mount that hangs leaves the others theirs,
 * and what all may take together, so that something is left for closing, unpacking and names even where several hang.
 */
const PART_OF_ONE = 1 / 4
const PART_OF_ALL = 3 / 4
/**
 * Limit: reads of one root that wait for their turn. More than the connections that come back together after a restart, each with a tile that nobody
 * has asked for yet; what a disk does not work through in DISK_LIMIT_MS is answered then.
 */
const MAX_WAITING = 16_384
/** Limit: from the call to the answer, waiting included; then it is `busy`. Far beyond what a disk that works takes. */
export const DISK_LIMIT_MS = 10_000

/** Reads in threads of the pool, in whatever steps, one at a time. */
export interface DiskWork<T> {
  read(): Promise<T>
  /** Takes what `read` brought after the time was over. */
  discard?(late: T): void
  /** Called just before `read`: false drops it. */
  isWanted?(): boolean
}

/** `busy`: the disk did not answer in time, or too many wait for it. `unwanted`: it was dropped. */
export type DiskOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: 'busy' | 'unwanted' }

interface Lane {
  running: number
  /** of the running ones: beyond their time */
  stuck: number
  /** ordered by their coming */
  readonly waiting: Set<Waiting>
}

interface Waiting {
  isWanted(): boolean
  begin(): void
  /** instead of `begin` */
  drop(): void
}

/**
 * Lets reads of files into the thread pool, by the root (scan source) that they are of. A read that hangs cannot be called off and keeps
 * its thread; where all that a root may have are stuck, calls are `busy` at once until one comes back.
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

  /** Rejects with what `read` rejects with. */
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
      this.#log.error({ root }, 'a source does not answer; what is not in memory is refused')
  }

  #ended(root: string, lane: Lane, wasStuck: boolean): void {
    lane.running--
    this.#running--
    if (wasStuck && lane.stuck-- === this.#atOnce) this.#log.info({ root }, 'a source answers again')
    // Where the threads of all are what is short, the roots take turns.
    this.#lanes.delete(root)
    if (lane.running > 0 || lane.waiting.size > 0) this.#lanes.set(root, lane)
    this.#beginNext()
  }
}
