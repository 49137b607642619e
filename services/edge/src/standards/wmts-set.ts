import type { Layer } from './layer.js'

/** Pixels of a side, as a WMTS tells them. Vector tiles have none. */
export function wmtsTilePixels({ format, tileSize }: Pick<Layer, 'format' | 'tileSize'>): number {
  return format === 'pbf' ? 256 : tileSize
}

/**
 * The identifier of the set that a layer lies in. In WMTS 1.0.0 a set says how large its tiles are, and GDAL reads no others: that of larger
 * tiles is another one, `WebMercatorQuadx2` for 512 pixels.
 */
export function wmtsSetId(layer: Pick<Layer, 'set' | 'format' | 'tileSize'>): string {
  const pixels = wmtsTilePixels(layer)
  return pixels === 256 ? layer.set.id : `${layer.set.id}x${pixels / 256}`
}
