import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { TrafficHistory, TrafficPoint } from '@gateway/contracts/traffic.js'
import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { List } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, type Column } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { Status } from '../../ui/status.js'
import { useFormats } from '../../ui/use-formats.js'
import { rateOf, shareFromMemory } from './rates.js'

interface Row extends EdgePresence {
  readonly span: TrafficPoint | undefined
  readonly behind: number
}

interface EdgesSectionProps {
  readonly query: UseQueryResult<List<EdgePresence>>
  readonly traffic: TrafficHistory | undefined
}

/** Rows at once: the overview fits on a screen. */
const SHOWN = 4

/** Every edge process: its revision and its traffic. */
export function EdgesSection({ query, traffic }: EdgesSectionProps) {
  const t = useTexts().overview
  const columns = useColumns()
  return (
    <Section title={t.edges}>
      <Loaded query={query} what={t.edges}>
        {({ items }) => {
          if (items.length === 0) return <Text c="dimmed">{t.noEdgeAdvice}</Text>
          const newest = Math.max(...items.map((edge) => edge.applied_revision))
          const rows = items.map((edge) => ({
            ...edge,
            span: traffic?.edges.find(({ id }) => id === edge.id),
            behind: newest - edge.applied_revision,
          }))
          return <DataTable label={t.edges} rows={rows} columns={columns} rowKey={({ id }) => id} pageSize={SHOWN} />
        }}
      </Loaded>
    </Section>
  )
}

function useColumns(): readonly Column<Row>[] {
  const t = useTexts().overview.edge
  const formats = useFormats()
  const rate = (id: string, header: string, name: 'requests' | 'tiles_missing' | 'auth_failures'): Column<Row> => ({
    id,
    header,
    numeric: true,
    value: ({ span }) => (span ? rateOf([span], name) : -1),
    cell: ({ span }) => (span ? formats.number(rateOf([span], name), 1) : t.unknown),
  })
  return [
    { id: 'host', header: t.host, value: (edge) => edge.host },
    { id: 'pid', header: t.process, value: (edge) => edge.pid, numeric: true },
    { id: 'version', header: t.version, value: (edge) => edge.version },
    {
      id: 'revision',
      header: t.revision,
      value: (edge) => edge.applied_revision,
      cell: ({ applied_revision: revision, behind }) =>
        behind === 0 ? formats.number(revision) : <Status tone="warning">{t.behind(behind)}</Status>,
    },
    rate('requests', t.requests, 'requests'),
    {
      id: 'memory',
      header: t.hitRate,
      numeric: true,
      value: ({ span }) => (span && shareFromMemory([span])) ?? -1,
      cell: ({ span }) => {
        const share = span ? shareFromMemory([span]) : null
        return share === null ? '–' : formats.percent(share)
      },
    },
    rate('missing', t.missing, 'tiles_missing'),
    rate('auth', t.auth, 'auth_failures'),
    agoColumn('since', t.since, (edge) => edge.started_at),
  ]
}
