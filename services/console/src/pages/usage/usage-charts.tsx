import { SimpleGrid } from '@mantine/core'
import { sumOf, USAGE_RANGES, type UsagePoint, type UsageRange } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { Plot } from './plot.js'

export default function UsageCharts({ points, range }: { points: readonly UsagePoint[]; range: UsageRange }) {
  const t = useTexts().usage
  const formats = useFormats()
  const isHourly = USAGE_RANGES[range].step === 'hour'
  const times = points.map(({ at }) => (isHourly ? formats.clock(at) : formats.day(at)))
  const sum = sumOf(points)
  const format = (value: number) => formats.number(value)
  const summary = (value: string) => `${t.total(value)}, ${isHourly ? t.perHour : t.perDay}`
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl" verticalSpacing="lg">
      <Plot
        title={t.requests}
        summary={summary(format(sum.requests))}
        {...{ times, format }}
        series={[
          { name: t.requests, color: 'sea.5', values: points.map(({ requests }) => requests) },
          { name: t.tiles, color: 'indigo.5', values: points.map(({ tiles }) => tiles) },
        ]}
      />
      <Plot
        title={t.other}
        summary={summary(format(sum.tile_404 + sum.refused))}
        kind="lines"
        {...{ times, format }}
        series={[
          { name: t.missing, color: 'orange.6', values: points.map(({ tile_404: missing }) => missing) },
          { name: t.refused, color: 'red.6', values: points.map(({ refused }) => refused) },
        ]}
      />
      <Plot
        title={t.bytes}
        summary={summary(formats.bytes(sum.bytes))}
        kind="bytes"
        times={times}
        format={formats.bytes}
        series={[{ name: t.bytes, color: 'grape.5', values: points.map(({ bytes }) => bytes) }]}
      />
    </SimpleGrid>
  )
}
