import { type Bounds, CURRENT_VERSION, type TileFormat } from '@gateway/contracts/basemap.js'
import { type AccessToken, isGranted } from '@gateway/core/access/decide.js'
import { versionTitle } from '@gateway/store/basemaps.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import {
  matrixSetOf,
  TILE_MATRIX_SETS,
  type TileMatrixSet,
  unbrokenBounds,
} from '@gateway/tilesets/tile-matrix-sets.js'
import { tileUrlTemplate } from '@gateway/tilesets/tilejson.js'
import { SECRET_PLACE } from '../documents/document-cache.js'
import { type Catalog, type CatalogBasemap, type CatalogVector, commentOn } from '../sync/catalog.js'
import { type DrawnStyle, drawnStyles, MOST_ZOOM, revisionOf } from '../sync/drawn-styles.js'

/** A basemap with its default version, or another source of tiles, as the standard services describe it. */
export interface Layer {
  readonly code: string
  readonly title: string
  readonly description: string | null
  readonly attribution: string | null
  readonly version: string
  /** names the content in addresses */
  readonly revision: number | string
  readonly format: TileFormat
  /** All formats of a set of several image formats; absent for others. */
  readonly formats?: readonly TileFormat[] | null
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  /** null for the whole world. */
  readonly bounds: Bounds | null
  readonly set: TileMatrixSet
  readonly vectorLayers: readonly { readonly id: string }[] | null
  /** Times at which its defaults changed, ISO 8601, ascending; empty if it has had only one default. */
  readonly times: readonly string[]
  /** True for the tiles of a vector, which have the routes of vectors. */
  readonly isOfVector: boolean
  /** The style whose pictures these are, with the routes of styles; absent for tiles of files. */
  readonly drawn?: DrawnStyle
}

/** The addresses that responses contain. */
export interface Addresses {
  /** Public address of the tiles, without a trailing slash. */
  readonly base: string
  /** Parameter with the token, `token=...`, if it came in the query of this request; otherwise empty. */
  readonly token: string
}

interface AddressForms {
  readonly plain: Addresses
  /** With `SECRET_PLACE` instead of the token. */
  readonly withToken: Addresses
}

const addressForms = new Map<string, AddressForms>()

/** Returns the forms of addresses below a base: the same two objects each time, which are the keys of cached parts of documents. */
export function addressFormsOf(base: string): AddressForms {
  const known = addressForms.get(base)
  if (known !== undefined) return known
  const made = {
    plain: { base, token: '' },
    withToken: { base, token: SECRET_PLACE },
  }
  addressForms.set(base, made)
  return made
}

/** Returns an address below the base, with the token if it came in the query. `path` begins with a slash and may have a query. */
export function addressOf({ base, token }: Addresses, path: string): string {
  if (token === '') return `${base}${path}`
  return `${base}${path}${path.includes('?') ? '&' : '?'}${token}`
}

/** Returns the template of a layer's tiles, on the route that serves them fastest; `names` are the service's names of zoom, column and row. */
export function tileTemplate(
  addresses: Addresses,
  layer: Layer,
  names: readonly [z: string, x: string, y: string],
): string {
  const template = templateOf(layer)
  const [z, x, y] = names
  return addressOf(addresses, `${template.replace('{z}', z).replace('{x}', x).replace('{y}', y)}?v=${layer.revision}`)
}

function templateOf({ code, version, format, isOfVector, drawn }: Layer): string {
  if (drawn !== undefined) return `${stylePath(code)}/{z}/{x}/{y}.${format}`
  return isOfVector ? `${vectorPath(code)}/tiles/{z}/{x}/{y}.mvt` : tileUrlTemplate('', code, version, format)
}

export function stylePath(code: string): string {
  return `/styles/${encodeURIComponent(code)}`
}

export function vectorPath(code: string): string {
  return `/vectors/${encodeURIComponent(code)}`
}

