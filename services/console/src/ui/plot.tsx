import '@mantine/charts/styles.css'
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

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

/** The chart is described in words beside it; it is no stop of the keyboard. */
export const NOT_FOCUSED = { accessibilityLayer: false }
export const AREA = { ...AXES, areaChartProps: NOT_FOCUSED, fillOpacity: 0.15 }

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
