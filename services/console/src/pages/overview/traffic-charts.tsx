import type { TrafficPoint } from '@gateway/contracts/traffic.js'
import { AreaChart, LineChart } from '@mantine/charts'
import { SimpleGrid, Text } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { AREA, AXES, LINE, Plot } from '../../ui/plot.js'
import { useFormats } from '../../ui/use-formats.js'
import { rateOf, shareFromMemory } from './rates.js'

export default function TrafficCharts({ points }: { points: readonly TrafficPoint[] }) {
  const { plots: t, figures } = useTexts().overview
  const formats = useFormats()
  const rates = (name: Parameters<typeof rateOf>[1]) => points.map((point) => rateOf([point], name))
  const series = {
    requests: rates('requests'),
    tiles: rates('tiles'),
    missing: rates('tiles_missing'),
    auth: rates('auth_failures'),
    bytes: rates('bytes_sent'),
    hitRate: points.map((point) => shareFromMemory([point])),
  }
  const data = points.map((point, i) => ({
    time: formats.clock(point.at),
    [t.all]: series.requests[i],
    [t.tiles]: series.tiles[i],
    [t.missing]: series.missing[i],
    [t.auth]: series.auth[i],
    [t.hitRate]: series.hitRate[i],
    [t.bytes]: series.bytes[i],
  }))
  const rate = (value: number) => formats.number(value, value < 1 ? 2 : 1)
  const summary = (values: readonly number[], format: (value: number) => string) =>
    `${t.average(format(values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)))}, ${t.peak(format(Math.max(0, ...values)))}`
  const shares = series.hitRate.filter((share) => share !== null)
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="lg">
      <Plot title={t.requests} summary={summary(series.requests, rate)}>
        <AreaChart
          {...AREA}
          data={data}
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
          series.missing.map((missing, i) => missing + (series.auth[i] as number)),
          rate,
        )}
      >
        <LineChart
          {...LINE}
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
            {...AREA}
            data={data}
            series={[{ name: t.hitRate, color: 'teal.6' }]}
            valueFormatter={formats.percent}
            yAxisProps={{ ...AXES.yAxisProps, domain: [0, 1] }}
            connectNulls={false}
          />
        )}
      </Plot>
      <Plot title={t.bytes} summary={summary(series.bytes, formats.bytes)}>
        <AreaChart
          {...AREA}
          data={data}
          series={[{ name: t.bytes, color: 'grape.5' }]}
          valueFormatter={formats.bytes}
          yAxisProps={{ ...AXES.yAxisProps, width: 64 }}
        />
      </Plot>
    </SimpleGrid>
  )
}
