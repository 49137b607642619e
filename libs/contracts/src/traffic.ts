import { z } from 'zod'

const count = z.number().min(0)

/** Upper bounds, in seconds, of the latency histogram. `answer_times.h` of libs/native-edge has the same. */
export const ANSWER_TIME_BOUNDS: readonly number[] = [
  0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30,
]

/** Counters of one edge process since its start. They never decrease while the process lives. */
export const trafficCountersSchema = z.object({
  requests: count.describe('without those of the console and of the admin API'),
  tiles: count.describe('tile requests that returned a tile'),
  tiles_missing: count.describe('tile requests for a tile that does not exist'),
  memory_hits: count.describe('tiles served from memory'),
  downloads: count,
  auth_failures: count,
  server_errors: count,
  bytes_sent: count.describe('without those of the console and of the admin API'),
  durations: z
    .array(count)
    .length(ANSWER_TIME_BOUNDS.length + 1)
    .optional()
    .describe(
      'tiles, downloads and catalog responses by the time to their first byte. Each is counted once, at the first of ' +
        `${ANSWER_TIME_BOUNDS.join(', ')} seconds that it did not exceed; the last number counts longer ones. Absent: the process does not count ` +
        'them',
    ),
})
export type TrafficCounters = z.infer<typeof trafficCountersSchema>

/** Ranges of traffic, with the length of one point, in seconds. */
export const TRAFFIC_RANGES = {
  hour: { seconds: 3_600, step: 30 },
  day: { seconds: 86_400, step: 600 },
  week: { seconds: 604_800, step: 3_600 },
  month: { seconds: 2_592_000, step: 14_400 },
} as const
export type TrafficRange = keyof typeof TRAFFIC_RANGES

/** Percentiles of the time to the first byte of responses, in seconds. */
export const latencySchema = z.object({ p50: count, p95: count, p99: count })
export type Latency = z.infer<typeof latencySchema>

/** Amounts in a time span, over all edge processes; `at` is its beginning. */
export const trafficPointSchema = trafficCountersSchema.omit({ durations: true }).extend({
  at: z.iso.datetime(),
  seconds: z.number().positive(),
  latency: latencySchema
    .optional()
    .describe(
      'for tiles, downloads and catalog responses, estimated from counts by time; absent: no request was served',
    ),
  memory_bytes: count.optional().describe('only for one process: its memory at the end of the span'),
})
export type TrafficPoint = z.infer<typeof trafficPointSchema>

/** The current state of each edge process, and the traffic of all of them in the requested range. */
export const trafficHistorySchema = z.object({
  since: z.iso
    .datetime()
    .describe(
      'when the range begins, or when this control plane began to collect; nothing is known of the time before',
    ),
  points: z.array(trafficPointSchema).describe('oldest first'),
  edges: z
    .array(trafficPointSchema.extend({ id: z.uuid() }))
    .describe('the newest span of each edge process that reports its counters; `latency` covers its last five minutes'),
})
export type TrafficHistory = z.infer<typeof trafficHistorySchema>

/** The traffic of one edge process in the requested range. */
export const edgeTrafficSchema = trafficHistorySchema.pick({ since: true, points: true })
export type EdgeTraffic = z.infer<typeof edgeTrafficSchema>
