import type { TileSetMetadata } from './metadata/metadata.js'

export interface ZoomRange {
  readonly minZoom: number
  readonly maxZoom: number
}

/** Returns the zooms from the metadata, or those that were found if the metadata has none or contradicts itself. */
export function zoomRange(
  said: Pick<TileSetMetadata, 'minZoom' | 'maxZoom'>,
  found: ZoomRange,
): ZoomRange & { readonly warnings: readonly string[] } {
  const minZoom = said.minZoom ?? Math.min(found.minZoom, said.maxZoom ?? found.minZoom)
  const maxZoom = said.maxZoom ?? Math.max(found.maxZoom, minZoom)
  if (minZoom > maxZoom) return { ...found, warnings: ['minzoom is above maxzoom; both are ignored'] }
  const beyond = minZoom < found.minZoom || maxZoom > found.maxZoom
  return {
    minZoom,
    maxZoom,
    warnings: beyond
      ? [`zooms ${minZoom}-${maxZoom} are declared, but the tiles have zooms ${found.minZoom}-${found.maxZoom}`]
      : [],
  }
}
