import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { EDGE_RANGES, type EdgeRange, edgeQuery, edgeTrafficQuery } from '../../api/system.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { part } from '../../ui/part.js'
import { PlotSkeleton } from '../../ui/plot-skeleton.js'
import { Section } from '../../ui/section.js'
import { Ago, Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { useParameter } from '../../ui/use-parameter.js'
import { useZoom } from '../../ui/use-zoom.js'
import { RangeField } from '../usage/range-field.js'

const EdgeCharts = part(async () => (await import('./edge-charts.js')).default, {
  Pending: () => <PlotSkeleton what={({ work }) => work.edges.history} />,
})

/** One edge process: its state, and its traffic in the last hour or day. */
export function Page() {
  const t = useTexts()
  const { id = '' } = useParams()
  const formats = useFormats()
  const missing = { title: t.work.edges.noSuch, back: { label: t.work.edges.title, to: '/edges' } }
  return (
    <Loaded query={useQuery(edgeQuery(id))} what={t.overview.edges} missing={missing}>
      {(edge) => (
        <Frame title={`${edge.host} · ${edge.pid}`} above={[{ label: t.work.edges.title, to: '/edges' }]}>
          <Section title={t.maps.facts} quiet>
            <Facts>
              <Fact name={t.overview.edge.version}>{edge.version}</Fact>
              <Fact name={t.overview.edge.revision}>{formats.number(edge.applied_revision)}</Fact>
              <Fact name={t.overview.edge.since}>
                <Moment at={edge.started_at} />
              </Fact>
              <Fact name={t.work.edges.seen}>
                <Ago at={edge.seen_at} />
              </Fact>
              {edge.traffic?.memory_bytes !== undefined && (
                <Fact name={t.overview.edge.memory}>{formats.bytes(edge.traffic.memory_bytes)}</Fact>
              )}
            </Facts>
          </Section>
          <History id={id} />
        </Frame>
      )}
    </Loaded>
  )
}

function History({ id }: { id: string }) {
  const { work } = useTexts()
  const t = work.edges
  const [asked, setRange] = useParameter('range')
  const range: EdgeRange = EDGE_RANGES.find((one) => one === asked) ?? 'hour'
  const { isZoomed, zoom, reset, within } = useZoom()
  const query = useQuery(edgeTrafficQuery(id, range))
  return (
    <Section
      title={t.history}
      actions={
        <>
          {isZoomed && (
            <Button size="compact-xs" variant="default" onClick={reset}>
              {work.charts.zoomOut}
            </Button>
          )}
          <RangeField
            ranges={EDGE_RANGES}
            value={range}
            onChange={(next) => {
              reset()
              setRange(next === 'hour' ? null : next)
            }}
          />
        </>
      }
    >
      <Loaded query={query} what={t.history} missing={{ title: t.nothingYet, back: { label: t.title, to: '/edges' } }}>
        {({ points }) =>
          points.length === 0 ? (
            <Text c="dimmed">{t.nothingYet}</Text>
          ) : (
            <EdgeCharts points={within(points)} onZoom={zoom} />
          )
        }
      </Loaded>
    </Section>
  )
}
