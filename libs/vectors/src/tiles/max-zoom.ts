import { EXTENT, worldX, worldY } from './grid.js'
import type { Survey } from './survey.js'

/** Maximum for a chosen deepest zoom. A unit of a tile is 0.6 m there. An operator may set a deeper one, up to `MAX_VECTOR_ZOOM`. */
const MAX_CHOSEN_ZOOM = 14

/** Units of a tile between vertices at the deepest zoom, so that rounding moves them by a hundredth of their distance. */
const UNITS_BETWEEN = 64

/** Maximum number of tiles of a zoom deeper than the vertices require, which makes positions more exact. */
const CHEAP_TILES = 2_000

/** Returns the zoom at which vertices can be told apart, or a deeper one if that takes few tiles. */
export function chosenMaxZoom({ spacing, box, count }: Survey): number {
  if (box === null) return 0
  const clear = Math.ceil(Math.log2(UNITS_BETWEEN / (spacing * EXTENT)))
  let zoom = Number.isFinite(clear) ? Math.max(0, Math.min(MAX_CHOSEN_ZOOM, clear)) : 0
  const width = worldX(box[2]) - worldX(box[0])
  const height = worldY(box[1]) - worldY(box[3])
  const tilesAt = (z: number) => Math.min((width * 2 ** z + 1) * (height * 2 ** z + 1), count === 1 ? Infinity : 4 ** z)
  while (zoom < MAX_CHOSEN_ZOOM && tilesAt(zoom + 1) <= CHEAP_TILES) zoom++
  return zoom
}
