import type { EdgePresence } from '@gateway/contracts/edge.js'
import {
  type TrafficCounters,
  type TrafficHistory as TrafficHistoryView,
  type TrafficPoint,
  trafficCountersSchema,
  trafficPointSchema,
} from '@gateway/contracts/traffic.js'
import { z } from 'zod'

/** As often as presence is read anyway. */
export const SAMPLE_MS = 5_000
/** Two points a minute are what a plot of an hour can show. */
const SPAN_MS = 30_000
const KEPT_MS = 3_600_000

const NOTHING: TrafficCounters = {
  requests: 0,
  tiles: 0,
  tiles_missing: 0,
  memory_hits: 0,
  downloads: 0,
  auth_failures: 0,
  server_errors: 0,
  bytes_sent: 0,
}
const NAMES = Object.keys(NOTHING) as (keyof TrafficCounters)[]

/** What a control plane needs of its history to go on with it after a restart. */
export const keptHistorySchema = z.object({
  started_ms: z.number(),
  sampled_ms: z.number(),
  points: z.array(trafficPointSchema),
  /** the counters of edge processes when they were sampled last */
  known: z.array(z.object({ id: z.string(), at_ms: z.number(), counters: trafficCountersSchema })),
})
export type KeptHistory = z.infer<typeof keptHistorySchema>

/**
 * What the edges did in the last hour, from the counters in their presence. Each control plane watches for itself, and keeps its history over a restart;
 * what edges did meanwhile is in the span in which it ended. A metrics system counts exactly; this is an overview.
 */
export class TrafficHistory {
  readonly #startedMs: number
  readonly #known = new Map<string, { readonly atMs: number; readonly counters: TrafficCounters }>()
  #newest: (TrafficPoint & { id: string })[] = []
  #points: TrafficPoint[] = []
  #sampledMs: number
  #samples = 0

  /** @param kept of the process before; what is older than an hour, or of the future, is forgotten */
  constructor(nowMs: number, kept: KeptHistory | null = null) {
    const isUsable = kept !== null && kept.sampled_ms <= nowMs && kept.sampled_ms > nowMs - KEPT_MS
    this.#startedMs = isUsable ? kept.started_ms : nowMs
    this.#sampledMs = isUsable ? kept.sampled_ms : nowMs
    if (!isUsable) return
    this.#points = kept.points
    for (const { id, at_ms: atMs, counters } of kept.known) this.#known.set(id, { atMs, counters })
  }

  kept(): KeptHistory {
    const known = [...this.#known].map(([id, { atMs, counters }]) => ({ id, at_ms: atMs, counters }))
    return { started_ms: this.#startedMs, sampled_ms: this.#sampledMs, points: [...this.#points], known }
  }

  get samples(): number {
    return this.#samples
  }

  sample(edges: readonly EdgePresence[], nowMs: number): void {
    const total = { ...NOTHING }
    this.#newest = []
    for (const { id, started_at, traffic } of edges) {
      if (traffic === undefined) continue
      const before = this.#known.get(id) ?? this.#startOf(started_at)
      this.#known.set(id, { atMs: nowMs, counters: traffic })
      if (before === null || before.atMs >= nowMs) continue
      const amounts = difference(traffic, before.counters)
      addTo(total, amounts)
      const at = new Date(before.atMs).toISOString()
      this.#newest.push({ id, at, seconds: (nowMs - before.atMs) / 1000, ...amounts })
    }
    this.#forgetAllBut(new Set(edges.map(({ id }) => id)))
    this.#addToSpan(total, nowMs)
    this.#sampledMs = nowMs
    this.#samples++
  }

  view(): TrafficHistoryView {
    return {
      since: new Date(Math.max(this.#startedMs, this.#sampledMs - KEPT_MS)).toISOString(),
      points: [...this.#points],
      edges: [...this.#newest],
    }
  }

  /** A process that began after the last sample has counted from zero since; of an older one it is not known when it counted what. */
  #startOf(startedAt: string): { atMs: number; counters: TrafficCounters } | null {
    const atMs = Date.parse(startedAt)
    return atMs >= this.#sampledMs ? { atMs, counters: NOTHING } : null
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id)
  }

  #addToSpan(amounts: TrafficCounters, nowMs: number): void {
    const seconds = (nowMs - this.#sampledMs) / 1000
    if (seconds <= 0) return
    const at = new Date(Math.floor(nowMs / SPAN_MS) * SPAN_MS).toISOString()
    const last = this.#points.at(-1)
    if (last?.at === at) {
      const sum = { ...last, seconds: last.seconds + seconds }
      addTo(sum, amounts)
      this.#points = [...this.#points.slice(0, -1), sum]
    } else {
      this.#points = [...this.#points, { at, seconds, ...amounts }]
    }
    this.#points = this.#points.filter((point) => Date.parse(point.at) > nowMs - KEPT_MS)
  }
}

function difference(now: TrafficCounters, before: TrafficCounters): TrafficCounters {
  return Object.fromEntries(NAMES.map((name) => [name, Math.max(0, now[name] - before[name])])) as TrafficCounters
}

function addTo(sum: TrafficCounters, amounts: TrafficCounters): void {
  for (const name of NAMES) sum[name] += amounts[name]
}
