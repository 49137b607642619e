import type { EdgePresence } from '@gateway/contracts/edge.js'
import {
  ANSWER_TIME_BOUNDS,
  type EdgeTraffic,
  type Latency,
  TRAFFIC_RANGES,
  type TrafficCounters,
  type TrafficHistory as TrafficHistoryView,
  type TrafficPoint,
  type TrafficRange,
  trafficCountersSchema,
} from '@gateway/contracts/traffic.js'
import { z } from 'zod'

/** Interval of samples, the same as that of reading presence. */
export const SAMPLE_MS = 5_000
/** Samples after which traffic counts as new usage. Edges write the usage of tokens and maps every 15 s. */
const SAMPLES_PER_USAGE = 6
/** Length of the longest range. */
const KEPT_MS = TRAFFIC_RANGES.month.seconds * 1000
const ALL_RANGES = Object.keys(TRAFFIC_RANGES) as TrafficRange[]
/** Ranges of one process, which rarely lives longer than a day. There may be many processes. */
export const EDGE_RANGES = ['hour', 'day'] as const satisfies readonly TrafficRange[]

/** Period for the latency of one edge process. A few seconds would contain only a few responses. */
const LATENCY_OVER_MS = 300_000

const NO_DURATIONS: readonly number[] = [...ANSWER_TIME_BOUNDS, Infinity].map(() => 0)
const NOTHING: Required<TrafficCounters> = {
  requests: 0,
  tiles: 0,
  tiles_missing: 0,
  memory_hits: 0,
  downloads: 0,
  auth_failures: 0,
  server_errors: 0,
  bytes_sent: 0,
  durations: [...NO_DURATIONS],
}
const NAMES = Object.keys(NOTHING).filter((name) => name !== 'durations') as Exclude<
  keyof TrafficCounters,
  'durations'
>[]

/** A stored time span, with its latency histogram. */
const spanSchema = trafficCountersSchema.extend({
  at: z.iso.datetime(),
  seconds: z.number().positive(),
  memory_bytes: z.number().optional(),
})
export type Span = z.infer<typeof spanSchema>

/** The spans of each range, oldest first. */
const spansSchema = z.partialRecord(z.enum(ALL_RANGES), z.array(spanSchema))
type Spans = z.infer<typeof spansSchema>

/** The part of the history that a control plane keeps over a restart. */
export const keptHistorySchema = z.object({
  started_ms: z.number(),
  sampled_ms: z.number(),
  ranges: spansSchema,
  /** by edge process */
  edges: z.record(z.string(), spansSchema),
  /** counters of edge processes at the last sample */
  known: z.array(z.object({ id: z.string(), at_ms: z.number(), counters: trafficCountersSchema })),
})
export type KeptHistory = z.infer<typeof keptHistorySchema>

/**
 * The traffic of the edges, computed from the counters in their presence. Each control plane keeps its own history over a restart. Traffic during a
 * restart is counted in the span after it. This is an overview; a metrics system counts exactly.
 */
export class TrafficHistory {
  readonly #startedMs: number
  readonly #known = new Map<string, { readonly atMs: number; readonly counters: TrafficCounters }>()
  #newest: (Span & { id: string })[] = []
  #all: Spans = {}
  readonly #edges = new Map<string, Spans>()
  #sampledMs: number
  #samples = 0
  #busySpans = 0
  #wasUsed = false

  /** @param kept history of the previous process; entries older than the longest range, or in the future, are dropped */
  constructor(nowMs: number, kept: KeptHistory | null = null) {
    const isUsable = kept !== null && kept.sampled_ms <= nowMs && kept.sampled_ms > nowMs - KEPT_MS
    this.#startedMs = isUsable ? kept.started_ms : nowMs
    this.#sampledMs = isUsable ? kept.sampled_ms : nowMs
    if (!isUsable) return
    this.#all = kept.ranges
    for (const [id, spans] of Object.entries(kept.edges)) this.#edges.set(id, spans)
    for (const { id, at_ms: atMs, counters } of kept.known) this.#known.set(id, { atMs, counters })
  }

