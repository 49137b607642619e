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
import { edgeRows, useEdgeColumns, worstFirst } from '../edges/edge-columns.js'

interface EdgesSectionProps {
  readonly query: UseQueryResult<List<EdgePresence>>
  readonly traffic: TrafficHistory | undefined
}

/** Rows of the overview, which fits on a screen; the page of edges has all. */
const SHOWN = 4

/** The edge processes that need a look first: revision, traffic and latency. */
export function EdgesSection({ query, traffic }: EdgesSectionProps) {
  const { overview: t, work } = useTexts()
  const columns = useEdgeColumns(false)
  return (
    <Section
      title={t.edges}
      className="edges-now"
      actions={<TextLink to="/edges">{work.edges.all(query.data?.items.length ?? 0)}</TextLink>}
    >
      <Loaded query={query} what={t.edges}>
        {({ items }) =>
          items.length === 0 ? (
            <Text c="dimmed">{t.noEdgeAdvice}</Text>
          ) : (
            <DataTable
              label={t.edges}
              rows={worstFirst(edgeRows(items, traffic)).slice(0, SHOWN)}
              columns={columns}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Section>
  )
}
