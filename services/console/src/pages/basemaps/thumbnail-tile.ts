import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { columnsOf } from '../../map/geographic.js'
import { type TileAddress, tileAt } from '../../map/tile-address.js'

/** Of which tiles are counted: fine enough for bounds of any map. */
const FINE_ZOOM = 24

/** Half of it is nothing on a map, and the middle of the world is the corner of four tiles. */
const EPSILON = 1e-6

/** The tile at the middle of a version's bounds, of the highest zoom at which a tile is as large as they are. */
export function thumbnailTile(
  version: Pick<BasemapVersion, 'bounds' | 'min_zoom' | 'max_zoom' | 'tile_matrix_set'>,
): TileAddress {
  const { bounds, min_zoom: minZoom, max_zoom: maxZoom } = version
  const columns = columnsOf(version)
  const [west, south, east, north] = bounds ?? [-180, -90, 180, 90]
  const width = east > west ? east - west : east - west + 360
  const at = (lat: number, zoom: number) =>
    tileAt(middle - EPSILON, lat, 0, { minZoom: zoom, maxZoom: zoom, tileSize: 512, columns, vector: false })
  const middle = ((west + width / 2 + 540) % 360) - 180
  const rows = (at(south, FINE_ZOOM).y - at(north, FINE_ZOOM).y) / 2 ** FINE_ZOOM
  const share = Math.max((width / 360) * columns, rows)
  const zoom = Math.floor(-Math.log2(Math.max(share, 2 ** -FINE_ZOOM)))
  return at((south + north) / 2 + EPSILON, Math.max(minZoom, Math.min(maxZoom, zoom)))
}
