import type { AdminVector } from '@gateway/contracts/vector.js'
import { IconFolderPlus, IconVector } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { vectorsQuery } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { availabilityColumn, nameColumn } from '../../ui/columns.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { ListPage } from '../../ui/list-page.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(vectorsQuery)
  const columns = useColumns()
  return (
    <ListPage
      texts={t.vectors}
      icon={<IconVector size={30} aria-hidden />}
      first={
        <ButtonLink to="/sources/new?kind=vector" leftSection={<IconFolderPlus size={17} aria-hidden />}>
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
  return useMemo(
    () => [
      nameColumn(t, (code) => `/vectors/${segment(code)}`),
      { id: 'kind', header: t.common.kind, value: ({ kind }) => t.vectors.kinds[kind] },
      {
        id: 'path',
        header: t.vectors.relativePath,
        value: (vector) => vector.relative_path,
        cell: (vector) => <span className="mono">{vector.relative_path}</span>,
      },
      {
        id: 'size',
        header: t.common.size,
        numeric: true,
        value: ({ size }) => size,
        cell: ({ size }) => formats.bytes(size),
      },
      {
        id: 'modified',
        header: t.vectors.modified,
        value: (vector) => vector.modified_at,
        cell: (vector) => <Ago at={vector.modified_at} />,
      },
      availabilityColumn(t),
      {
        id: 'source',
        header: t.common.source,
        value: (vector) => vector.source_code,
        cell: ({ source_code: source }) => <TextLink to={`/sources/${segment(source)}`}>{source}</TextLink>,
      },
    ],
    [t, formats],
  )
}