export function tileJsonPath({ code, version, isOfVector, drawn }: Layer): string {
  if (drawn !== undefined) return `${stylePath(code)}/tilejson.json`
  if (isOfVector) return `${vectorPath(code)}/tilejson.json`
  return `/tiles/${encodeURIComponent(code)}/${encodeURIComponent(version)}/tilejson.json`
}

const layers = new WeakMap<CatalogBasemap, Layer | null>()

/** Returns the layer of a basemap, the same object each time; null if no version of it can be served. */
export function layerOf(basemap: CatalogBasemap): Layer | null {
  const known = layers.get(basemap)
  if (known !== undefined) return known
  const made = describeLayer(basemap)
  layers.set(basemap, made)
  return made
}

function describeLayer({ stored, versions }: CatalogBasemap): Layer | null {
  const current = versions.get(CURRENT_VERSION)?.stored
  if (current === undefined) return null
  const {
    version,
    revision,
    format,
    formats,
    tileSize,
    minZoom,
    maxZoom,
    bounds,
    description,
    attribution,
    vectorLayers,
  } = current
  const set = matrixSetOf(current)
  const { code } = stored
  return {
    code,
    title: versionTitle(stored, current),
    description,
    attribution,
    version,
    revision,
    format,
    ...(formats != null && { formats }),
    tileSize,
    minZoom,
    maxZoom,
    bounds,
    set,
    vectorLayers,
    times: timesOf(stored, versions),
    isOfVector: false,
  }
}

const layersOfTiles = new WeakMap<CatalogBasemap, Layer | null>()

/** Returns the tiles of a vector as a layer, the same object each time; null if it has none. */
export function layerOfVector({ tiles, stored, served }: CatalogVector): Layer | null {
  if (tiles === null || !served) return null
  const known = layersOfTiles.get(tiles)
  if (known !== undefined) return known
  const version = tiles.versions.get(tiles.stored.defaultVersion ?? '')
  const versions = version === undefined ? tiles.versions : new Map([[CURRENT_VERSION, version]])
  const layer = layerOf({ ...tiles, versions })
  const made = layer === null ? null : { ...layer, code: stored.code, isOfVector: true }
  layersOfTiles.set(tiles, made)
  return made
}

const layersOfDrawn = new WeakMap<DrawnStyle, Layer>()

/** Returns the pictures of a style as a layer, the same object each time. They show the whole world, as their TileJSON says. */
export function layerOfDrawn(drawn: DrawnStyle): Layer {
  const known = layersOfDrawn.get(drawn)
  if (known !== undefined) return known
  const made: Layer = {
    code: drawn.code,
    title: drawn.name,
    description: drawn.kind === 'vector' ? commentOn(drawn.of) : null,
    attribution: drawn.attribution,
    version: CURRENT_VERSION,
    get revision() {
      return revisionOf(drawn)
    },
    format: 'png',
    tileSize: 512,
    minZoom: 0,
    maxZoom: MOST_ZOOM,
    bounds: null,
    set: TILE_MATRIX_SETS.WebMercatorQuad,
    vectorLayers: null,
    times: [],
    isOfVector: false,
    drawn,
  }
  layersOfDrawn.set(drawn, made)
  return made
}

/** Returns the pictures of styles and of vectors that an admitted token may read, by code. A basemap keeps its code in all services. */
export function readablePictures(catalog: Catalog, token: AccessToken): readonly Layer[] {
  const area = token.limits?.area ?? null
  return drawnStyles(catalog).flatMap((drawn) =>
    isGranted(token, drawn.wanted) ? (withinArea(layerOfDrawn(drawn), area) ?? []) : [],
  )
}

/** Returns all layers that an admitted token may read, by code. `draws`: this edge draws styles. */
export function listedLayers(catalog: Catalog, token: AccessToken, draws: boolean): readonly Layer[] {
  const layers = readableLayers(catalog, token)
  if (!draws) return layers
  return [...layers, ...readablePictures(catalog, token)].sort((a, b) => (a.code < b.code ? -1 : 1))
}

