import type { AdminBasemap, Bounds } from '@gateway/contracts/basemap.js'
import type { TileJson } from '@gateway/contracts/routes.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { MAX_WHOLE_BYTES } from '@gateway/contracts/without-schemas.js'
import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { basemapQuery, vectorQuery } from '../../api/catalog.js'
import { reads } from '../../api/client.js'
import { TOKEN_HEADER } from '../../api/preview.js'
import { columnsOf } from '../../map/geographic.js'
import { isVector } from '../../map/is-vector.js'
import type { MapContent } from '../../map/map-view.js'
import { stacked } from '../../map/stack.js'
import type { TileSet } from '../../map/tile-address.js'
import type { AddressedTiles } from '../../map/under-cursor.js'
import { versionContent } from '../../map/version-content.js'
import { isServed } from '../../ui/withdrawn.js'
import { keyOf, type ShownLayer } from './shown-layers.js'
import { useLayersToken } from './use-layers-token.js'
import { vectorContent, wholeContent } from './vector-content.js'

/** Why a layer is not drawn. */
export type LayerProblem = 'loading' | 'missing' | 'no_tiles' | 'other_grid'

export interface LayerState {
  readonly layer: ShownLayer
  readonly name: string
  readonly versions: readonly string[]
  readonly problem: LayerProblem | null
  readonly bounds: Bounds | null
  readonly content: MapContent | null
  readonly tiles: AddressedTiles | null
}

/** Returns the states of the layers, the map of those that can be drawn, and the token that reads them. */
export function useLayers(layers: readonly ShownLayer[]) {
  const token = useLayersToken(layers)
  const given = token.data?.token
  const isReadable = (layer: ShownLayer) => token.data?.reads(layer) === true
  const records = useQueries({
    queries: layers.map(({ kind, code }) => (kind === 'basemap' ? basemapQuery(code) : vectorQuery(code)) as never),
  }) as UseQueryResult<AdminBasemap | AdminVector>[]
  const tileJsons = useQueries({
    queries: layers.map((layer, i) => tileJsonQuery(layer, records[i]?.data, isReadable(layer) ? given : undefined)),
  })
  const key = JSON.stringify(layers)
  const loaded = [
    ...[...records, ...tileJsons].map(({ dataUpdatedAt, status }) => `${dataUpdatedAt}${status}`),
    ...layers.map(isReadable),
  ].join()
  // Every render creates the queries again; `key` and `loaded` change with their results.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const states = useMemo(() => {
    const known = layers.map((layer, i) =>
      stateOf(
        layer,
        isReadable(layer),
        records[i] as UseQueryResult<AdminBasemap | AdminVector>,
        tileJsons[i] as UseQueryResult<TileJson>,
      ),
    )
    const plane = known.find(({ content }) => content !== null)?.content?.projection
    return known.map((state) =>
      state.content === null || state.content.projection === plane
        ? state
        : { ...state, content: null, tiles: null, problem: 'other_grid' as const },
    )
  }, [key, loaded])
  const content = useMemo(
    () =>
      stacked(
        states.flatMap(({ content, layer }) => (content === null ? [] : [{ content, opacity: layer.opacity / 100 }])),
      ),
    [states],
  )
  return { states, content, token: given, error: token.error }
}

function versionOf({ version }: ShownLayer, { default_version: fallback, versions }: AdminBasemap) {
  const label = version === '' ? (fallback ?? versions.at(-1)?.version) : version
  return versions.find((one) => one.version === label)
}

function tileJsonQuery(layer: ShownLayer, record: AdminBasemap | AdminVector | undefined, token: string | undefined) {
  const headers = { [TOKEN_HEADER]: token ?? '' }
  const version = record !== undefined && 'versions' in record ? versionOf(layer, record) : undefined
  const isThere = layer.kind === 'vector' ? record !== undefined && !isWhole(record) : version !== undefined
  const read =
    layer.kind === 'vector'
      ? reads('/vectors/{code}/tilejson.json', { params: { path: { code: layer.code } }, headers })
      : reads('/tiles/{code}/{version}/tilejson.json', {
          params: { path: { code: layer.code, version: version?.version ?? '' } },
          headers,
        })
  return {
    queryKey: ['tilejson', 'layer', keyOf(layer), version?.revision ?? 0],
    queryFn: read,
    enabled: token !== undefined && isThere,
    retry: 1,
  }
}

function stateOf(
  layer: ShownLayer,
  isReadable: boolean,
  { data: record, isError }: UseQueryResult<AdminBasemap | AdminVector>,
  { data: tileJson, isError: noTiles }: UseQueryResult<TileJson>,
): LayerState {
  const versions = record !== undefined && 'versions' in record ? record.versions.map(({ version }) => version) : []
  const state = { layer, name: record?.name ?? layer.code, versions, bounds: null, content: null, tiles: null }
  if (isError) return { ...state, problem: 'missing' }
  if (record === undefined) return { ...state, problem: 'loading' }
  const version = 'versions' in record ? versionOf(layer, record) : null
  const isThere = isServed(record) && (version === null ? 'available' in record && record.available : isShown(version))
  if (!isThere) return { ...state, problem: 'missing' }
  // Without the token, the map would be refused, and would not ask again.
  if (!isReadable) return { ...state, problem: 'loading' }
  if (version === null && isWhole(record)) {
    const { bounds, size } = record
    if (size > MAX_WHOLE_BYTES) return { ...state, problem: 'no_tiles' }
    return { ...state, problem: null, bounds, content: wholeContent(layer.code) }
  }
  if (noTiles) return { ...state, problem: 'no_tiles' }
  if (tileJson === undefined) return { ...state, problem: 'loading' }
  const names = tileJson.vector_layers?.map(({ id }) => id) ?? []
  const template = tileJson.tiles[0] as string
  if (version == null) {
    const { minzoom: minZoom = 0, maxzoom: maxZoom = 0 } = tileJson
    const set: TileSet = { minZoom, maxZoom, tileSize: 512, columns: 1, vector: true }
    const bounds = (tileJson.bounds ?? null) as Bounds | null
    const content = vectorContent(layer.code, names, { minZoom, maxZoom })
    return { ...state, problem: null, bounds, content, tiles: { set, template } }
  }
  const set: TileSet = {
    minZoom: version.min_zoom,
    maxZoom: version.max_zoom,
    tileSize: version.tile_size,
    columns: columnsOf(version),
    vector: isVector(version.format),
  }
  const content = versionContent(layer.code, version, names, false)
  return { ...state, problem: null, bounds: version.bounds, content, tiles: { set, template } }
}

/** A vector whose tiles are not built, or never will be. */
function isWhole(record: AdminBasemap | AdminVector): record is AdminVector {
  return 'tiles' in record && record.tiles.built_at === null
}

function isShown(version: AdminBasemap['versions'][number] | undefined): boolean {
  return version !== undefined && isServed(version) && version.available
}
