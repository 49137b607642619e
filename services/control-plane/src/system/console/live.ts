import type { LiveTopic } from '@gateway/contracts/console.js'
import { readChangeMarks } from '@gateway/store/change-marks.js'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { TrafficHistory } from './traffic-history.js'

/** Consoles must show changes of others within two seconds, and need half of that to read them. */
const COMPARE_EVERY_MS = 1_000

type Marks = Partial<Record<LiveTopic, string>>
type WatchedTraffic = Pick<TrafficHistory, 'samples' | 'busySpans'>
type Listener = (topics: readonly LiveTopic[]) => void

/**
 * Notifies open consoles of changed topics, through any control plane. It compares marks of the store every second while there is a listener. The
 * change log would not suffice, since it does not contain scans or pushes.
 */
export class Live {
  readonly #ctx: Pick<ControlContext, 'sql' | 'log'>
  readonly #edges: Pick<KnownEdges, 'read'>
  readonly #traffic: () => WatchedTraffic
  readonly #listeners = new Set<Listener>()
  /** listeners that joined before the first marks were read */
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | null = null
  #marks: Marks | null = null
  #comparing = false

  constructor(
    ctx: Pick<ControlContext, 'sql' | 'log'>,
    edges: Pick<KnownEdges, 'read'>,
    traffic: () => WatchedTraffic,
  ) {
    this.#ctx = ctx
    this.#edges = edges
    this.#traffic = traffic
  }

  /** Calls `onWatching` once, when no later change is missed. Returns the function that ends the subscription. */
  listen(listener: Listener, onWatching: () => void): () => void {
    this.#listeners.add(listener)
    if (this.#marks === null) this.#waiting.add(onWatching)
    else onWatching()
    this.#timer ??= setInterval(() => void this.#compare(), COMPARE_EVERY_MS).unref()
    void this.#compare()
    return () => {
      this.#listeners.delete(listener)
      this.#waiting.delete(onWatching)
      if (this.#listeners.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
      this.#marks = null
    }
  }

  async #compare(): Promise<void> {
    if (this.#comparing) return
    this.#comparing = true
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
      this.#ctx.log.debug({ err: (error as Error).message }, 'the change marks cannot be read now')
    } finally {
      this.#comparing = false
    }
  }

  async #readMarks(): Promise<Marks> {
    const [marks, edges] = await Promise.all([readChangeMarks(this.#ctx.sql), this.#edges.read()])
    const present = edges.map((edge) => `${edge.id} ${edge.applied_revision}`).join()
    const { samples, busySpans } = this.#traffic()
    return { ...marks, edges: present, traffic: String(samples), usage: String(busySpans) }
  }
}
