import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { useMemo } from 'react'
import IconVector from '~icons/vector'
import { VECTORS } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import type { ListSource } from '../../api/list.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, type Column, nameColumn } from '../../ui/columns.js'
import { Section } from '../../ui/section.js'
import { ServerTable } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { LeftOutSummary, TilesStatus, useTilesFilter } from '../vectors/tiles-section.js'

type Query = Parameters<typeof VECTORS.read>[0]

/** Shows the builds of tiles that the scans of a vector source have led to. */
export function BuildsSection({ source: { code, kind } }: { source: ScanSource }) {
  const t = useTexts()
  const columns = useColumns()
  const ofSource = useMemo<ListSource<AdminVector, Query>>(
    () => ({ ...VECTORS, read: (query) => VECTORS.read({ ...query, source_code: code }) }),
    [code],
  )
  const filter = useTilesFilter()
  if (kind !== 'vector') return null
  return (
    <Section title={t.vectors.tiles}>
      <ServerTable
        source={ofSource}
        filters={[filter]}
        columns={columns}
        rowKey={({ code: key }) => key}
        label={t.vectors.tiles}
        search={t.vectors.search}
        what={t.vectors.what}
        empty={{ title: t.vectors.empty, icon: IconVector, action: null, advice: t.vectors.emptyAdvice }}
      />
    </Section>
  )
}

function useColumns(): readonly Column<AdminVector>[] {
  const t = useTexts()
  return [
    nameColumn(t, (code) => `/vectors/${segment(code)}`),
    {
      id: 'status',
      header: t.common.status,
      value: ({ tiles }) => tiles.status,
      cell: ({ tiles }) => <TilesStatus tiles={tiles} />,
    },
    {
      id: 'zooms',
      header: t.common.zooms,
      value: ({ tiles: { min_zoom: first, max_zoom: last } }) => (first === null ? '–' : `${first}–${last}`),
    },
    agoColumn('built', t.vectors.built, ({ tiles }) => tiles.built_at),
    {
      id: 'left-out',
      header: t.vectors.leftOut,
      value: ({ tiles }) => Object.keys(tiles.left_out).length,
      cell: ({ tiles }) => <LeftOutSummary tiles={tiles} />,
    },
    {
      id: 'message',
      header: t.sources.message,
      value: ({ tiles }) => tiles.message || '–',
      cell: ({ tiles }) => (
        <ServerText text={tiles.message || '–'} code={tiles.message_code} params={tiles.message_params} />
      ),
    },
  ]
}
