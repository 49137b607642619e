import type { AdminVector } from '@gateway/contracts/vector.js'
import IconFolderPlus from '~icons/folder-plus'
import IconMapOff from '~icons/map-off'
import IconVector from '~icons/vector'
import { VECTORS } from '../../api/catalog.js'
import { segment } from '../../api/client.js'
import { rowToken } from '../../api/preview.js'
import { drawnPicture } from '../../api/styles.js'
import { useTexts } from '../../texts/texts.js'
import { catalogActions } from '../../ui/bulk-actions.js'
import { agoColumn, availabilityColumn, type Column, monoColumn, nameColumn, sourceColumn } from '../../ui/columns.js'
import type { Filter } from '../../ui/filter-field.js'
import { ButtonLink } from '../../ui/links.js'
import { ServerListPage } from '../../ui/server-table.js'
import { Thumbnail } from '../../ui/thumbnail.js'
import { useCatalogFilters } from '../../ui/use-catalog-filters.js'
import { useFormats } from '../../ui/use-formats.js'
import { isServed } from '../../ui/withdrawn.js'
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
  const name = nameColumn<AdminVector>(t, (code) => `/vectors/${segment(code)}`)
  return [
    {
      ...name,
      cell: (vector) => (
        <div className="with-thumbnail">
          <VectorThumbnail vector={vector} />
          <div className="named">{name.cell?.(vector)}</div>
        </div>
      ),
    },
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
      share: 22,
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

/** Web Mercator ends near this latitude, and static maps refuse boxes beyond it. */
const MOST_LATITUDE = 85
/** Degrees that fit into a small picture: no map is smaller than at zoom 0, at which the world has 512 pixels. */
const FITTING = 60
const WORLD_SIDE = 512
const PLACE_ZOOM = 12

/** A small map of all features in the plain style of the vector. */
function VectorThumbnail({ vector }: { vector: AdminVector }) {
  const { code, revision, available, tiles, bounds } = vector
  const isShown = available && isServed(vector)
  const read = async (signal: AbortSignal) =>
    drawnPicture({ code, ...viewOf(bounds ?? []) }, await rowToken('vector_codes', code), signal)
  return (
    <Thumbnail
      id={['vector', code, revision]}
      read={isShown && bounds !== null && tiles.status === 'ready' ? read : null}
      icon={isShown ? IconVector : IconMapOff}
    />
  )
}

/** The bounds of a vector as the view of a picture. A place or a line along an axis needs its surroundings. */
export function viewOf([west = 0, south = 0, east = 0, north = 0]: readonly number[]) {
  const [from, to] = [Math.max(-MOST_LATITUDE, south), Math.min(MOST_LATITUDE, north)]
  if (west === east || from >= to) return { view: [(west + east) / 2, (from + to) / 2, PLACE_ZOOM].join() }
  // A box over the 180th meridian is drawn like the world.
  const isLarge = east < west || Math.max(east - west, to - from) > FITTING
  return { view: [west, from, east, to].join(), ...(isLarge && { side: WORLD_SIDE }) }
}
