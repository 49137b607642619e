import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { List } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { DataTable } from '../../ui/data-table.js'
import { TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { edgeRows, useEdgeColumns } from '../edges/edge-columns.js'

interface EdgesSectionProps {
  readonly query: UseQueryResult<List<EdgePresence>>
  readonly traffic: TrafficHistory | undefined
}

/** Maximum number of rows, so that the overview fits on a screen. */
const SHOWN = 4

/** Every edge process: its revision, its traffic and its latency. */
export function EdgesSection({ query, traffic }: EdgesSectionProps) {
  const { overview: t, work } = useTexts()
  const columns = useEdgeColumns(false)
  return (
    <Section title={t.edges} actions={<TextLink to="/edges">{work.edges.all}</TextLink>}>
      <Loaded query={query} what={t.edges}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">{t.noEdgeAdvice}</Text>
          ) : (
            <DataTable
              label={t.edges}
              rows={edgeRows(items, traffic)}
              columns={columns}
              rowKey={({ id }) => id}
              pageSize={SHOWN}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
