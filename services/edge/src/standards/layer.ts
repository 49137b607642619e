import { type AccessToken, isGranted } from '@gateway/access/decide.js'
import { type Bounds, CURRENT_VERSION, type TileFormat } from '@gateway/contracts/basemap.js'
import { TILE_MATRIX_SETS, type TileMatrixSet } from '@gateway/tilesets/tile-matrix-sets.js'
import { tileUrlTemplate } from '@gateway/tilesets/tilejson.js'
import type { Catalog, CatalogBasemap } from '../sync/catalog.js'

/** A basemap by its default version, as the standard services describe it. */
export interface Layer {
  readonly code: string
  readonly title: string
  readonly description: string | null
  readonly attribution: string | null
  readonly version: string
  readonly revision: number
  readonly format: TileFormat
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  /** null: the whole world */
  readonly bounds: Bounds | null
  readonly set: TileMatrixSet
  readonly vectorLayers: readonly { readonly id: string }[] | null
}

/** Where answers say that things are. */
export interface Addresses {
  /** the public address of the tiles, without a trailing slash */
  readonly base: string
  /** the token's parameter, `token=...`, where it came in the query of this request; else empty */
  readonly token: string
}

/** An address below the base, with the token where it came in the query. `path` begins with a slash and may have a query. */
export function addressOf({ base, token }: Addresses, path: string): string {
  if (token === '') return `${base}${path}`
  return `${base}${path}${path.includes('?') ? '&' : '?'}${token}`
}

/** The template of a layer's tiles, on the route that serves them fastest: `names` are the service's own names of zoom, column and row. */
export function tileTemplate(
  addresses: Addresses,
  layer: Layer,
  names: readonly [z: string, x: string, y: string],
): string {
  const template = tileUrlTemplate('', layer.code, layer.version, layer.format)
  const [z, x, y] = names
  return addressOf(addresses, `${template.replace('{z}', z).replace('{x}', x).replace('{y}', y)}?v=${layer.revision}`)
}

/** The layer of a basemap; null: no version of it can be served. */
export function layerOf({ stored, versions }: CatalogBasemap): Layer | null {
  const current = versions.get(CURRENT_VERSION)?.stored
  if (current === undefined) return null
  const { version, revision, format, tileSize, minZoom, maxZoom, bounds, description, attribution, vectorLayers } =
    current
  const set = TILE_MATRIX_SETS[current.tileMatrixSet]
  const { code, name: title } = stored
  return {
    code,
    title,
    description,
    attribution,
    version,
    revision,
    format,
    tileSize,
    minZoom,
    maxZoom,
    bounds,
    set,
    vectorLayers,
  }
}

/** What a token that was admitted may read, by code. */
export function readableLayers({ basemaps }: Catalog, token: AccessToken): Layer[] {
  const layers: Layer[] = []
  for (const basemap of basemaps.values()) {
    if (!isGranted(token, basemap.wanted)) continue
    const layer = layerOf(basemap)
    if (layer !== null) layers.push(layer)
  }
  return layers.sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** Its zooms, ascending. */
export function zoomsOf({ minZoom, maxZoom }: Pick<Layer, 'minZoom' | 'maxZoom'>): number[] {
  return Array.from({ length: maxZoom - minZoom + 1 }, (_, i) => minZoom + i)
}
