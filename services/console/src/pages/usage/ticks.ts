// Seam: its test does without the chart library, which takes seconds to load.

/** Maximum labels of an axis; more would overlap on a narrow chart. */
const MOST_VALUES = 5
const MOST_TIMES = 6

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
/** Distances of labels on an axis of time. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 7, 14, 30, 60, 90].map((days) => days * DAY_MS),
]

/**
 * Returns round values from zero to the greatest or beyond. The axis starts at zero: a cut axis would make a small change look large. For whole
 * numbers all labels are whole, since halves would be rounded to duplicates.
 */
export function roundValues(values: readonly number[]): number[] {
  const most = values.reduce((a, b) => Math.max(a, b), 0)
  if (most <= 0) return [0, 1]
  const isWhole = values.every(Number.isInteger)
  const power = 10 ** Math.floor(Math.log10(most))
  // Multiples of a quarter would be rounded in labels with one decimal.
  const steps = [0.1, 0.2, 0.5, 1, 2].map((share) => share * power)
  const step = steps.find((one) => most / one < MOST_VALUES && (!isWhole || Number.isInteger(one))) ?? power
  const count = Math.ceil(most / step - 1e-9)
  // The factor of a float may differ from the value by its last bit.
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)))
}

/** Returns round times between the first and the last of ascending times: of the viewer's clock, or in UTC if all are beginnings of days in UTC. */
export function roundTimes(times: readonly number[]): number[] {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0]
  const step = STEPS_MS.find((one) => (last - first) / one <= MOST_TIMES) ?? (STEPS_MS.at(-1) as number)
  const isDaily = times.every((ms) => ms % DAY_MS === 0)
  const shift = isDaily ? 0 : new Date(first).getTimezoneOffset() * MINUTE_MS
  const ticks: number[] = []
  for (let ms = Math.ceil((first - shift) / step) * step + shift; ms <= last; ms += step) ticks.push(ms)
  return ticks
}
