import type { AdminVector } from '@gateway/contracts/vector.js'
import IconFolderPlus from '~icons/folder-plus'
import IconVector from '~icons/vector'
import { VECTORS } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { catalogActions } from '../../ui/bulk-actions.js'
import { agoColumn, availabilityColumn, type Column, monoColumn, nameColumn, sourceColumn } from '../../ui/columns.js'
import type { Filter } from '../../ui/filter-field.js'
import { ButtonLink } from '../../ui/links.js'
import { ServerListPage } from '../../ui/server-table.js'
import { useCatalogFilters } from '../../ui/use-catalog-filters.js'
import { useFormats } from '../../ui/use-formats.js'
import { UnfinishedTiles, useTilesFilter } from './tiles-section.js'

export function Page() {
  const t = useTexts()
  const columns = useColumns()
  const ofKind: Filter<'kind'> = {
    name: 'kind',
    label: t.common.kind,
    options: Object.entries(t.vectors.kinds),
  }
  return (
    <ServerListPage
      texts={t.vectors}
      icon={IconVector}
      first={
        <ButtonLink to="/sources/new?kind=vector" needs="admin" icon={IconFolderPlus}>
          {t.sources.add}
        </ButtonLink>
      }
      source={VECTORS}
      filters={[ofKind, useTilesFilter(), ...useCatalogFilters()]}
      columns={columns}
      rowKey={({ code }) => code}
      bulk={{ list: 'vectors', changes: ['vectors'], actions: catalogActions(t), nameOf: ({ name }) => name }}
    />
  )
}

function useColumns(): readonly Column<AdminVector>[] {
  const t = useTexts()
  const formats = useFormats()
  return [
    nameColumn(t, (code) => `/vectors/${segment(code)}`),
    {
      id: 'kind',
      header: t.common.kind,
      sort: 'kind',
      value: ({ kind }) => t.vectors.kinds[kind],
      cell: ({ kind, tiles }) => (
        <>
          {t.vectors.kinds[kind]} <UnfinishedTiles tiles={tiles} />
        </>
      ),
    },
    {
      ...monoColumn<AdminVector>('path', t.vectors.relativePath, (vector) => vector.relative_path),
      sort: 'relative_path',
    },
    {
      id: 'size',
      header: t.common.size,
      sort: 'size',
      numeric: true,
      value: ({ size }) => size,
      cell: ({ size }) => formats.bytes(size),
    },
    agoColumn('modified', t.vectors.modified, ({ modified_at: at }) => at, { sort: 'modified_at' }),
    availabilityColumn(t),
    sourceColumn(t),
  ]
}
