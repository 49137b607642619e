import type { Latency, TrafficPoint } from '@gateway/contracts/traffic.js'
import { SimpleGrid } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { timeFormat } from '../../ui/use-zoom.js'
import { type Amount, rateOf, shareFromMemory } from '../overview/rates.js'
import { Plot } from '../usage/plot.js'

interface EdgeChartsProps {
  readonly points: readonly TrafficPoint[]
  readonly onZoom: (fromMs: number, toMs: number) => void
}

export default function EdgeCharts({ points, onZoom }: EdgeChartsProps) {
  const { overview, work } = useTexts()
  const t = overview.edge
  const formats = useFormats()
  const shared = {
    times: points.map(({ at }) => Date.parse(at)),
    formatTime: timeFormat(points, formats),
    group: 'edge',
    onZoom,
    wide: true,
    summary: '',
  }
  const rates = (name: Amount) => points.map((point) => rateOf([point], name))
  const latency = (name: keyof Latency, color: string) => ({
    name: work.edges.latency[name],
    color,
    values: points.map((point) => point.latency?.[name] ?? null),
  })
  const { rate } = formats
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="lg">
      <Plot
        {...shared}
        title={work.edges.latencyTitle}
        kind="lines"
        format={formats.latency}
        series={[latency('p50', 'sea.5'), latency('p95', 'orange.6'), latency('p99', 'red.6')]}
      />
      <Plot
        {...shared}
        title={t.requests}
        format={rate}
        series={[{ name: t.requests, color: 'sea.5', values: rates('requests') }]}
      />
      <Plot
        {...shared}
        title={work.edges.failures}
        kind="lines"
        format={rate}
        series={[
          { name: t.errors, color: 'red.6', values: rates('server_errors') },
          { name: t.missing, color: 'orange.6', values: rates('tiles_missing') },
          { name: t.auth, color: 'grape.5', values: rates('auth_failures') },
        ]}
      />
      <Plot
        {...shared}
        title={t.hitRate}
        kind="shares"
        format={formats.percent}
        series={[{ name: t.hitRate, color: 'teal.6', values: points.map((point) => shareFromMemory([point])) }]}
      />
      <Plot
        {...shared}
        title={t.memory}
        format={formats.bytes}
        series={[{ name: t.memory, color: 'indigo.5', values: points.map(({ memory_bytes: bytes }) => bytes ?? null) }]}
      />
    </SimpleGrid>
  )
}
