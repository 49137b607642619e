import { z } from 'zod'

const count = z.number().min(0)

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
})
export type TrafficCounters = z.infer<typeof trafficCountersSchema>

/** Amounts in a span of time, over all edge processes; `at` is the span's beginning. */
export const trafficPointSchema = trafficCountersSchema.extend({
  at: z.iso.datetime(),
  seconds: z.number().positive(),
})
export type TrafficPoint = z.infer<typeof trafficPointSchema>

/** What each edge process does at this moment, and what all of them did in the last hour. */
export const trafficHistorySchema = z.object({
  since: z.iso.datetime().describe('when this control plane began to watch; nothing is known of the time before'),
  points: z.array(trafficPointSchema).describe('oldest first'),
  edges: z
    .array(trafficPointSchema.extend({ id: z.uuid() }))
    .describe('the newest span of each edge process that tells its counters'),
})
export type TrafficHistory = z.infer<typeof trafficHistorySchema>
