import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { inUnitsOf, unbrokenBounds } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, type Layer, zoomsOf } from './layer.js'
import { xml, xmlDocument } from './xml.js'

const TMS_PATH = '/tms/1.0.0'

/** The profiles of the OSGeo Tile Map Service Specification 1.0.0; none for CGCS2000. */
const PROFILES: Readonly<Record<string, string>> = { 'EPSG:3857': 'global-mercator', 'EPSG:4326': 'global-geodetic' }

const profileOf = (layer: Layer) => PROFILES[layer.set.crs] ?? 'none'

function mapAddress(addresses: Addresses, layer: Layer): string {
  return addressOf(addresses, `${TMS_PATH}/${encodeURIComponent(layer.code)}`)
}

/** What continues the path of a tile map's address: clients append `/x/y.png` to the end of a tile set's address, which with a token is its query. */
export const TILE_PARAMETER = 'tile'

/** Ends in `/{zoom}` in either form: OWSLib appends the rest, GDAL puts its own zoom there. */
function tilesAddress(addresses: Addresses, layer: Layer, zoom: number): string {
  const map = mapAddress(addresses, layer)
  return addresses.token === '' ? `${map}/${zoom}` : `${map}&${TILE_PARAMETER}=/${zoom}`
}

/** The list of tile maps (OSGeo Tile Map Service Specification 1.0.0). */
export function tileMapService(layers: readonly Layer[], addresses: Addresses): string {
  const maps = layers.map(
    (layer) =>
      xml`<TileMap title="${layer.title}" srs="${layer.set.crs}" profile="${profileOf(layer)}" href="${mapAddress(addresses, layer)}"/>\n`,
  )
  return xmlDocument(xml`
<TileMapService version="1.0.0" services="${addressOf(addresses, TMS_PATH)}">
<Title>Map asset gateway</Title>
<Abstract/>
<TileMaps>
${maps}
</TileMaps>
</TileMapService>`)
}

/** One tile map: where its tiles are, rows counted from the south. */
export function tileMap(layer: Layer, addresses: Addresses): string {
  const [west, south, east, north] = inUnitsOf(layer.set, unbrokenBounds(layer.set, layer.bounds))
  const [left, bottom] = layer.set.extent
  const pixels = layer.tileSize
  const sets = zoomsOf(layer).map((zoom) => {
    const href = tilesAddress(addresses, layer, zoom)
    const unitsPerPixel = (layer.set.cellSize * 256) / pixels / 2 ** zoom
    return xml`<TileSet href="${href}" units-per-pixel="${unitsPerPixel}" order="${zoom}"/>\n`
  })
  return xmlDocument(xml`
<TileMap version="1.0.0" tilemapservice="${addressOf(addresses, TMS_PATH)}">
<Title>${layer.title}</Title>
<Abstract>${layer.description}</Abstract>
<SRS>${layer.set.crs}</SRS>
<BoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>
<Origin x="${left}" y="${bottom}"/>
<TileFormat width="${pixels}" height="${pixels}" mime-type="${CONTENT_TYPES[layer.format]}" extension="${layer.format}"/>
<TileSets profile="${profileOf(layer)}">
${sets}
</TileSets>
</TileMap>`)
}
