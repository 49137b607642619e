import type { AdminBasemap, BasemapVersion, ListedBasemap } from '@gateway/contracts/basemap.js'
import { Text } from '@mantine/core'
import IconFolderPlus from '~icons/folder-plus'
import IconMapOff from '~icons/map-off'
import IconStack2 from '~icons/stack-2'
import IconVectorTriangle from '~icons/vector-triangle'
import { BASEMAPS } from '../../api/catalog.js'
import { request, segment } from '../../api/client.js'
import { rowToken, TOKEN_HEADER, tilePath } from '../../api/preview.js'
import { isOwnGrid } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import { addressText } from '../../map/tile-address.js'
import { useTexts } from '../../texts/texts.js'
import { catalogActions } from '../../ui/bulk-actions.js'
import { agoColumn, type Column, nameColumn, sourceColumn } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { Name } from '../../ui/name.js'
import { type FiltersOf, ServerListPage } from '../../ui/server-table.js'
import { Status } from '../../ui/status.js'
import { Thumbnail } from '../../ui/thumbnail.js'
import { useCatalogFilters } from '../../ui/use-catalog-filters.js'
import { useFormats } from '../../ui/use-formats.js'
import { isServed } from '../../ui/withdrawn.js'
import { Tags } from './tags.js'
import { thumbnailTile } from './thumbnail-tile.js'

export function Page() {
  const t = useTexts()
  const filters: FiltersOf<typeof BASEMAPS> = [
    { name: 'owner', label: t.maps.owner },
    { name: 'tag', label: t.maps.tag },
    ...useCatalogFilters(),
  ]
  return (
    <ServerListPage
      texts={t.basemaps}
      icon={IconStack2}
      actions={
        <ButtonLink to="/versions" variant="default">
          {t.basemaps.allVersions}
        </ButtonLink>
      }
      first={
        <ButtonLink to="/sources/new?kind=basemap" needs="admin" icon={IconFolderPlus}>
          {t.sources.add}
        </ButtonLink>
      }
      source={BASEMAPS}
      filters={filters}
      columns={useColumns()}
      rowKey={({ code }) => code}
      bulk={{ list: 'basemaps', changes: ['basemaps'], actions: catalogActions(t), nameOf: ({ name }) => name }}
    />
  )
}

/** Tags of a row; the page of the basemap shows all. */
const TAGS_IN_ROW = 2

function useColumns(): readonly Column<ListedBasemap>[] {
  const t = useTexts()
  const formats = useFormats()
  const current = (basemap: AdminBasemap) => basemap.versions.find((v) => v.version === basemap.default_version)
  const missing = ({ versions }: AdminBasemap) => versions.filter((v) => !v.available).length
  const ofCurrent = (text: (version: AdminBasemap['versions'][number]) => string) => (basemap: AdminBasemap) => {
    const version = current(basemap)
    return version === undefined ? '–' : text(version)
  }
  const name = nameColumn<ListedBasemap>(t, (code) => `/basemaps/${segment(code)}`)
  return [
    {
      ...name,
      cell: (basemap) => (
        <div className="with-thumbnail">
          <BasemapThumbnail basemap={basemap} />
          <div className="named in-row">
            {name.cell?.(basemap)}
            {basemap.owner !== null && (
              <Text size="xs" c="dimmed" span>
                <Name>{basemap.owner}</Name>
              </Text>
            )}
            <Tags tags={basemap.tags} most={TAGS_IN_ROW} />
          </div>
        </div>
      ),
    },
    {
      id: 'default',
      header: t.basemaps.default,
      value: (basemap) => basemap.default_version ?? '',
      cell: ({ default_version: version }) =>
        version === null ? (
          <Text c="dimmed" inherit>
            {t.common.none}
          </Text>
        ) : (
          <Name>{version}</Name>
        ),
    },
    {
      id: 'versions',
      header: t.basemaps.versions,
      sort: 'versions',
      numeric: true,
      value: ({ versions }) => versions.length,
    },
    {
      id: 'storage',
      header: t.basemaps.storage,
      value: ofCurrent((v) => `${v.storage} · ${v.format} · ${v.min_zoom}–${v.max_zoom}`),
    },
    {
      id: 'health',
      header: t.basemaps.health,
      value: missing,
      cell: (basemap) => {
        const [n, of] = [missing(basemap), basemap.versions.length]
        if (n === 0) return <Status tone="good">{t.basemaps.allGood}</Status>
        return <Status tone={n === of ? 'bad' : 'warning'}>{t.basemaps.someMissing(n, of)}</Status>
      },
    },
    {
      id: 'requests',
      header: t.maps.requestsPerDay,
      numeric: true,
      value: ({ requests_per_day: n }) => n,
      cell: ({ requests_per_day: n }) => formats.number(n, n < 10 ? 1 : 0),
    },
    sourceColumn(t),
    agoColumn('updated', t.common.updated, (basemap) => basemap.updated_at, { sort: 'updated_at' }),
  ]
}

/** One tile of the default version. */
function BasemapThumbnail({ basemap }: { basemap: AdminBasemap }) {
  const { code } = basemap
  const version = basemap.versions.find((v) => v.version === basemap.default_version)
  const isShown = version?.available && isServed(basemap) && isServed(version) && !isOwnGrid(version)
  if (!isShown) return <Thumbnail id={[code]} read={null} icon={IconMapOff} />
  return (
    <Thumbnail
      id={[code, version.version, version.revision]}
      read={isVector(version.format) ? null : (signal) => readTile(code, version, signal)}
      icon={IconVectorTriangle}
    />
  )
}

/** Returns null if the version has no tile there, or if this host serves no tiles. */
async function readTile(code: string, version: BasemapVersion, signal: AbortSignal): Promise<Blob | null> {
  const token = await rowToken('basemap_codes', code)
  const path = tilePath(code, version.version, addressText(thumbnailTile(version)), version.format)
  // With missing=204 a missing tile is not an error.
  const url = `${path}?v=${version.revision}&missing=204`
  return request(url, {}, { signal, headers: { [TOKEN_HEADER]: token } }, async (response) =>
    response.status === 204 ? null : response.blob(),
  )
}
