import type { AdminVector } from '@gateway/contracts/vector.js'
import { Text } from '@mantine/core'
import { IconFolderPlus, IconVector } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { vectorsQuery } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, DataTable } from '../../ui/data-table.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(vectorsQuery)
  const columns = useColumns()
  return (
    <Frame title={t.vectors.title} lead={t.vectors.lead}>
      <Section title={t.vectors.title} quiet>
        <Loaded query={query} what={t.vectors.what}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                title={t.vectors.empty}
                icon={<IconVector size={30} aria-hidden />}
                action={
                  <ButtonLink to="/sources/new?kind=vector" leftSection={<IconFolderPlus size={17} aria-hidden />}>
                    {t.sources.add}
                  </ButtonLink>
                }
              >
                {t.vectors.emptyAdvice}
              </Empty>
            ) : (
              <DataTable
                label={t.vectors.title}
                rows={items}
                columns={columns}
                rowKey={({ code }) => code}
                search={t.vectors.search}
              />
            )
          }
        </Loaded>
      </Section>
    </Frame>
  )
}

function useColumns(): readonly Column<AdminVector>[] {
  const t = useTexts()
  const formats = useFormats()
  return useMemo(
    () => [
      {
        id: 'name',
        header: t.common.name,
        value: ({ name, code }) => `${name} ${code}`,
        cell: ({ name, code }) => (
          <>
            <TextLink to={`/vectors/${segment(code)}`} fw={550}>
              {name}
            </TextLink>
            {name !== code && (
              <Text size="xs" c="dimmed">
                {code}
              </Text>
            )}
          </>
        ),
      },
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
      {
        id: 'health',
        header: t.basemaps.health,
        value: ({ available }) => (available ? 0 : 1),
        cell: ({ available }) =>
          available ? (
            <Status tone="good">{t.common.available}</Status>
          ) : (
            <Status tone="bad">{t.common.unavailable}</Status>
          ),
      },
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
