import type { TrafficCounters, TrafficPoint } from '@gateway/contracts/traffic.js'

/** The counters that are single numbers. */
export type Amount = Exclude<keyof TrafficCounters, 'durations'>

/** Amounts a second, added up over spans that lie side by side in time. */
export function rateOf(spans: readonly TrafficPoint[], name: Amount): number {
  return spans.reduce((sum, span) => sum + span[name] / span.seconds, 0)
}

/** Which share of tiles came from memory; null where there were none. */
export function shareFromMemory(spans: readonly TrafficCounters[]): number | null {
  const tiles = spans.reduce((sum, span) => sum + span.tiles, 0)
  const hits = spans.reduce((sum, span) => sum + span.memory_hits, 0)
  return tiles === 0 ? null : Math.min(1, hits / tiles)
}
