import '@mantine/charts/styles.css'
import { AreaChart, LineChart } from '@mantine/charts'
import { Text } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import type { DotItemDotProps } from 'recharts'

const AXES = {
  h: 190,
  dataKey: 'time',
  curveType: 'monotone',
  withDots: false,
  strokeWidth: 2,
  tickLine: 'none',
  xAxisProps: { minTickGap: 40 },
  yAxisProps: { width: 48 },
} as const

/** No line goes through a value without a neighbour: it is drawn as a dot. Other values are not. */
function loneDot({ key, cx, cy, index, stroke, points }: DotItemDotProps): ReactElement {
  const isGap = (i: number) => (points[i]?.y ?? null) === null
  const isLone = !isGap(index) && isGap(index - 1) && isGap(index + 1)
  return isLone ? <circle key={key} cx={cx} cy={cy} r={3} fill={stroke} /> : <g key={key} />
}
const LONE = { dot: loneDot }

/** The chart is described in words beside it; it is no stop of the keyboard. */
const NOT_FOCUSED = { accessibilityLayer: false }
const AREA = { ...AXES, areaChartProps: NOT_FOCUSED, areaProps: LONE, fillOpacity: 0.15 }
const LINE = { ...AXES, lineChartProps: NOT_FOCUSED, lineProps: LONE }

/** Bytes need more room than numbers. */
const WIDE_AXIS = { ...AXES.yAxisProps, width: 64 }
const SHARES_AXIS = { ...AXES.yAxisProps, domain: [0, 1] }

export interface Series {
  readonly name: string
  readonly color: string
  /** one for each point of time; null: not known */
  readonly values: readonly (number | null)[]
}

interface PlotProps {
  readonly title: string
  readonly summary: string
  readonly times: readonly string[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly kind?: 'area' | 'lines' | 'bytes' | 'shares'
  /** shown in place of a chart */
  readonly instead?: ReactNode
}

/** Some figures over time. A chart is nothing to a screen reader: its words say the same. */
export function Plot({ title, summary, times, series, format, kind = 'area', instead }: PlotProps) {
  const shared = {
    data: times.map((time, i) => ({
      time,
      ...Object.fromEntries(series.map(({ name, values }) => [name, values[i]])),
    })),
    series: series.map(({ name, color }) => ({ name, color })),
    valueFormatter: format,
    withLegend: series.length > 1,
    connectNulls: false,
  }
  const axis = kind === 'bytes' ? WIDE_AXIS : kind === 'shares' ? SHARES_AXIS : AXES.yAxisProps
  // Of few whole numbers the axis would have halves, which `format` rounds to the same word twice.
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  const yAxisProps = { ...axis, allowDecimals: !isWhole }
  const chart =
    kind === 'lines' ? (
      <LineChart {...LINE} {...shared} yAxisProps={yAxisProps} />
    ) : (
      <AreaChart {...AREA} {...shared} yAxisProps={yAxisProps} />
    )
  return (
    <figure className="plot-figure">
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
