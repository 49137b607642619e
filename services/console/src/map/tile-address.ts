import { pointToTile, tileToBBOX } from '@mapbox/tilebelt'

export interface TileAddress {
  readonly z: number
  readonly x: number
  readonly y: number
}

export interface TileSet {
  readonly minZoom: number
  readonly maxZoom: number
  readonly tileSize: number
  /** columns at zoom 0: 2 in the geographic grids */
  readonly columns: 1 | 2
  /** true for vector tiles, which are taken from the lower zoom; images come from the nearest one */
  readonly vector: boolean
}

/** End of Web Mercator; no tile contains places beyond. */
const MAX_LATITUDE = 85.0511

/** The map library counts zooms for tiles of 512 pixels. */
const LIBRARY_TILE_SIZE = 512

/** Returns the tile that the map shows at a place. */
export function tileAt(lon: number, lat: number, mapZoom: number, set: TileSet): TileAddress {
  const exact = mapZoom + Math.log2(LIBRARY_TILE_SIZE / set.tileSize / set.columns)
  const wanted = set.vector ? Math.floor(exact) : Math.round(exact)
  const z = Math.max(set.minZoom, Math.min(set.maxZoom, wanted))
  if (set.columns === 2) return geographicTile(lon, lat, z)
  const [x, y] = pointToTile(lon, Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)), z)
  return { z, x, y }
}

function geographicTile(lon: number, lat: number, z: number): TileAddress {
  const columns = 2 ** (z + 1)
  const x = Math.floor(((lon + 180) / 360) * columns)
  const y = Math.floor(((90 - lat) / 180) * 2 ** z)
  return { z, x: ((x % columns) + columns) % columns, y: Math.max(0, Math.min(2 ** z - 1, y)) }
}

/** Parses `z/x/y`; null: not an address; `range`: outside of the zooms. */
export function parseAddress(
  text: string,
  set: Pick<TileSet, 'minZoom' | 'maxZoom' | 'columns'>,
): TileAddress | 'range' | null {
  const match = /^\s*(\d{1,2})\s*\/\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/.exec(text)
  if (match === null) return null
  const [z, x, y] = match.slice(1).map(Number) as [number, number, number]
  const inRange = z >= set.minZoom && z <= set.maxZoom && x < set.columns * 2 ** z && y < 2 ** z
  return inRange ? { z, x, y } : 'range'
}

export function addressText({ z, x, y }: TileAddress): string {
  return `${z}/${x}/${y}`
}

/** Returns WGS 84 west, south, east, north of a tile. */
export function tileBounds(
  { z, x, y }: TileAddress,
  { columns }: Pick<TileSet, 'columns'>,
): [number, number, number, number] {
  if (columns === 2) {
    const degrees = 180 / 2 ** z
    const [west, north] = [x * degrees - 180, 90 - y * degrees]
    return [west, north - degrees, west + degrees, north]
  }
  return tileToBBOX([x, y, z]) as [number, number, number, number]
}
