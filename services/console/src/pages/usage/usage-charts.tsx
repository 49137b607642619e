import { SimpleGrid } from '@mantine/core'
import { sumOf, type UsagePoint, type UsageSpan } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { Plot } from './plot.js'

interface UsageChartsProps {
  readonly points: readonly UsagePoint[]
  readonly span: UsageSpan
  readonly onZoom: (fromMs: number, toMs: number) => void
}

const DAY_MS = 86_400_000

export default function UsageCharts({ points, span, onZoom }: UsageChartsProps) {
  const t = useTexts().usage
  const formats = useFormats()
  const isHourly = span.step === 'hour'
  const isOneDay = span.toMs - span.fromMs <= 2 * DAY_MS
  const formatTime = (ms: number) => {
    const at = new Date(ms).toISOString()
    return isHourly ? (isOneDay ? formats.clock(at) : formats.hour(at)) : formats.day(at)
  }
  const sum = sumOf(points)
  const format = (value: number) => formats.number(value)
  const summary = (value: string) => `${t.total(value)}, ${isHourly ? t.perHour : t.perDay}`
  const shared = { times: points.map(({ at }) => Date.parse(at)), formatTime, group: 'usage', onZoom }
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl" verticalSpacing="lg">
      <Plot
        title={t.requests}
        summary={summary(format(sum.requests))}
        {...shared}
        format={format}
        series={[
          { name: t.requests, color: 'sea.5', values: points.map(({ requests }) => requests) },
          { name: t.tiles, color: 'indigo.5', values: points.map(({ tiles }) => tiles) },
        ]}
      />
      <Plot
        title={t.other}
        summary={summary(format(sum.tile_404 + sum.refused))}
        kind="lines"
        {...shared}
        format={format}
        series={[
          { name: t.missing, color: 'orange.6', values: points.map(({ tile_404: missing }) => missing) },
          { name: t.refused, color: 'red.6', values: points.map(({ refused }) => refused) },
        ]}
      />
      <Plot
        title={t.bytes}
        summary={summary(formats.bytes(sum.bytes))}
        kind="bytes"
        {...shared}
        format={formats.bytes}
        series={[{ name: t.bytes, color: 'grape.5', values: points.map(({ bytes }) => bytes) }]}
      />
    </SimpleGrid>
  )
}
