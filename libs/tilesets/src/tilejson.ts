import type { Bounds, TileFormat, TileMatrices, TileMatrixSetId, VectorLayer } from '@gateway/contracts/basemap.js'
import { CURRENT_VERSION, isVectorFormat } from '@gateway/contracts/basemap.js'
import { type Center, readCenter } from './metadata/fields.js'
import { matrixSetOf, unbrokenBounds } from './tile-matrix-sets.js'

/** The data of a version that a TileJSON document describes. */
export interface TileJsonInput {
  readonly name: string
  /** the version's label; it becomes `version` if the metadata has none and the label is a semantic version, as TileJSON requires */
  readonly version: string
  readonly format: TileFormat
  /** all formats, if there are several */
  readonly formats?: readonly TileFormat[] | null
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
  readonly tileMatrixSet: TileMatrixSetId
  /** the numbers of the set's own grid */
  readonly tileMatrices?: TileMatrices | null
  /** further fields of the set's own metadata, which go into the document unchanged */
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Returns the attribution of something made of several parts: each text once, in their order; null if there is none. */
export function joinedAttribution(texts: readonly unknown[]): string | null {
  const different = new Set(texts.filter((text) => typeof text === 'string' && text !== ''))
  return different.size === 0 ? null : [...different].join(', ')
}

/** The pattern of semver.org 2.0.0 in short: three numbers without leading zeros, then pre-release and build. */
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/**
 * Returns the TileJSON 3.0.0 document of one version. `addresses` are tile URL templates (`tileUrlTemplate`). `format` and `tileSize`
 * are extras outside the standard that clients commonly read; `vector_layers` is required for vector tiles and left out otherwise.
 */
export function tileJson(input: TileJsonInput, addresses: readonly string[]): Record<string, unknown> {
  const isMercator = input.tileMatrixSet === 'WebMercatorQuad'
  const set = matrixSetOf(input)
  const { version: own, center, ...other } = input.metadata
  const version = [own, input.version].find((text) => typeof text === 'string' && SEMVER.test(text))
  return {
    ...other,
    tilejson: '3.0.0',
    name: input.name,
    ...(input.description === null ? {} : { description: input.description }),
    ...(version === undefined ? {} : { version }),
    ...(input.attribution === null ? {} : { attribution: input.attribution }),
    scheme: 'xyz',
    tiles: addresses,
    minzoom: input.minZoom,
    maxzoom: input.maxZoom,
    bounds: unbrokenBounds(set, input.bounds),
    center: ownCenter(center, input) ?? centerOf(input.bounds ?? set.world, input.minZoom, input.maxZoom),
    format: input.format,
    tileSize: input.tileSize,
    ...(isMercator ? {} : { crs: set.crs, tile_matrix_set: input.tileMatrixSet }),
    ...(input.formats && { formats: input.formats }),
    ...(input.format === 'mlt' ? { encoding: 'mlt' } : {}),
    ...(isVectorFormat(input.format) ? { vector_layers: (input.vectorLayers ?? []).map(withFields) } : {}),
  }
}

/**
 * Returns the template of a version's tile URLs: `{base}/tiles/{code}/{version}/{z}/{x}/{y}.{extension}`. `base` is without a trailing
 * slash; code and version are percent-encoded (RFC 3986), the braces of the template are not.
 */
export function tileUrlTemplate(base: string, code: string, version: string, extension: string): string {
  return `${base}/tiles/${encodeURIComponent(code)}/${encodeURIComponent(version)}/{z}/{x}/{y}.${extension}`
}

/** Query parameter of a tile URL that names the content of its version. Servers ignore it, caches do not. */
const REVISION_PARAMETER = 'v'

/** Returns the template of a version's tile URLs for its current content. */
export function revisedTileUrlTemplate(
  base: string,
  code: string,
  { version, revision, format }: { readonly version: string; readonly revision: number; readonly format: TileFormat },
): string {
  return `${tileUrlTemplate(base, code, version, format)}?${REVISION_PARAMETER}=${revision}`
}

/** Returns the template in a basemap's detail: the default version under its alias. */
export function currentTileUrlTemplate(base: string, code: string, extension: string): string {
  return tileUrlTemplate(base, code, CURRENT_VERSION, extension)
}

/** Returns the center of the set's metadata with its zoom limited to those of the set; null without one, or outside the bounds, which the standard forbids. */
export function ownCenter(
  said: unknown,
  { bounds, minZoom, maxZoom }: Pick<TileJsonInput, 'bounds' | 'minZoom' | 'maxZoom'>,
): Center | null {
  const center = readCenter(said)
  if (center === null) return null
  const [longitude, latitude, zoom] = center
  if (bounds !== null) {
    const [west, south, east, north] = bounds
    const isBetween = west > east ? longitude >= west || longitude <= east : longitude >= west && longitude <= east
    if (!isBetween || latitude < south || latitude > north) return null
  }
  return [longitude, latitude, Math.min(maxZoom, Math.max(minZoom, zoom))]
}

/** Returns longitude, latitude, and the zoom at which the bounds approximately fill a window, so that a map shows the whole set. */
function centerOf([west, south, east, north]: Bounds, minZoom: number, maxZoom: number): Center {
  const width = east > west ? east - west : east - west + 360
  const middle = west + width / 2
  const fitting = Math.floor(Math.log2(360 / width)) + 1
  const zoom = width >= 360 ? minZoom : Math.min(maxZoom, Math.max(minZoom, fitting))
  return [middle > 180 ? middle - 360 : middle, Number(((south + north) / 2).toFixed(9)), zoom]
}

/** Adds `fields`, which TileJSON requires in each entry. */
function withFields(layer: VectorLayer): VectorLayer {
  return { ...layer, fields: layer.fields ?? {} }
}
