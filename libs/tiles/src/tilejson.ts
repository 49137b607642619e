import type { Bounds, TileFormat, VectorLayer } from '@gateway/contracts/basemap.js'
import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'

/** What is known of a version that a TileJSON document describes. */
export interface TileJsonInput {
  readonly name: string
  /** the version's label; it becomes `version` only where it is a semantic version, as TileJSON demands */
  readonly version: string
  readonly format: TileFormat
  readonly tileSize: number
  readonly minZoom: number
  readonly maxZoom: number
  readonly bounds: Bounds | null
  readonly attribution: string | null
  readonly description: string | null
  readonly vectorLayers: readonly VectorLayer[] | null
}

/** What Web Mercator can show; TileJSON 3.0's own default for `bounds`. */
const WORLD: Bounds = [-180, -85.05112877980659, 180, 85.0511287798066]

/** The pattern of semver.org 2.0.0 in short: three numbers without leading zeros, then pre-release and build. */
const SEMVER = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/**
 * The TileJSON 3.0.0 document of one version. `addresses` are tile address templates (`tileUrlTemplate`). `format` and `tileSize`
 * are extras outside the standard that clients commonly read; `vector_layers` is obligatory for vector tiles and left out otherwise.
 */
export function tileJson(input: TileJsonInput, addresses: readonly string[]): Record<string, unknown> {
  const bounds = input.bounds ?? WORLD
  return {
    tilejson: '3.0.0',
    name: input.name,
    ...(input.description === null ? {} : { description: input.description }),
    ...(SEMVER.test(input.version) ? { version: input.version } : {}),
    ...(input.attribution === null ? {} : { attribution: input.attribution }),
    scheme: 'xyz',
    tiles: addresses,
    minzoom: input.minZoom,
    maxzoom: input.maxZoom,
    bounds,
    center: centerOf(bounds, input.minZoom, input.maxZoom),
    format: input.format,
    tileSize: input.tileSize,
    ...(input.format === 'pbf' ? { vector_layers: (input.vectorLayers ?? []).map(withFields) } : {}),
  }
}

/**
 * The template of a version's tile addresses: `{base}/tiles/{code}/{version}/{z}/{x}/{y}.{extension}`. `base` is without a trailing
 * slash; code and version are percent-encoded (RFC 3986), the braces of the template are not.
 */
export function tileUrlTemplate(base: string, code: string, version: string, extension: string): string {
  return `${base}/tiles/${encodeURIComponent(code)}/${encodeURIComponent(version)}/{z}/{x}/{y}.${extension}`
}

/** The ready-to-use template in a basemap's detail: the default version under its alias. */
export function currentTileUrlTemplate(base: string, code: string, extension: string): string {
  return tileUrlTemplate(base, code, CURRENT_VERSION, extension)
}

/** Longitude, latitude, zoom; the zoom at which the bounds about fill a window, so that a map opened there shows the whole set. */
function centerOf([west, south, east, north]: Bounds, minZoom: number, maxZoom: number): [number, number, number] {
  const width = east > west ? east - west : east - west + 360
  const middle = west + width / 2
  const fitting = Math.floor(Math.log2(360 / width)) + 1
  const zoom = width >= 360 ? minZoom : Math.min(maxZoom, Math.max(minZoom, fitting))
  return [middle > 180 ? middle - 360 : middle, (south + north) / 2, zoom]
}

/** TileJSON demands `fields` in each entry. */
function withFields(layer: VectorLayer): VectorLayer {
  return { ...layer, fields: layer.fields ?? {} }
}
