import { TILE_MATRIX_SETS, type TileMatrixSet } from '@gateway/tilesets/tile-matrix-sets.js'
import type { Layer } from './layer.js'

/** Pixels of a tile's side. Sets whose tiles are no multiple of it are described with this size. */
const PIXELS = 256
/** Limit: larger tiles have no set of their own. */
const MAX_FACTOR = 16

/** Pixels of a side, as the standard services tell them. Vector tiles have none. */
export function tilePixels({ set, format, tileSize }: Pick<Layer, 'set' | 'format' | 'tileSize'>): number {
  if (set.own !== null) return set.own.numbers.tileSize
  return format === 'pbf' ? PIXELS : tileSize
}

/**
 * The identifier of the set that a layer lies in. A tile matrix set says how large its tiles are, and clients take their scale from it: that of
 * larger tiles is another one, `WebMercatorQuadx2` for 512 pixels.
 */
export function sizedSetId(layer: Pick<Layer, 'set' | 'format' | 'tileSize'>): string {
  const pixels = tilePixels(layer)
  return pixels === PIXELS || layer.set.own !== null ? layer.set.id : `${layer.set.id}x${pixels / PIXELS}`
}

/** Whether an identifier names the set of a layer. The set of 256 pixels names the same places, whatever the size of the layer's tiles. */
export function isSetOf(layer: Pick<Layer, 'set' | 'format' | 'tileSize'>, id: string): boolean {
  return id === sizedSetId(layer) || id === layer.set.id
}

/**
 * The identifier of the set with the zooms of a layer and no others, `WebMercatorQuad_2_14`. A WMTS needs it: GDAL opens a layer at the finest
 * matrix of its set, whatever the layer's limits say, and looks for overviews in all others.
 */
export function rangedSetId(layer: Pick<Layer, 'set' | 'format' | 'tileSize' | 'minZoom' | 'maxZoom'>): string {
  return `${sizedSetId(layer)}_${layer.minZoom}_${layer.maxZoom}`
}

/** The set that another is a part of, if it is. A client may name the zooms that a layer had when its document was made. */
export function wholeSetId(id: string): string {
  return id.replace(/_\d{1,2}_\d{1,2}$/, '')
}

/** A set with its tiles' size in pixels. */
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

/** The sets of 256 pixels, and the others that layers lie in, by identifier. */
export function setsOf(layers: readonly Layer[]): ReadonlyMap<string, SizedSet> {
  const sets = new Map<string, SizedSet>(
    Object.values(TILE_MATRIX_SETS).map((set) => [set.id, { set, pixels: PIXELS }]),
  )
  for (const layer of layers) sets.set(sizedSetId(layer), { set: layer.set, pixels: tilePixels(layer) })
  return sets
}
