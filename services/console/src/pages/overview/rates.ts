import type { TrafficCounters, TrafficPoint } from '@gateway/contracts/traffic.js'

/** The counters that are plain numbers. */
export type Amount = Exclude<keyof TrafficCounters, 'durations'>

/** Returns the rate per second, added up over spans of several processes at the same time. */
export function rateOf(spans: readonly TrafficPoint[], name: Amount): number {
  return spans.reduce((sum, span) => sum + span[name] / span.seconds, 0)
}

/** Returns the share of tiles that came from memory, or null if no tile was served. */
export function shareFromMemory(spans: readonly TrafficCounters[]): number | null {
  const tiles = spans.reduce((sum, span) => sum + span.tiles, 0)
  const hits = spans.reduce((sum, span) => sum + span.memory_hits, 0)
  return tiles === 0 ? null : Math.min(1, hits / tiles)
}
