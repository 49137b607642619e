import { createHash } from 'node:crypto'
import type { DrawAnswer, DrawTask } from '@gateway/contracts/drawing.js'
import { HelperPool, PoolBusy } from '@gateway/core/processes/helper-pool.js'
import { LRUCache } from 'lru-cache'
import type { Drawn } from './messages.js'

const MODULE = new URL('../../../renderer/dist/main.js', import.meta.url)
/** One browser, which has its own threads and a gigabyte of memory. */
const LIMITS = {
  module: MODULE,
  processes: 1,
  /** longer than the renderer's own limits, after which it answers */
  stepMs: 120_000,
  taskMs: 600_000,
  /** of the renderer, and of each process of its browser */
  memoryMb: 1_536,
  /** a picture takes half a second and more, so that a longer queue would only hold refusals */
  waiting: 48,
  idleMs: 60_000,
}
/** Time in ms for which a style that hung or crashed is not drawn again, so that others get their turn. */
const FAILED_MS = 60_000

/** The renderer of this host: one process for all workers, started for the first picture and ended after the last. */
export class Renderer {
  #pool: HelperPool<DrawTask, DrawAnswer> | null = null
  readonly #failed = new LRUCache<string, Extract<DrawAnswer, { ok: false }>>({ max: 1_000, ttl: FAILED_MS })

  /** Draws a picture, once for all callers that want it meanwhile. Never rejects. */
  async draw(task: DrawTask, caller: string): Promise<Drawn> {
    const failed = this.#failed.get(task.revision)
    if (failed !== undefined) return failed
    const { loading: _, ...picture } = task
    const key = createHash('sha256').update(JSON.stringify(picture)).digest('hex')
    this.#pool ??= new HelperPool(LIMITS)
    try {
      const answer = await this.#pool.run(key, task, caller)
      if (!answer.ok && answer.isOfStyle) this.#failed.set(task.revision, answer)
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
