import type { TrafficPoint } from '@gateway/contracts/traffic.js'
import { SimpleGrid } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { timeFormat, useZoom } from '../../ui/use-zoom.js'
import { rateOf, shareFromMemory } from '../overview/rates.js'
import { Plot } from '../usage/plot.js'

interface ComparedChartsProps {
  readonly edges: readonly { readonly name: string; readonly points: readonly TrafficPoint[] }[]
}

const COLORS = ['sea.5', 'indigo.5', 'orange.6', 'grape.5', 'red.6', 'teal.6']

/** Charts with one line for each edge process. */
export default function ComparedCharts({ edges }: ComparedChartsProps) {
  const { overview, work } = useTexts()
  const formats = useFormats()
  const { isZoomed, zoom, reset, within } = useZoom()
  const ats = [...new Set(edges.flatMap(({ points }) => points.map(({ at }) => at)))].sort()
  const shown = within(ats.map((at) => ({ at })))
  const plot = (title: string, value: (point: TrafficPoint) => number | null, format: (value: number) => string) => (
    <Plot
      key={title}
      title={title}
      summary={isZoomed ? '' : ' '}
      kind={title === overview.edge.hitRate ? 'shares' : 'lines'}
      wide
      group="edges"
      times={shown.map(({ at }) => Date.parse(at))}
      formatTime={timeFormat(shown, formats)}
      format={format}
      onZoom={(from, to) => (from === to ? reset() : zoom(from, to))}
      series={edges.map(({ name, points }, i) => {
        const byAt = new Map(points.map((point) => [point.at, point]))
        const values = shown.map(({ at }) => {
          const point = byAt.get(at)
          return point === undefined ? null : value(point)
        })
        return { name, color: COLORS[i % COLORS.length] as string, values }
      })}
    />
  )
  const { rate } = formats
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl" verticalSpacing="lg">
      {plot(work.edges.latency.p95, ({ latency }) => latency?.p95 ?? null, formats.latency)}
      {plot(overview.edge.requests, (point) => rateOf([point], 'requests'), rate)}
      {plot(overview.edge.errors, (point) => rateOf([point], 'server_errors'), rate)}
      {plot(overview.edge.memory, ({ memory_bytes: bytes }) => bytes ?? null, formats.bytes)}
      {plot(overview.edge.hitRate, (point) => shareFromMemory([point]), formats.percent)}
    </SimpleGrid>
  )
}
