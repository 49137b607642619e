import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { TILE_MATRIX_SETS, type TileMatrixSet } from '@gateway/tilesets/tile-matrix-sets.js'
import type { Layer } from './layer.js'

/** Side of a tile in pixels. Sets whose tiles are not a multiple of it are described with this size. */
const PIXELS = 256
/** Limit: larger tiles have no separate set. */
const MAX_FACTOR = 16

/** Pixels of a side, as the standard services tell them. Vector tiles have none. */
export function tilePixels({ set, format, tileSize }: Pick<Layer, 'set' | 'format' | 'tileSize'>): number {
  if (set.own !== null) return set.own.numbers.tileSize
  return isVectorFormat(format) ? PIXELS : tileSize
}

/**
 * Returns the identifier of a layer's set. A tile matrix set contains the size of its tiles, from which clients derive the scale. So larger
 * tiles have a separate set, `WebMercatorQuadx2` for 512 pixels.
 */
export function sizedSetId(layer: Pick<Layer, 'set' | 'format' | 'tileSize'>): string {
  const pixels = tilePixels(layer)
  return pixels === PIXELS || layer.set.own !== null ? layer.set.id : `${layer.set.id}x${pixels / PIXELS}`
}

/** True if an identifier names the set of a layer. The set of 256 pixels names the same places for tiles of any size. */
export function isSetOf(layer: Pick<Layer, 'set' | 'format' | 'tileSize'>, id: string): boolean {
  return id === sizedSetId(layer) || id === layer.set.id
}

/**
 * Returns the identifier of the set with only the zooms of a layer, `WebMercatorQuad_2_14`. A WMTS needs it: GDAL opens a layer at the finest
 * matrix of its set, regardless of the layer's limits, and looks for overviews in all others.
 */
export function rangedSetId(layer: Pick<Layer, 'set' | 'format' | 'tileSize' | 'minZoom' | 'maxZoom'>): string {
  return `${sizedSetId(layer)}_${layer.minZoom}_${layer.maxZoom}`
}

/**
 * Returns the whole set of which another one is a part, otherwise the set itself. A client may name zooms that a layer had when its document
 * was made.
 */
export function wholeSetId(id: string): string {
  return id.replace(/_\d{1,2}_\d{1,2}$/, '')
}

/** A set with the size of its tiles in pixels. */
export interface SizedSet {
  readonly set: TileMatrixSet
  readonly pixels: number
}

/** What `sizedSetId` names, in one of all grids or of a layer that a token may read; null: no such set. */
export function sizedSet(id: string, layers: () => readonly Layer[] = () => []): SizedSet | null {
  if (/^EPSG\d/.test(id)) {
    const layer = layers().find(({ set }) => set.id === id)
    return layer === undefined ? null : { set: layer.set, pixels: tilePixels(layer) }
  }
  const [, base, factor = '1'] = /^(\w+?)(?:x([\d.]+))?$/.exec(id) ?? []
  const set = Object.values(TILE_MATRIX_SETS).find((one) => one.id === base)
  const pixels = Number(factor) * PIXELS
  if (set === undefined || !Number.isInteger(pixels) || pixels < 1 || pixels > MAX_FACTOR * PIXELS) return null
  return id === (pixels === PIXELS ? set.id : `${set.id}x${pixels / PIXELS}`) ? { set, pixels } : null
}

/** Returns the sets of 256 pixels, and the other sets of layers, by identifier. */
export function setsOf(layers: readonly Layer[]): ReadonlyMap<string, SizedSet> {
  const sets = new Map<string, SizedSet>(
    Object.values(TILE_MATRIX_SETS).map((set) => [set.id, { set, pixels: PIXELS }]),
  )
  for (const layer of layers) sets.set(sizedSetId(layer), { set: layer.set, pixels: tilePixels(layer) })
  return sets
}
