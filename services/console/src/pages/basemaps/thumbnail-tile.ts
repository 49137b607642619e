import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { columnsOf } from '../../map/geographic.js'
import { type TileAddress, tileAt } from '../../map/tile-address.js'

/** The highest zoom that is looked through for one that shows a small region alone. */
const MAX_ZOOM = 22

/** The smallest tile that has all of the bounds in it, or the tile of their middle if the version begins at a higher zoom. */
export function thumbnailTile(
  version: Pick<BasemapVersion, 'bounds' | 'min_zoom' | 'max_zoom' | 'tile_matrix_set'>,
): TileAddress {
  const { bounds, min_zoom: minZoom, max_zoom: maxZoom } = version
  const columns = columnsOf(version)
  const [west, south, east, north] = bounds ?? [-180, -85, 180, 85]
  const at = (lon: number, lat: number, z: number) =>
    tileAt(lon, lat, 0, { minZoom: z, maxZoom: z, tileSize: 512, columns, vector: false })
  const isOneTile = (z: number) => {
    const [a, b] = [at(west, north, z), at(east, south, z)]
    return a.x === b.x && a.y === b.y
  }
  let z = minZoom
  // Across the antimeridian no tile but that of the world has them all.
  while (west < east && z < Math.min(maxZoom, MAX_ZOOM) && isOneTile(z + 1)) z++
  const lon = west < east ? (west + east) / 2 : 180
  // A hair to the north-west, since the middle of the world is the corner of four tiles.
  return at(lon - EPSILON, (south + north) / 2 + EPSILON, z)
}

const EPSILON = 1e-6
