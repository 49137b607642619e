import { useState } from 'react'

interface At {
  readonly at: string
}

/** Returns the points in a range that the user dragged; `null`: all points. */
export function useZoom() {
  const [range, setRange] = useState<readonly [fromMs: number, toMs: number] | null>(null)
  return {
    isZoomed: range !== null,
    zoom: (fromMs: number, toMs: number) => setRange([fromMs, toMs]),
    reset: () => setRange(null),
    within: <T extends At>(points: readonly T[]): readonly T[] => {
      if (range === null) return points
      const [from, to] = range
      const found = points.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to)
      // The range may be older than all kept points.
      return found.length === 0 ? points : found
    },
  }
}

const DAY_MS = 86_400_000

/** Formats the points of a chart: with the day if they span several. */
export function timeFormat(
  points: readonly At[],
  formats: { readonly clock: (iso: string) => string; readonly hour: (iso: string) => string },
): (ms: number) => string {
  const [first, last] = [points[0]?.at ?? '', points.at(-1)?.at ?? '']
  const isShort = Date.parse(last) - Date.parse(first) < DAY_MS
  return (ms) => (isShort ? formats.clock : formats.hour)(new Date(ms).toISOString())
}
