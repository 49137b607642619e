/**
 * Reads the files that producers of tiles leave next to them for the row order and the grid. Each reader returns fields under the names of
 * tilejson.json; `unserved` is the reason why the tiles cannot be served, unless other metadata names their grid.
 */
export type ProducerFields = Readonly<Record<string, unknown>> & { readonly unserved?: string }

/** Number of characters of a page that are searched; pages of gdal2tiles have about 20,000. */
const MAX_PAGE_LENGTH = 256 * 1024
/** Number of characters in which the options of a layer are searched for. */
const MAX_OPTIONS_LENGTH = 2_000

const RASTER_PROFILE =
  'gdal2tiles made it with the profile raster: the tiles are parts of the image and lie in no grid. Make them again with --profile=mercator'
const ONE_TILE_AT_ZOOM_0 =
  'its zoom 0 is one tile of 360 degrees and not two of 180 (gdal2tiles without --tmscompatible): make it again with that option'

/** West, south, east and north. */
const BOX_SIDES = [
  /\bminx="([-0-9.]{1,40})"/,
  /\bminy="([-0-9.]{1,40})"/,
  /\bmaxx="([-0-9.]{1,40})"/,
  /\bmaxy="([-0-9.]{1,40})"/,
]

/** Reads tilemapresource.xml of gdal2tiles (OSGeo Tile Map Service 1.0.0), line by line. Its box is in degrees whatever the grid. */
export function readTileMapResource(text: string): ProducerFields {
  const srs = /<SRS>([^<]{1,1000})<\/SRS>/.exec(text)?.[1]
  const profile = /<TileSets profile="([^"]{1,100})"/.exec(text)?.[1]
  if (profile === 'raster') return { scheme: 'tms', unserved: RASTER_PROFILE }
  const box = /<BoundingBox ([^>]{1,400})>/.exec(text)?.[1] ?? ''
  const bounds = BOX_SIDES.map((side) => Number(side.exec(box)?.[1] ?? Number.NaN))
  return {
    scheme: 'tms',
    ...(srs === undefined ? {} : { srs }),
    ...(profile === undefined ? {} : { profile }),
    // Other writers give the box of Web Mercator in metres, as the specification requires.
    ...(profile === 'geodetic' && bounds.every(Number.isFinite) ? { bounds } : {}),
  }
}

/** Tiled coordinate reference systems of MapML that equal grids of the gateway. */
const MAPML_GRIDS: Readonly<Record<string, string>> = { OSMTILE: 'WebMercatorQuad', WGS84: 'WorldCRS84Quad' }

/** Reads mapml.mapml of gdal2tiles with --xyz. */
export function readMapml(text: string): ProducerFields {
  const named = /;projection=(\w{1,100})/.exec(text)?.[1] ?? /<extent units="(\w{1,100})"/.exec(text)?.[1]
  if (named === undefined || !text.includes('{z}/{x}/{y}')) return {}
  return { scheme: 'xyz', tile_matrix_set: MAPML_GRIDS[named] ?? named }
}

/**
 * Reads a page with a map of the tiles next to it: leaflet.html and openlayers.html of gdal2tiles, and the page of QGIS, whose name its user
 * chooses. Returns nothing for pages that show other tiles.
 */
export function readPage(page: string): ProducerFields {
  const text = page.slice(0, MAX_PAGE_LENGTH)
  return readLeaflet(text) ?? readOpenLayers(text) ?? {}
}

function readLeaflet(text: string): ProducerFields | null {
  for (let at = text.indexOf('L.tileLayer('); at >= 0; at = text.indexOf('L.tileLayer(', at + 1)) {
    const call = text.slice(at, at + MAX_OPTIONS_LENGTH)
    const address = /^L\.tileLayer\(["']([^"']{1,1000})["']/.exec(call)?.[1]
    const isOfQgis = text.slice(Math.max(0, at - 40), at).includes('tilesource_layer')
    // QGIS writes the folder's own URL before the template.
    const isBeside = address !== undefined && (isOfQgis || /^(?:\.\/)?\{z\}\/\{x\}\/\{y\}\.\w+$/.test(address))
    if (!isBeside) continue
    const tms = /\btms: ?(true|false|0|1)\b/.exec(call)?.[1]
    return { scheme: tms === 'true' || tms === '1' ? 'tms' : 'xyz', tile_matrix_set: 'WebMercatorQuad' }
  }
  return null
}

/** Width in degrees of a tile at zoom 0. */
const WIDTH = { served: 180, oneTile: 360 }

function readOpenLayers(text: string): ProducerFields | null {
  const plain = /url: '\.\/\{z\}\/\{x\}\/\{(-?)y\}\.\w+'/.exec(text)
  if (plain !== null) return { scheme: plain[1] === '-' ? 'tms' : 'xyz', tile_matrix_set: 'WebMercatorQuad' }
  const end = text.indexOf("'./{z}/{x}/{y}.")
  const begin = text.lastIndexOf('new ol.source.TileImage', end)
  if (end < 0 || begin < 0) return null
  const source = text.slice(begin, end + MAX_OPTIONS_LENGTH)
  if (!source.slice(0, end - begin).includes("projection: 'EPSG:4326'")) return { unserved: RASTER_PROFILE }
  const resolution = Number(/resolutions: \[([0-9.e-]{1,40})/.exec(source)?.[1])
  const pixels = Number(/tileSize: \[(\d{1,5})/.exec(source)?.[1])
  if (Math.round(resolution * pixels) === WIDTH.oneTile) return { unserved: ONE_TILE_AT_ZOOM_0 }
  if (Math.round(resolution * pixels) !== WIDTH.served) return null
  const scheme = source.includes('String(- 1 - tileCoord[2])') ? 'tms' : 'xyz'
  return { scheme, tile_matrix_set: 'WorldCRS84Quad' }
}

/** Origins of the gateway's grids, and the width of a tile at zoom 0, in the units of their systems. */
const ORIGINS: Readonly<Record<string, { x: number; y: number; width: number }>> = {
  'EPSG:3857': { x: -20_037_508.34, y: 20_037_508.34, width: 40_075_016.68 },
  'EPSG:900913': { x: -20_037_508.34, y: 20_037_508.34, width: 40_075_016.68 },
  'EPSG:4326': { x: -180, y: 90, width: 180 },
  'EPSG:4490': { x: -180, y: 90, width: 180 },
}
/** Relative tolerance, because writers round to centimetres, or to a hundred-millionth of a degree; both are far below a pixel. */
const TOLERANCE = 1e-8

/** Reads the tiling scheme in GDAL's vector tiles (metadata.json: `crs`, `tile_origin_upper_left_x`, `tile_dimension_zoom_0`). */
export function readTilingScheme(fields: Readonly<Record<string, unknown>>): ProducerFields {
  const { crs, tile_origin_upper_left_x: x, tile_origin_upper_left_y: y, tile_dimension_zoom_0: width } = fields
  if (x === undefined || y === undefined || width === undefined) return {}
  const expected = typeof crs === 'string' ? ORIGINS[crs.toUpperCase()] : undefined
  const isNear = (one: unknown, other: number) => Math.abs(Number(one) - other) <= Math.abs(other) * TOLERANCE + 1e-6
  if (expected !== undefined && isNear(x, expected.x) && isNear(y, expected.y) && isNear(width, expected.width)) {
    return { scheme: 'xyz' }
  }
  const scheme = [crs, x, y, width].map((value) => String(value).slice(0, 60)).join(', ')
  return { unserved: `GDAL made it in its own tiling scheme (TILING_SCHEME=${scheme}), which is not served` }
}
