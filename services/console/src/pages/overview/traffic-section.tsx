import { Button, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { TRAFFIC_RANGES, trafficQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { part } from '../../ui/part.js'
import { PlotSkeleton } from '../../ui/plot-skeleton.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { useParameter } from '../../ui/use-parameter.js'
import { useSeen } from '../../ui/use-seen.js'
import { timeFormat, useZoom } from '../../ui/use-zoom.js'
import { RangeField } from '../usage/range-field.js'

/** The chart library is a quarter of the page's size, so it loads only when there is data and the section becomes visible. */
const TrafficCharts = part(async () => (await import('./traffic-charts.js')).default, {
  Pending: () => <PlotSkeleton what={({ overview }) => overview.traffic} />,
})

/** The traffic of all edges. Dragging over a chart selects a range of time. */
export function TrafficSection() {
  const { overview: t, work } = useTexts()
  const formats = useFormats()
  const [asked, setRange] = useParameter('traffic')
  const range = TRAFFIC_RANGES.find((one) => one === asked) ?? 'hour'
  const query = useQuery({ ...trafficQuery(range), placeholderData: keepPreviousData })
  const { isZoomed, zoom, reset, within } = useZoom()
  const { ref, seen } = useSeen()
  return (
    <Section
      title={t.traffic}
      actions={
        <>
          {query.data && (
            <Text size="xs" c="dimmed" visibleFrom="lg">
              {t.trafficSince((range === 'hour' ? formats.clock : formats.hour)(query.data.since))}
            </Text>
          )}
          {isZoomed && (
            <Button size="compact-xs" variant="default" onClick={reset}>
              {work.charts.zoomOut}
            </Button>
          )}
          <RangeField
            ranges={TRAFFIC_RANGES}
            value={range}
            onChange={(next) => {
              reset()
              setRange(next === 'hour' ? null : next)
            }}
          />
        </>
      }
    >
      <div ref={ref}>
        <Loaded query={query} what={t.traffic}>
          {({ points }) =>
            points.length === 0 ? (
              <Text c="dimmed">{t.noTraffic}</Text>
            ) : seen ? (
              <TrafficCharts points={within(points)} formatTime={timeFormat(within(points), formats)} onZoom={zoom} />
            ) : (
              <div className="plot" />
            )
          }
        </Loaded>
      </div>
    </Section>
  )
}
