import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Text } from '@mantine/core'
import { IconFolderPlus, IconStack2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { basemapsQuery } from '../../api/catalog.js'
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

export function Page() {
  const t = useTexts()
  const query = useQuery(basemapsQuery)
  const columns = useColumns()
  return (
    <Frame title={t.basemaps.title} lead={t.basemaps.lead}>
      <Section title={t.basemaps.title} quiet>
        <Loaded query={query} what={t.basemaps.what}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty
                title={t.basemaps.empty}
                icon={<IconStack2 size={30} aria-hidden />}
                action={
                  <ButtonLink to="/sources/new?kind=basemap" leftSection={<IconFolderPlus size={17} aria-hidden />}>
                    {t.sources.add}
                  </ButtonLink>
                }
              >
                {t.basemaps.emptyAdvice}
              </Empty>
            ) : (
              <DataTable
                label={t.basemaps.title}
                rows={items}
                columns={columns}
                rowKey={({ code }) => code}
                search={t.basemaps.search}
              />
            )
          }
        </Loaded>
      </Section>
    </Frame>
  )
}

function useColumns(): readonly Column<AdminBasemap>[] {
  const t = useTexts()
  return useMemo(() => {
    const current = (basemap: AdminBasemap) => basemap.versions.find((v) => v.version === basemap.default_version)
    return [
      {
        id: 'name',
        header: t.common.name,
        value: ({ name, code }) => `${name} ${code}`,
        cell: ({ name, code }) => (
          <>
            <TextLink to={`/basemaps/${segment(code)}`} fw={550}>
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
      {
        id: 'default',
        header: t.basemaps.default,
        value: (basemap) => basemap.default_version ?? '',
        cell: (basemap) =>
          basemap.default_version ?? (
            <Text c="dimmed" inherit>
              {t.common.none}
            </Text>
          ),
      },
      {
        id: 'versions',
        header: t.basemaps.versions,
        numeric: true,
        value: (basemap) => basemap.versions.length,
      },
      {
        id: 'storage',
        header: t.basemaps.storage,
        value: (basemap) => {
          const version = current(basemap)
          return version === undefined ? '–' : `${version.storage} · ${version.format}`
        },
      },
      {
        id: 'zooms',
        header: t.common.zooms,
        value: (basemap) => {
          const version = current(basemap)
          return version === undefined ? '–' : `${version.min_zoom}–${version.max_zoom}`
        },
      },
      {
        id: 'health',
        header: t.basemaps.health,
        value: (basemap) => basemap.versions.filter((v) => !v.available).length,
        cell: ({ versions }) => {
          const missing = versions.filter((v) => !v.available).length
          if (missing === 0) return <Status tone="good">{t.basemaps.allGood}</Status>
          const tone = missing === versions.length ? 'bad' : 'warning'
          return <Status tone={tone}>{t.basemaps.someMissing(missing, versions.length)}</Status>
        },
      },
      {
        id: 'source',
        header: t.common.source,
        value: (basemap) => basemap.source_code,
        cell: ({ source_code: source }) => <TextLink to={`/sources/${segment(source)}`}>{source}</TextLink>,
      },
      {
        id: 'updated',
        header: t.common.updated,
        value: (basemap) => basemap.updated_at,
        cell: (basemap) => <Ago at={basemap.updated_at} />,
      },
    ]
  }, [t])
}