  kept(): KeptHistory {
    const known = [...this.#known].map(([id, { atMs, counters }]) => ({ id, at_ms: atMs, counters }))
    const edges = Object.fromEntries(this.#edges)
    return { started_ms: this.#startedMs, sampled_ms: this.#sampledMs, ranges: this.#all, edges, known }
  }

  get samples(): number {
    return this.#samples
  }

  /** Number of half minutes in which maps were requested. */
  get busySpans(): number {
    return this.#busySpans
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
      const seconds = (nowMs - before.atMs) / 1000
      const memory = traffic.memory_bytes === undefined ? {} : { memory_bytes: traffic.memory_bytes }
      this.#newest.push({ id, at, seconds, ...amounts, ...memory })
      this.#edges.set(id, added(this.#edges.get(id) ?? {}, EDGE_RANGES, { ...amounts, seconds, ...memory }, nowMs))
    }
    this.#forgetAllBut(new Set(edges.map(({ id }) => id)))
    const seconds = (nowMs - this.#sampledMs) / 1000
    if (seconds > 0) this.#all = added(this.#all, ALL_RANGES, { ...total, seconds }, nowMs)
    this.#sampledMs = nowMs
    this.#samples++
    // The requests of the console itself are no usage: an idle one would keep itself busy.
    this.#wasUsed ||= total.tiles + total.tiles_missing + total.downloads + total.auth_failures > 0
    if (!this.#wasUsed || this.#samples % SAMPLES_PER_USAGE > 0) return
    this.#busySpans++
    this.#wasUsed = false
  }

  view(range: TrafficRange = 'hour'): TrafficHistoryView {
    return {
      since: this.#since(range),
      points: (this.#all[range] ?? []).map(pointOf),
      edges: this.#newest.map((span) => ({ ...pointOf(span), ...this.#latencyOf(span.id), id: span.id })),
    }
  }

  /** The last hour with its newest point only: an open page has the others. */
  newest(): TrafficHistoryView {
    const { points, ...view } = this.view()
    return { ...view, points: points.slice(-1) }
  }

  /** undefined: it is not known, or has ended */
  edge(id: string, range: (typeof EDGE_RANGES)[number]): EdgeTraffic | undefined {
    const spans = this.#edges.get(id)
    return spans && { since: this.#since(range), points: (spans[range] ?? []).map(pointOf) }
  }

  #since(range: TrafficRange): string {
    return new Date(Math.max(this.#startedMs, this.#sampledMs - TRAFFIC_RANGES[range].seconds * 1000)).toISOString()
  }

  #latencyOf(id: string): { latency?: Latency } {
    const durations = [...NO_DURATIONS]
    for (const span of this.#edges.get(id)?.hour ?? []) {
      if (Date.parse(span.at) > this.#sampledMs - LATENCY_OVER_MS) addEach(durations, span.durations)
    }
    return latencyOf(durations)
  }

  /** A process that began after the last sample has counted from zero since. For an older one, the time of its counts is unknown. */
  #startOf(startedAt: string): { atMs: number; counters: TrafficCounters } | null {
    const atMs = Date.parse(startedAt)
    return atMs >= this.#sampledMs ? { atMs, counters: NOTHING } : null
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id)
    for (const id of this.#edges.keys()) if (!ids.has(id)) this.#edges.delete(id)
  }
}

function added(spans: Spans, ranges: readonly TrafficRange[], amounts: Omit<Span, 'at'>, nowMs: number): Spans {
  return Object.fromEntries(ranges.map((range) => [range, withAmounts(spans[range] ?? [], range, amounts, nowMs)]))
}

/** Adds amounts to the current span, and drops spans beyond the range. */
function withAmounts(spans: readonly Span[], range: TrafficRange, amounts: Omit<Span, 'at'>, nowMs: number): Span[] {
  const [spanMs, keptMs] = [TRAFFIC_RANGES[range].step * 1000, TRAFFIC_RANGES[range].seconds * 1000]
  const at = new Date(Math.floor(nowMs / spanMs) * spanMs).toISOString()
  const last = spans.at(-1)
  const kept = spans.filter((span) => Date.parse(span.at) > nowMs - keptMs)
  if (last?.at !== at) return [...kept, { at, ...amounts }]
  const memory = amounts.memory_bytes === undefined ? {} : { memory_bytes: amounts.memory_bytes }
  const sum = { ...last, seconds: last.seconds + amounts.seconds, ...memory }
  addTo(sum, amounts)
  return [...kept.slice(0, -1), sum]
}

function difference(now: TrafficCounters, before: TrafficCounters): TrafficCounters {
  const amounts = Object.fromEntries(NAMES.map((name) => [name, Math.max(0, now[name] - before[name])]))
  const durations = now.durations?.map((n, i) => Math.max(0, n - (before.durations?.[i] ?? 0)))
  return { ...amounts, ...(durations !== undefined && { durations }) } as TrafficCounters
}

function addTo(sum: TrafficCounters, amounts: TrafficCounters): void {
  for (const name of NAMES) sum[name] += amounts[name]
  const durations = [...(sum.durations ?? NO_DURATIONS)]
  addEach(durations, amounts.durations)
  sum.durations = durations
}

function addEach(sum: number[], counts: readonly number[] = []): void {
  for (const [i, n] of counts.entries()) sum[i] = (sum[i] ?? 0) + n
}

function pointOf({ durations = [], ...span }: Span): TrafficPoint {
  return { ...span, ...latencyOf(durations) }
}

/** Returns no latency without responses. */
function latencyOf(counts: readonly number[]): { latency?: Latency } {
  const total = counts.reduce((sum, n) => sum + n, 0)
  if (total === 0) return {}
  return {
    latency: {
      p50: quantile(counts, total, 0.5),
      p95: quantile(counts, total, 0.95),
      p99: quantile(counts, total, 0.99),
    },
  }
}

/** Interpolates linearly within a bucket, like Prometheus' histogram_quantile. Values beyond the last bound count as that bound. */
function quantile(counts: readonly number[], total: number, share: number): number {
  const rank = share * total
  let below = 0
  for (const [i, bound] of ANSWER_TIME_BOUNDS.entries()) {
    const n = counts[i] ?? 0
    const lower = ANSWER_TIME_BOUNDS[i - 1] ?? 0
    if (n > 0 && below + n >= rank) return lower + (bound - lower) * ((rank - below) / n)
    below += n
  }
  return ANSWER_TIME_BOUNDS.at(-1) as number
}
