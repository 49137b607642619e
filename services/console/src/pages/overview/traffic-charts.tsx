import type { TrafficPoint } from '@gateway/contracts/traffic.js'
import { SimpleGrid, Text } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { Plot } from '../usage/plot.js'
import { rateOf, shareFromMemory } from './rates.js'

interface TrafficChartsProps {
  readonly points: readonly TrafficPoint[]
  readonly formatTime: (ms: number) => string
  readonly onZoom: (fromMs: number, toMs: number) => void
}

export default function TrafficCharts({ points, formatTime, onZoom }: TrafficChartsProps) {
  const { plots: t, figures } = useTexts().overview
  const formats = useFormats()
  const rates = (name: Parameters<typeof rateOf>[1]) => points.map((point) => rateOf([point], name))
  const [requests, missing, auth, bytes] = [
    rates('requests'),
    rates('tiles_missing'),
    rates('auth_failures'),
    rates('bytes_sent'),
  ]
  const hitRate = points.map((point) => shareFromMemory([point]))
  const shares = hitRate.filter((share) => share !== null)
  const shared = { times: points.map(({ at }) => Date.parse(at)), formatTime, group: 'traffic', onZoom }
  const format = formats.rate
  const summary = (values: readonly number[], format: (value: number) => string) =>
    values.length === 0
      ? ''
      : `${t.average(format(values.reduce((a, b) => a + b, 0) / values.length))}, ${t.peak(format(Math.max(0, ...values)))}`
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xs">
      <Plot
        title={t.requests}
        summary={summary(requests, format)}
        {...shared}
        format={format}
        series={[
          { name: t.all, color: 'sea.5', values: requests },
          { name: t.tiles, color: 'indigo.5', values: rates('tiles') },
        ]}
      />
      <Plot
        title={t.other}
        summary={summary(
          missing.map((rate, i) => rate + (auth[i] as number)),
          format,
        )}
        kind="lines"
        {...shared}
        format={format}
        series={[
          { name: t.missing, color: 'orange.6', values: missing },
          { name: t.auth, color: 'red.6', values: auth },
        ]}
      />
      <Plot
        title={t.hitRate}
        summary={summary(shares, formats.percent)}
        kind="shares"
        {...shared}
        format={formats.percent}
        series={[{ name: t.hitRate, color: 'teal.6', values: hitRate }]}
        {...(shares.length === 0 && { instead: <Text c="dimmed">{figures.noTiles}</Text> })}
      />
      <Plot
        title={t.bytes}
        summary={summary(bytes, formats.bytes)}
        kind="bytes"
        {...shared}
        format={formats.bytes}
        series={[{ name: t.bytes, color: 'grape.5', values: bytes }]}
      />
    </SimpleGrid>
  )
}
