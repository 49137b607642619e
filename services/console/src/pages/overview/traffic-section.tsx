import '@mantine/charts/styles.css'
import type { TrafficHistory, TrafficPoint } from '@gateway/contracts/traffic.js'
import { AreaChart, LineChart } from '@mantine/charts'
import { SimpleGrid, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { rateOf, shareFromMemory } from './rates.js'

const HEIGHT = 190
/** A plot of one point is no plot. */
const MIN_POINTS = 2

const AXES = {
  h: HEIGHT,
  dataKey: 'time',
  curveType: 'monotone',
  withDots: false,
  strokeWidth: 2,
  tickLine: 'none',
  xAxisProps: { minTickGap: 40 },
  yAxisProps: { width: 48 },
} as const

/** The drawing is described in words beside it; it is no stop of the keyboard. */
const NOT_FOCUSED = { accessibilityLayer: false }
const QUIET_AREA = { areaChartProps: NOT_FOCUSED }

export default function TrafficSection({ query }: { query: UseQueryResult<TrafficHistory> }) {
  const t = useTexts().overview
  const formats = useFormats()
  return (
    <Section title={t.traffic} note={query.data && t.trafficSince(formats.clock(query.data.since))}>
      <Loaded query={query} what={t.traffic}>
        {({ points }) =>
          points.length < MIN_POINTS ? <Text c="dimmed">{t.noTraffic}</Text> : <Plots points={points} />
        }
      </Loaded>
    </Section>
  )
}

function Plots({ points }: { points: readonly TrafficPoint[] }) {
  const { plots: t, figures } = useTexts().overview
  const formats = useFormats()
  const data = points.map((point) => ({
    time: formats.clock(point.at),
    [t.all]: rateOf([point], 'requests'),
    [t.tiles]: rateOf([point], 'tiles'),
    [t.missing]: rateOf([point], 'tiles_missing'),
    [t.auth]: rateOf([point], 'auth_failures'),
    [t.hitRate]: shareFromMemory([point]),
    [t.bytes]: rateOf([point], 'bytes_sent'),
  }))
  const rate = (value: number) => formats.number(value, value < 1 ? 2 : 1)
  const summary = (values: readonly number[], format: (value: number) => string) =>
    `${t.average(format(values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)))}, ${t.peak(format(Math.max(0, ...values)))}`
  const of = (name: Parameters<typeof rateOf>[1]) => points.map((point) => rateOf([point], name))
  const shares = points.map((point) => shareFromMemory([point])).filter((share) => share !== null)
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="lg">
      <Plot title={t.requests} summary={summary(of('requests'), rate)}>
        <AreaChart
          {...AXES}
          {...QUIET_AREA}
          data={data}
          fillOpacity={0.15}
          series={[
            { name: t.all, color: 'sea.5' },
            { name: t.tiles, color: 'indigo.5' },
          ]}
          valueFormatter={rate}
          withLegend
        />
      </Plot>
      <Plot
        title={t.other}
        summary={summary(
          points.map((p) => rateOf([p], 'tiles_missing') + rateOf([p], 'auth_failures')),
          rate,
        )}
      >
        <LineChart
          {...AXES}
          lineChartProps={NOT_FOCUSED}
          data={data}
          series={[
            { name: t.missing, color: 'orange.6' },
            { name: t.auth, color: 'red.6' },
          ]}
          valueFormatter={rate}
          withLegend
        />
      </Plot>
      <Plot title={t.hitRate} summary={shares.length === 0 ? '' : summary(shares, formats.percent)}>
        {shares.length === 0 ? (
          <Text c="dimmed">{figures.noTiles}</Text>
        ) : (
          <AreaChart
            {...AXES}
            {...QUIET_AREA}
            data={data}
            fillOpacity={0.15}
            series={[{ name: t.hitRate, color: 'teal.6' }]}
            valueFormatter={formats.percent}
            yAxisProps={{ ...AXES.yAxisProps, domain: [0, 1] }}
            connectNulls={false}
          />
        )}
      </Plot>
      <Plot title={t.bytes} summary={summary(of('bytes_sent'), formats.bytes)}>
        <AreaChart
          {...AXES}
          {...QUIET_AREA}
          data={data}
          fillOpacity={0.15}
          series={[{ name: t.bytes, color: 'grape.5' }]}
          valueFormatter={formats.bytes}
          yAxisProps={{ ...AXES.yAxisProps, width: 64 }}
        />
      </Plot>
    </SimpleGrid>
  )
}

/** A drawing is nothing to a screen reader: its words say the same. */
function Plot({ title, summary, children }: { title: string; summary: string; children: ReactNode }) {
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
