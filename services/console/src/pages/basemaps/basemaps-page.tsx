import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Text } from '@mantine/core'
import { IconFolderPlus, IconStack2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { basemapsQuery } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { nameColumn } from '../../ui/columns.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { ListPage } from '../../ui/list-page.js'
import { Status } from '../../ui/status.js'
import { Ago } from '../../ui/time.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(basemapsQuery)
  const columns = useColumns()
  return (
    <ListPage
      texts={t.basemaps}
      icon={<IconStack2 size={30} aria-hidden />}
      first={
        <ButtonLink to="/sources/new?kind=basemap" leftSection={<IconFolderPlus size={17} aria-hidden />}>
          {t.sources.add}
        </ButtonLink>
      }
      query={query}
      columns={columns}
      rowKey={({ code }) => code}
    />
  )
}

function useColumns(): readonly Column<AdminBasemap>[] {
  const t = useTexts()
  return useMemo(() => {
    const current = (basemap: AdminBasemap) => basemap.versions.find((v) => v.version === basemap.default_version)
    return [
      nameColumn(t, (code) => `/basemaps/${segment(code)}`),
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