/** Limit: newest times of a layer that a document lists. */
const MAX_TIMES = 1_000

function timesOf({ versions: all }: CatalogBasemap['stored'], served: CatalogBasemap['versions']): readonly string[] {
  const known = all.filter(({ version, defaultTimes }) => served.has(version) && (defaultTimes?.length ?? 0) > 0)
  if (known.length < 2) return []
  // Whole seconds, which QGIS demands, and not before the version was the default.
  const seconds = known.flatMap(
    ({ defaultTimes }) => defaultTimes?.map(({ sinceMs }) => Math.ceil(sinceMs / 1000)) ?? [],
  )
  const times = [...new Set(seconds)].sort((a, b) => a - b)
  return times.slice(-MAX_TIMES).map((second) => new Date(second * 1000).toISOString().replace('.000Z', 'Z'))
}

interface WantedLayer {
  readonly wanted: CatalogBasemap['wanted']
  readonly layer: Layer
}

const layersByCode = new WeakMap<Catalog['basemaps'], readonly WantedLayer[]>()

/** Returns the layers that an admitted token may read, by code. */
export function readableLayers({ basemaps }: Catalog, token: AccessToken): Layer[] {
  const area = token.limits?.area ?? null
  return sortedLayers(basemaps).flatMap(({ wanted, layer }) => {
    const readable = isGranted(token, wanted) ? withinArea(layer, area) : null
    return readable === null ? [] : [readable]
  })
}

/** Returns a layer as a token with an area sees it, or null if it lies outside. If `area` is null, returns the same object. */
export function withinArea(layer: Layer, area: Bounds | null): Layer | null {
  if (area === null) return layer
  const bounds = commonBounds(area, layer.bounds ?? layer.set.world)
  return bounds === null ? null : { ...layer, bounds }
}

function sortedLayers(basemaps: Catalog['basemaps']): readonly WantedLayer[] {
  const known = layersByCode.get(basemaps)
  if (known !== undefined) return known
  const made: WantedLayer[] = []
  for (const basemap of basemaps.values()) {
    const layer = layerOf(basemap)
    if (layer !== null) made.push({ wanted: basemap.wanted, layer })
  }
  made.sort((a, b) => (a.layer.code < b.layer.code ? -1 : 1))
  layersByCode.set(basemaps, made)
  return made
}

const vectorsByCode = new WeakMap<Catalog['vectors'], readonly CatalogVector[]>()

/** Returns the vectors that an admitted token may read, by code. */
export function readableVectors({ vectors }: Catalog, token: AccessToken): readonly CatalogVector[] {
  let sorted = vectorsByCode.get(vectors)
  if (sorted === undefined) {
    sorted = [...vectors.values()]
      .filter(({ served }) => served)
      .sort((a, b) => (a.stored.code < b.stored.code ? -1 : 1))
    vectorsByCode.set(vectors, sorted)
  }
  return sorted.filter(({ wanted }) => isGranted(token, wanted))
}

/**
 * Returns west, south, east, north of a layer in degrees: not across the antimeridian, and not beyond its grid, where clients would compute
 * infinities.
 */
export function boundsWithinGrid({ set, bounds }: Pick<Layer, 'set' | 'bounds'>): Bounds {
  const [west, south, east, north] = unbrokenBounds(set, bounds)
  const [left, bottom, right, top] = set.world
  return [Math.max(west, left), Math.max(south, bottom), Math.min(east, right), Math.min(north, top)]
}

/** Returns its zooms, ascending. */
export function zoomsOf({ minZoom, maxZoom }: Pick<Layer, 'minZoom' | 'maxZoom'>): number[] {
  return Array.from({ length: maxZoom - minZoom + 1 }, (_, i) => minZoom + i)
}
