import '@mantine/charts/styles.css'
import { Text } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import type { DotItemDotProps } from 'recharts'

export const AXES = {
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
export const AREA = { ...AXES, areaChartProps: NOT_FOCUSED, areaProps: LONE, fillOpacity: 0.15 }
export const LINE = { ...AXES, lineChartProps: NOT_FOCUSED, lineProps: LONE }

/** A chart is nothing to a screen reader: its words say the same. */
export function Plot({ title, summary, children }: { title: string; summary: string; children: ReactNode }) {
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
      <div aria-hidden="true">{children}</div>
    </figure>
  )
}
