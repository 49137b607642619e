import type { TileFormat } from '@gateway/contracts/basemap.js'

/** True for vector tiles; other formats are images. The contracts have the same function, with libraries that no page needs. */
export function isVector(format: TileFormat): boolean {
  return format === 'pbf' || format === 'mlt'
}
