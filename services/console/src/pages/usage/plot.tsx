import '@mantine/charts/styles.css'
import { AreaChart, LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import { type ReactElement, type ReactNode, useState } from 'react'
import { type DotItemDotProps, type MouseHandlerDataParam, ReferenceArea } from 'recharts'
import { useTexts } from '../../texts/texts.js'
import { roundTimes, roundValues } from './ticks.js'

const AXES = {
  h: 190,
  dataKey: 'time',
  // A curve would show values between two points that were never measured.
  curveType: 'linear',
  withDots: false,
  strokeWidth: 2,
  tickLine: 'none',
} as const

/** Draws a value without neighbours as a dot, since no line goes through it. Other values have no dot. */
function loneDot({ key, cx, cy, index, stroke, points }: DotItemDotProps): ReactElement {
  const isGap = (i: number) => (points[i]?.y ?? null) === null
  const isLone = !isGap(index) && isGap(index - 1) && isGap(index + 1)
  return isLone ? <circle key={key} cx={cx} cy={cy} r={3} fill={stroke} /> : <g key={key} />
}
const LONE = { dot: loneDot }

const SHARES = [0, 0.25, 0.5, 0.75, 1]
const AXIS_WIDTH = 48
/** Width for bytes and times, which need more room than plain numbers. */
const WIDE_AXIS_WIDTH = 68

export interface Series {
  readonly name: string
  readonly color: string
  /** one value per point of time; null: unknown */
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
  /** true if the axis needs room for a value with a unit */
  readonly wide?: boolean
  /** plots with the same group show their cursor at the same time */
  readonly group: string
  /** called after the user selected a range of time by dragging */
  readonly onZoom?: ((fromMs: number, toMs: number) => void) | undefined
  /** shown instead of the chart */
  readonly instead?: ReactNode
}

/** Figures over time. A screen reader cannot read the chart, so the summary says the same as text. */
export function Plot(props: PlotProps) {
  const { title, summary, times, series, format, formatTime, kind = 'area', group, instead } = props
  const { handlers, marked } = useDragging(props.onZoom)
  const t = useTexts().work.charts
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
    // A numeric axis shows a missing hour as a gap instead of closing it.
    xAxisProps: {
      type: 'number',
      scale: 'time',
      domain: ['dataMin', 'dataMax'],
      tickFormatter: formatTime,
      ticks: roundTimes(times),
      minTickGap: 40,
    },
    tooltipProps: { labelFormatter: (at: ReactNode) => (typeof at === 'number' ? formatTime(at) : '') },
  } as const
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null))
  const ticks = kind === 'shares' ? SHARES : roundValues(known)
  const yAxisProps = {
    width: kind === 'bytes' || props.wide ? WIDE_AXIS_WIDTH : AXIS_WIDTH,
    domain: [0, ticks.at(-1) as number],
    ticks,
  }
  const shown = instead ?? (known.length === 0 ? <Text c="dimmed">{t.noData}</Text> : undefined)
  // Keeps the chart out of the tab order: the summary next to it describes it.
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
      {shown ?? <div aria-hidden="true">{chart}</div>}
    </figure>
  )
}

/** The range marked while the user drags over a chart, and the selection on release. A click without dragging selects nothing. */
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
