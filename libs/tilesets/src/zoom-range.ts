import type { TileSetMetadata } from './metadata/metadata.js'

export interface ZoomRange {
  readonly minZoom: number
  readonly maxZoom: number
}

/**
 * Returns the zooms of the tiles, with a warning if the metadata declares others: too many make clients request tiles that do not exist, and too few hide
 * some.
 */
export function zoomRange(
  said: Pick<TileSetMetadata, 'minZoom' | 'maxZoom'>,
  { minZoom, maxZoom }: ZoomRange,
): ZoomRange & { readonly warnings: readonly string[] } {
  const [from, to] = [said.minZoom ?? minZoom, said.maxZoom ?? maxZoom]
  if (from === minZoom && to === maxZoom) return { minZoom, maxZoom, warnings: [] }
  const warning = `zooms ${from}-${to} are declared, but the tiles have zooms ${minZoom}-${maxZoom}: these are served`
  return { minZoom, maxZoom, warnings: [warning] }
}
