import { Stack, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { EDGE_RANGES, type EdgeRange, edgesQuery, edgeTrafficQuery, trafficQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { DataTable } from '../../ui/data-table.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { part } from '../../ui/part.js'
import { PlotSkeleton } from '../../ui/plot-skeleton.js'
import { Section } from '../../ui/section.js'
import { useParameter } from '../../ui/use-parameter.js'
import { RangeField } from '../usage/range-field.js'
import { type EdgeRow, edgeRows, useEdgeColumns } from './edge-columns.js'

const ComparedCharts = part(async () => (await import('./compared-charts.js')).default, {
  Pending: () => <PlotSkeleton what={({ work }) => work.edges.compared} />,
})

/** Maximum number of processes in one chart; more lines are hard to tell apart. */
const COMPARED = 6

/** The edge processes, to find those that are slow, behind, or short of memory. */
export function Page() {
  const t = useTexts()
  const edges = useQuery(edgesQuery)
  const traffic = useQuery(trafficQuery())
  const columns = useEdgeColumns(true)
  return (
    <Frame title={t.work.edges.title} lead={t.work.edges.lead}>
      <Loaded query={edges} what={t.overview.edges}>
        {({ items }) => {
          if (items.length === 0) return <Text c="dimmed">{t.overview.noEdgeAdvice}</Text>
          const rows = edgeRows(items, traffic.data)
          return (
            <Stack gap="md">
              <Section title={t.work.edges.processes} note={t.work.edges.now}>
                <DataTable
                  label={t.work.edges.processes}
                  rows={rows}
                  columns={columns}
                  rowKey={({ id }) => id}
                  sortedBy="-p95"
                  search={t.work.edges.search}
                  wide
                />
              </Section>
              <Compared rows={rows} />
            </Stack>
          )
        }}
      </Loaded>
    </Frame>
  )
}

/** Charts of the slowest processes over time. */
function Compared({ rows }: { rows: readonly EdgeRow[] }) {
  const t = useTexts().work.edges
  const [asked, setRange] = useParameter('range')
  const range: EdgeRange = EDGE_RANGES.find((one) => one === asked) ?? 'hour'
  const slowest = rows.toSorted((a, b) => p95(b) - p95(a)).slice(0, COMPARED)
  const histories = useQueries({ queries: slowest.map(({ id }) => edgeTrafficQuery(id, range)) })
  const known = slowest.flatMap(({ host, pid }, i) => {
    const points = histories[i]?.data?.points
    return points === undefined || points.length === 0 ? [] : [{ name: `${host} · ${pid}`, points }]
  })
  return (
    <Section
      title={t.compared}
      {...(rows.length > COMPARED && { note: t.slowest(COMPARED) })}
      actions={
        <RangeField ranges={EDGE_RANGES} value={range} onChange={(next) => setRange(next === 'hour' ? null : next)} />
      }
    >
      {known.length === 0 ? <Text c="dimmed">{t.nothingYet}</Text> : <ComparedCharts edges={known} />}
    </Section>
  )
}

const p95 = ({ span }: EdgeRow) => span?.latency?.p95 ?? -1
