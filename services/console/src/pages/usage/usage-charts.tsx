import { AreaChart, LineChart } from '@mantine/charts'
import { SimpleGrid } from '@mantine/core'
import { sumOf, USAGE_RANGES, type UsagePoint, type UsageRange } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { AREA, AXES, LINE, Plot } from '../../ui/plot.js'
import { useFormats } from '../../ui/use-formats.js'

export default function UsageCharts({ points, range }: { points: readonly UsagePoint[]; range: UsageRange }) {
  const t = useTexts().usage
  const formats = useFormats()
  const isHourly = USAGE_RANGES[range].step === 'hour'
  const data = points.map((point) => ({
    time: isHourly ? formats.clock(point.at) : formats.day(point.at),
    [t.requests]: point.requests,
    [t.tiles]: point.tiles,
    [t.missing]: point.tile_404,
    [t.refused]: point.refused,
    [t.bytes]: point.bytes,
  }))
  const sum = sumOf(points)
  const number = (value: number) => formats.number(value)
  const summary = (value: string) => `${t.total(value)}, ${isHourly ? t.perHour : t.perDay}`
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl" verticalSpacing="lg">
      <Plot title={t.requests} summary={summary(number(sum.requests))}>
        <AreaChart
          {...AREA}
          data={data}
          series={[
            { name: t.requests, color: 'sea.5' },
            { name: t.tiles, color: 'indigo.5' },
          ]}
          valueFormatter={number}
          withLegend
        />
      </Plot>
      <Plot title={t.other} summary={summary(number(sum.tile_404 + sum.refused))}>
        <LineChart
          {...LINE}
          data={data}
          series={[
            { name: t.missing, color: 'orange.6' },
            { name: t.refused, color: 'red.6' },
          ]}
          valueFormatter={number}
          withLegend
        />
      </Plot>
      <Plot title={t.bytes} summary={summary(formats.bytes(sum.bytes))}>
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
