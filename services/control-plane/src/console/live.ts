import type { LiveTopic } from '@gateway/contracts/console.js'
import { readPulse } from '@gateway/store/pulse.js'
import type { ControlContext } from '../context.js'
import type { KnownEdges } from '../edges/known-edges.js'

/** What one console changes, the others show within two seconds; half of that is theirs to read it. */
const LOOK_EVERY_MS = 1_000

type Marks = Partial<Record<LiveTopic, string>>
type Listener = (topics: readonly LiveTopic[]) => void

/**
 * Tells open consoles in which topics something has changed, whichever control plane did it: marks of the store are compared every
 * second, while anybody listens. The change log alone would not do, since it holds what edges must know and nothing of scans or pushes.
 */
export class Live {
  readonly #ctx: Pick<ControlContext, 'sql' | 'log'>
  readonly #edges: Pick<KnownEdges, 'read'>
  readonly #samples: () => number
  readonly #listeners = new Set<Listener>()
  /** those who joined before there was anything to compare with */
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | null = null
  #marks: Marks | null = null
  #looking = false

  /** @param samples how often traffic has been sampled */
  constructor(ctx: Pick<ControlContext, 'sql' | 'log'>, edges: Pick<KnownEdges, 'read'>, samples: () => number) {
    this.#ctx = ctx
    this.#edges = edges
    this.#samples = samples
  }

  /** `onWatching` is called once, when from then on no change is missed. Answers the function that ends it. */
  listen(listener: Listener, onWatching: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#marks === null) this.#waiting.add(onWatching)
    else onWatching()
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref()
    void this.#look()
    return () => {
      this.#listeners.delete(listener)
      this.#waiting.delete(onWatching)
      if (this.#listeners.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
      this.#marks = null
    }
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const marks = await this.#readMarks()
      const before = this.#marks
      this.#marks = marks
      for (const onWatching of this.#waiting) onWatching()
      this.#waiting.clear()
      if (before === null) return
      const changed = (Object.keys(marks) as LiveTopic[]).filter((topic) => marks[topic] !== before[topic])
      if (changed.length > 0) for (const listener of this.#listeners) listener(changed)
    } catch (error) {
      this.#ctx.log.debug({ err: (error as Error).message }, 'the store cannot be asked for changes now')
    } finally {
      this.#looking = false
    }
  }

  async #readMarks(): Promise<Marks> {
    const [pulse, edges] = await Promise.all([readPulse(this.#ctx.sql), this.#edges.read()])
    const present = edges.map((edge) => `${edge.id} ${edge.applied_revision}`).join()
    return { ...pulse, edges: present, traffic: String(this.#samples()) }
  }
}
