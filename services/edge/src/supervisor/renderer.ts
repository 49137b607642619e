import { createHash } from 'node:crypto'
import { BROWSER_ENDED, type DrawAnswer, type DrawTask } from '@gateway/contracts/drawing.js'
import { HelperPool, PoolBusy } from '@gateway/core/processes/helper-pool.js'
import { restartDelayMs } from '@gateway/core/processes/restart-policy.js'
import { LRUCache } from 'lru-cache'
import type { Drawn } from './messages.js'

const MODULE = new URL('../../../renderer/dist/main.js', import.meta.url)
/** One browser, which has its own threads and a gigabyte of memory, and a spare one for as long as a style occupies it. */
const LIMITS = {
  module: MODULE,
  processes: 2,
  /** longer than usual pictures take, and so short that the spare browser draws within the time that a request waits */
  spareAfterMs: 4_000,
  /** longer than the renderer's own limits, after which it answers */
  stepMs: 120_000,
  taskMs: 600_000,
  /** of the renderer, and of each process of its browser */
  memoryMb: 1_536,
  /** a picture takes half a second and more, so that a longer queue would only hold refusals */
  waiting: 48,
  idleMs: 60_000,
  groupOf: ({ revision }: DrawTask) => revision,
}
/** Times for which a style that hung or crashed is not drawn again, so that others get their turn. Somebody else may have killed a browser that ended. */
const AFTER_FAILURE = { soundAfterMs: 0, freeRestarts: 0, firstDelayMs: 60_000, longestDelayMs: 3_600_000 }
const AFTER_END = { ...AFTER_FAILURE, firstDelayMs: 2_000 }
const MOST_FAILED = 1_000

type Failure = Extract<DrawAnswer, { ok: false }>

/** The styles that hung or crashed. Each failure of the same revision doubles the time until it is drawn again. */
export class FailedStyles {
  readonly #failures = new LRUCache<
    string,
    { readonly answer: Failure; readonly times: number; readonly untilMs: number }
  >({ max: MOST_FAILED })

  /** Returns the answer for a revision that is not drawn at this time. Times are those of `performance.now()`. */
  current(revision: string, nowMs: number): Failure | null {
    const failure = this.#failures.get(revision)
    return failure !== undefined && nowMs < failure.untilMs ? failure.answer : null
  }

  note(revision: string, answer: Failure, nowMs: number): void {
    const times = (this.#failures.get(revision)?.times ?? 0) + 1
    const policy = answer.reason === BROWSER_ENDED ? AFTER_END : AFTER_FAILURE
    this.#failures.set(revision, { answer, times, untilMs: nowMs + restartDelayMs(times, policy) })
  }

  /** Forgets the failures of a revision that has been drawn. */
  forget(revision: string): void {
    this.#failures.delete(revision)
  }
}

/** The renderer of this host: one process for all workers, started for the first picture and ended after the last. */
export class Renderer {
  #pool: HelperPool<DrawTask, DrawAnswer> | null = null
  readonly #failed = new FailedStyles()

  /** Draws a picture, once for all callers that want it meanwhile. Never rejects. */
  async draw(task: DrawTask, caller: string): Promise<Drawn> {
    const failed = this.#failed.current(task.revision, performance.now())
    if (failed !== null) return failed
    const { loading: _, ...picture } = task
    const key = createHash('sha256').update(JSON.stringify(picture)).digest('hex')
    this.#pool ??= new HelperPool(LIMITS)
    try {
      const answer = await this.#pool.run(key, task, caller)
      if (answer.ok) this.#failed.forget(task.revision)
      else if (answer.isOfStyle) this.#failed.note(task.revision, answer, performance.now())
      return answer
    } catch (error) {
      if (error instanceof PoolBusy) return 'busy'
      return { ok: false, reason: (error as Error).message, isOfStyle: false }
    }
  }

  close(): void {
    this.#pool?.close()
  }
}
