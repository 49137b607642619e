import type { AdminVector } from '@gateway/contracts/vector.js'
import { IconFolderPlus, IconVector } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { vectorsQuery } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, availabilityColumn, type Column, monoColumn, nameColumn, sourceColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { ListPage } from '../../ui/list-page.js'
import { useFormats } from '../../ui/use-formats.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(vectorsQuery)
  const columns = useColumns()
  return (
    <ListPage
      texts={t.vectors}
      icon={IconVector}
      first={
        <ButtonLink to="/sources/new?kind=vector" needs="admin" icon={IconFolderPlus}>
          {t.sources.add}
        </ButtonLink>
      }
      query={query}
      columns={columns}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<AdminVector>[] {
  const t = useTexts()
  const formats = useFormats()
  return [
    nameColumn(t, (code) => `/vectors/${segment(code)}`),
    { id: 'kind', header: t.common.kind, value: ({ kind }) => t.vectors.kinds[kind] },
    monoColumn('path', t.vectors.relativePath, (vector) => vector.relative_path),
    {
      id: 'size',
      header: t.common.size,
      numeric: true,
      value: ({ size }) => size,
      cell: ({ size }) => formats.bytes(size),
    },
    agoColumn('modified', t.vectors.modified, ({ modified_at: at }) => at),
    availabilityColumn(t),
    sourceColumn(t),
  ]
}
