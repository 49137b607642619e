export interface TileAddress {
  readonly z: number
  readonly x: number
  readonly y: number
}

export interface TileSet {
  readonly minZoom: number
  readonly maxZoom: number
  readonly tileSize: number
  /** vector tiles are taken from the zoom below, images from the nearest */
  readonly vector: boolean
}

/** Web Mercator ends here; what lies beyond is in no tile. */
const MAX_LATITUDE = 85.05112877980659

/** The map library counts zooms for tiles of 512 pixels. */
const LIBRARY_TILE_SIZE = 512

/** The tile that the map shows at a place. */
export function tileAt(lon: number, lat: number, mapZoom: number, set: TileSet): TileAddress {
  const exact = mapZoom + Math.log2(LIBRARY_TILE_SIZE / set.tileSize)
  const wanted = set.vector ? Math.floor(exact) : Math.round(exact)
  const z = Math.max(set.minZoom, Math.min(set.maxZoom, wanted))
  const n = 2 ** z
  const wrapped = ((((lon + 180) % 360) + 360) % 360) / 360
  const radians = (Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, lat)) * Math.PI) / 180
  const down = (1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2
  const within = (value: number) => Math.max(0, Math.min(n - 1, Math.floor(value * n)))
  return { z, x: within(wrapped), y: within(down) }
}

/** `z/x/y`; null: no such address, `range`: none in these zooms. */
export function parseAddress(text: string, set: Pick<TileSet, 'minZoom' | 'maxZoom'>): TileAddress | 'range' | null {
  const match = /^\s*(\d{1,2})\s*\/\s*(\d{1,9})\s*\/\s*(\d{1,9})\s*$/.exec(text)
  if (match === null) return null
  const [z, x, y] = match.slice(1).map(Number) as [number, number, number]
  const inRange = z >= set.minZoom && z <= set.maxZoom && x < 2 ** z && y < 2 ** z
  return inRange ? { z, x, y } : 'range'
}

export function addressText({ z, x, y }: TileAddress): string {
  return `${z}/${x}/${y}`
}

/** WGS 84 west, south, east, north of a tile. */
export function tileBounds({ z, x, y }: TileAddress): [number, number, number, number] {
  const lon = (column: number) => (column / 2 ** z) * 360 - 180
  const lat = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / 2 ** z))) * 180) / Math.PI
  return [lon(x), lat(y + 1), lon(x + 1), lat(y)]
}
