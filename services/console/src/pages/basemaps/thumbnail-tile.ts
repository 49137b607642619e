import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { columnsOf } from '../../map/geographic.js'
import { type TileAddress, tileAt } from '../../map/tile-address.js'

/** Zoom at which tiles are counted: fine enough for the bounds of any map. */
const FINE_ZOOM = 24

/** Offset from the middle, where four tiles of the world meet. Too small to be visible on a map. */
const EPSILON = 1e-6

/** Returns the tile at the middle of a version's bounds, at the highest zoom at which one tile covers them. */
export function thumbnailTile(
  version: Pick<BasemapVersion, 'bounds' | 'min_zoom' | 'max_zoom' | 'tile_matrix_set'>,
): TileAddress {
  const { bounds, min_zoom: minZoom, max_zoom: maxZoom } = version
  const columns = columnsOf(version)
  const [west, south, east, north] = bounds ?? [-180, -90, 180, 90]
  const width = east >= west ? east - west : east - west + 360
  const at = (lat: number, zoom: number) =>
    tileAt(middle - EPSILON, lat, 0, { minZoom: zoom, maxZoom: zoom, tileSize: 512, columns, vector: false })
  const middle = ((west + width / 2 + 540) % 360) - 180
  const rows = (at(south, FINE_ZOOM).y - at(north, FINE_ZOOM).y) / 2 ** FINE_ZOOM
  const share = Math.max((width / 360) * columns, rows)
  const zoom = Math.floor(-Math.log2(Math.max(share, 2 ** -FINE_ZOOM)))
  return at((south + north) / 2 + EPSILON, Math.max(minZoom, Math.min(maxZoom, zoom)))
}
