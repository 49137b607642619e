import { z } from 'zod'

const count = z.number().min(0)

/** Upper bounds in seconds, by which answers are counted by the time that they took. `answer_times.h` of libs/native-edge says the same. */
export const ANSWER_TIME_BOUNDS: readonly number[] = [
  0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30,
]

/** What one edge process has counted since it started; never falls while the process lives. */
export const trafficCountersSchema = z.object({
  requests: count,
  tiles: count.describe('tile requests answered with a tile'),
  tiles_missing: count.describe('tile requests for a tile that does not exist'),
  memory_hits: count.describe('tiles served from memory'),
  downloads: count,
  auth_failures: count,
  server_errors: count,
  bytes_sent: count,
  durations: z
    .array(count)
    .length(ANSWER_TIME_BOUNDS.length + 1)
    .optional()
    .describe(
      `tiles, downloads and catalog answers by the time to their first byte: each is counted once, at the first of ${ANSWER_TIME_BOUNDS.join(', ')} ` +
        'seconds that it did not exceed; the last number counts longer ones. Absent: the process does not count them',
    ),
})
export type TrafficCounters = z.infer<typeof trafficCountersSchema>

/** How far back traffic is told, and what one point of it stands for at most; in seconds. */
export const TRAFFIC_RANGES = {
  hour: { seconds: 3_600, step: 30 },
  day: { seconds: 86_400, step: 600 },
  week: { seconds: 604_800, step: 3_600 },
  month: { seconds: 2_592_000, step: 14_400 },
} as const
export type TrafficRange = keyof typeof TRAFFIC_RANGES

/** How long answers took to their first byte, in seconds: a half, 95 of 100 and 99 of 100 took at most so long. */
export const latencySchema = z.object({ p50: count, p95: count, p99: count })
export type Latency = z.infer<typeof latencySchema>

/** Amounts in a span of time, over all edge processes; `at` is the span's beginning. */
export const trafficPointSchema = trafficCountersSchema.omit({ durations: true }).extend({
  at: z.iso.datetime(),
  seconds: z.number().positive(),
  latency: latencySchema
    .optional()
    .describe('of tiles, downloads and catalog answers, estimated from counts by time; absent: there were none'),
  memory_bytes: count.optional().describe('of one process: its memory at the end of the span'),
})
export type TrafficPoint = z.infer<typeof trafficPointSchema>

/** The present state of each edge process, and the traffic of all of them in the requested range. */
export const trafficHistorySchema = z.object({
  since: z.iso
    .datetime()
    .describe('when the range begins, or this control plane began to watch; nothing is known of the time before'),
  points: z.array(trafficPointSchema).describe('oldest first'),
  edges: z
    .array(trafficPointSchema.extend({ id: z.uuid() }))
    .describe('the newest span of each edge process that tells its counters; `latency` is of its last five minutes'),
})
export type TrafficHistory = z.infer<typeof trafficHistorySchema>

/** The traffic of one edge process in the requested range. */
export const edgeTrafficSchema = trafficHistorySchema.pick({ since: true, points: true })
export type EdgeTraffic = z.infer<typeof edgeTrafficSchema>
