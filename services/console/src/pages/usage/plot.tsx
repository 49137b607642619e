import '@mantine/charts/styles.css'
import { AreaChart, LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import { type ReactElement, type ReactNode, useState } from 'react'
import { type DotItemDotProps, type MouseHandlerDataParam, ReferenceArea } from 'recharts'

const AXES = {
  h: 190,
  dataKey: 'time',
  // A curve would show values between two points that nobody has measured.
  curveType: 'linear',
  withDots: false,
  strokeWidth: 2,
  tickLine: 'none',
} as const

/** No line goes through a value without a neighbour: it is drawn as a dot. Other values are not. */
function loneDot({ key, cx, cy, index, stroke, points }: DotItemDotProps): ReactElement {
  const isGap = (i: number) => (points[i]?.y ?? null) === null
  const isLone = !isGap(index) && isGap(index - 1) && isGap(index + 1)
  return isLone ? <circle key={key} cx={cx} cy={cy} r={3} fill={stroke} /> : <g key={key} />
}
const LONE = { dot: loneDot }

/** Every axis begins at zero: a part of one would make a small change look large. */
const FROM_ZERO: [number, 'auto'] = [0, 'auto']
const SHARES: [number, number] = [0, 1]
const AXIS_WIDTH = 48
/** Bytes and times need more room than numbers. */
const WIDE_AXIS_WIDTH = 68

export interface Series {
  readonly name: string
  readonly color: string
  /** one for each point of time; null: not known */
  readonly values: readonly (number | null)[]
}

interface PlotProps {
  readonly title: string
  readonly summary: string
  /** milliseconds since 1970, ascending */
  readonly times: readonly number[]
  readonly formatTime: (ms: number) => string
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly kind?: 'area' | 'lines' | 'bytes' | 'shares'
  /** the axis has room for a value with a unit */
  readonly wide?: boolean
  /** plots of one name show their cursor at the same time */
  readonly group: string
  /** a range of time was chosen by dragging */
  readonly onZoom?: ((fromMs: number, toMs: number) => void) | undefined
  /** shown in place of a chart */
  readonly instead?: ReactNode
}

/** Some figures over time. A chart is nothing to a screen reader: its words say the same. */
export function Plot(props: PlotProps) {
  const { title, summary, times, series, format, formatTime, kind = 'area', group, instead } = props
  const { handlers, marked } = useDragging(props.onZoom)
  const shared = {
    ...AXES,
    data: times.map((time, i) => ({
      time,
      ...Object.fromEntries(series.map(({ name, values }) => [name, values[i]])),
    })),
    series: series.map(({ name, color }) => ({ name, color })),
    valueFormatter: format,
    withLegend: series.length > 1,
    connectNulls: false,
    // A missing hour is a gap, and no shorter way to the next one.
    xAxisProps: {
      type: 'number',
      scale: 'time',
      domain: ['dataMin', 'dataMax'],
      tickFormatter: formatTime,
      minTickGap: 40,
    },
    tooltipProps: { labelFormatter: (at: ReactNode) => (typeof at === 'number' ? formatTime(at) : '') },
  } as const
  // Of few whole numbers the axis would have halves, which `format` rounds to the same word twice.
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  const yAxisProps = {
    width: kind === 'bytes' || props.wide ? WIDE_AXIS_WIDTH : AXIS_WIDTH,
    domain: kind === 'shares' ? SHARES : FROM_ZERO,
    allowDecimals: !isWhole,
  }
  // The chart is described in words next to it; it is no stop of the keyboard.
  const chartProps = { accessibilityLayer: false, syncId: group, syncMethod: 'value', ...handlers } as const
  const area = marked !== null && <ReferenceArea x1={marked[0]} x2={marked[1]} fillOpacity={0.2} />
  const chart =
    kind === 'lines' ? (
      <LineChart {...shared} lineProps={LONE} lineChartProps={chartProps} yAxisProps={yAxisProps}>
        {area}
      </LineChart>
    ) : (
      <AreaChart {...shared} fillOpacity={0.15} areaProps={LONE} areaChartProps={chartProps} yAxisProps={yAxisProps}>
        {area}
      </AreaChart>
    )
  return (
    <figure className={props.onZoom === undefined ? 'plot-figure' : 'plot-figure zooms'}>
      <figcaption>
        <Text component="span" fw={550} size="sm">
          {title}
        </Text>
        <Text component="span" size="xs" c="dimmed">
          {summary}
        </Text>
      </figcaption>
      {instead ?? <div aria-hidden="true">{chart}</div>}
    </figure>
  )
}

/** What is marked while somebody drags over a chart, and the range once they let go. A press without a way chooses nothing. */
function useDragging(onZoom: PlotProps['onZoom']) {
  const [marked, setMarked] = useState<readonly [from: number, to: number] | null>(null)
  if (onZoom === undefined) return { handlers: {}, marked: null }
  const timeAt = ({ activeLabel }: MouseHandlerDataParam) => (activeLabel === undefined ? null : Number(activeLabel))
  const handlers = {
    onMouseDown: (state: MouseHandlerDataParam) => {
      const at = timeAt(state)
      setMarked(at === null ? null : [at, at])
    },
    onMouseMove: (state: MouseHandlerDataParam) => {
      const at = timeAt(state)
      if (marked !== null && at !== null && at !== marked[1]) setMarked([marked[0], at])
    },
    onMouseUp: () => {
      if (marked !== null && marked[0] !== marked[1]) onZoom(Math.min(...marked), Math.max(...marked))
      setMarked(null)
    },
    onMouseLeave: () => setMarked(null),
  }
  return { handlers, marked }
}
