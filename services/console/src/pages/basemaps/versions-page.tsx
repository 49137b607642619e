import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import IconStack2 from '~icons/stack-2'
import { VERSIONS } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { useTexts } from '../../texts/texts.js'
import { agoColumn, availabilityColumn, type Column } from '../../ui/columns.js'
import { NameLink } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { ServerTable } from '../../ui/server-table.js'
import { Status } from '../../ui/status.js'
import { useCatalogFilters } from '../../ui/use-catalog-filters.js'
import { WithdrawnMark } from '../../ui/withdrawn.js'

export function Page() {
  const t = useTexts()
  return (
    <Frame title={t.basemaps.allVersions} above={[{ label: t.basemaps.title, to: '/basemaps' }]}>
      <Section title={t.basemaps.allVersions} quiet>
        <ServerTable
          source={VERSIONS}
          what={t.basemaps.versions}
          empty={{ title: t.basemaps.empty, icon: IconStack2, action: null, advice: t.basemaps.emptyAdvice }}
          label={t.basemaps.allVersions}
          search={t.basemaps.searchVersions}
          filters={useCatalogFilters()}
          columns={useColumns()}
          rowKey={(v) => `${v.basemap_code}/${v.version}`}
        />
      </Section>
    </Frame>
  )
}

type ListedVersion = AdminBasemapVersion & { readonly basemap_code: string }

function useColumns(): readonly Column<ListedVersion>[] {
  const t = useTexts()
  return [
    {
      id: 'basemap',
      header: t.pushes.basemap,
      sort: 'basemap_code',
      value: (v) => v.basemap_code,
      cell: (v) => <NameLink to={`/basemaps/${segment(v.basemap_code)}`} name={v.basemap_code} />,
    },
    {
      id: 'version',
      header: t.common.version,
      sort: 'version',
      value: (v) => v.version,
      cell: (v) => (
        <>
          <NameLink
            to={`/basemaps/${segment(v.basemap_code)}/versions/${segment(v.version)}`}
            fw={550}
            name={v.version}
          />{' '}
          {v.held ? <Status tone="busy">{t.automation.held}</Status> : <WithdrawnMark of={v} />}
        </>
      ),
    },
    { id: 'storage', header: t.basemaps.storage, sort: 'storage', value: (v) => `${v.storage} · ${v.format}` },
    { id: 'zooms', header: t.common.zooms, sort: 'max_zoom', value: (v) => `${v.min_zoom}–${v.max_zoom}` },
    availabilityColumn(t),
    agoColumn('scanned', t.basemaps.scannedAt, (v) => v.scanned_at, { sort: 'scanned_at' }),
  ]
}
