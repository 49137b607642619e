import { rangeBetween, rangeUntil, USAGE_RANGES, type UsageRange } from '../../api/usage.js'
import { useNow } from '../../ui/time.js'
import { useParameters } from '../../ui/use-parameter.js'
import { RangeField } from './range-field.js'

const RANGES = Object.keys(USAGE_RANGES) as UsageRange[]

/** The range in the URL, which all parts of a page share: a name in `usage`, or a custom range in `from` and `to`. */
export function useSpan() {
  const [parameters, set] = useParameters()
  const now = useNow()
  const [from, to] = ['from', 'to'].map((name) => Date.parse(parameters.get(name) ?? '')) as [number, number]
  const range = RANGES.find((one) => one === parameters.get('usage')) ?? 'month'
  const span = from < to ? rangeBetween(from, to) : rangeUntil(range, now)
  return {
    span,
    choose: (usage: UsageRange) => set({ usage, from: null, to: null }),
    zoom: (fromMs: number, toMs: number) =>
      set({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }),
  }
}

interface SpanFieldProps extends ReturnType<typeof useSpan> {
  /** name of the part, if the page has several fields */
  readonly of?: string
}

/** Selects the range of a part, and of all others on the page. */
export function SpanField({ span, choose, zoom, of }: SpanFieldProps) {
  return (
    <RangeField
      ranges={RANGES}
      value={span.range}
      onChange={choose}
      own={{ fromMs: span.fromMs, toMs: span.toMs, onChange: zoom }}
      {...(of !== undefined && { of })}
    />
  )
}
