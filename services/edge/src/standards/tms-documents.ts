import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { inUnitsOf } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, boundsWithinGrid, type Layer, tileJsonPath, zoomsOf } from './layer.js'
import { itemsOf, remembered } from './remembered.js'
import { XML_ITEMS, xml, xmlDocument, xmlItem, xmlPieces } from './xml.js'

const TMS_PATH = '/tms/1.0.0'

/** Profiles of the OSGeo Tile Map Service Specification 1.0.0, which has none for CGCS2000. */
const PROFILES: Readonly<Record<string, string>> = { 'EPSG:3857': 'global-mercator', 'EPSG:4326': 'global-geodetic' }

const profileOf = (layer: Layer) => PROFILES[layer.set.crs] ?? 'none'

const mapPath = ({ code }: Layer) => `${TMS_PATH}/${encodeURIComponent(code)}`

/**
 * Parameter that continues the path of a tile map's address: clients append `/x/y.png` to the end of a tile set's address, which is its query.
 */
export const TILE_PARAMETER = 'tile'

/**
 * Returns an address that ends in `/{zoom}`: OWSLib appends the rest, and GDAL replaces the zoom, if the first one is 0. GDAL requests every
 * tile of the whole grid, and treats a missing one as an error unless it gets 204.
 */
function tilesAddress(addresses: Addresses, layer: Layer, zoom: number): string {
  const map = addressOf(addresses, `${mapPath(layer)}?missing=204`)
  return `${map}&${TILE_PARAMETER}=/${zoom}`
}

const tileMapItem = remembered((layer, addresses) =>
  xmlItem(
    xml`<TileMap title="${layer.title}" srs="${layer.set.crs}" profile="${profileOf(layer)}" href="${addressOf(addresses, mapPath(layer))}"/>`,
  ),
)

/** True if a layer is a tile map: a layer in its own grid has no corner in the south-west that rows could be counted from. */
export function isInTms({ set }: Pick<Layer, 'set'>): boolean {
  return set.own === null
}

/** Yields the list of tile maps (OSGeo Tile Map Service Specification 1.0.0) piece by piece. */
export function tileMapServicePieces(layers: readonly Layer[], addresses: Addresses): Iterable<string> {
  const frame = xml`
<TileMapService version="1.0.0" services="${addressOf(addresses, TMS_PATH)}">
<Title>Map asset gateway</Title>
<Abstract/>
<TileMaps>
${XML_ITEMS}
</TileMaps>
</TileMapService>`
  return xmlPieces(frame, itemsOf(layers.filter(isInTms), tileMapItem, addresses))
}

/**
 * Returns one tile map with the addresses of its tiles, whose rows are counted from the south. The bounding box is that of the whole grid,
 * because GDAL counts rows and columns from its corner, and from no other element. The extent of the data is in `DataBoundingBox`, which Cesium
 * uses because it is the last element of that name, and in the TileJSON that `Metadata` names.
 * @param from the first zoom that is listed: GDAL reads only maps that begin with 0, and Cesium shows none below its first tiles
 */
export function tileMap(layer: Layer, addresses: Addresses, from: number = 0): string {
  const [west, south, east, north] = inUnitsOf(layer.set, boundsWithinGrid(layer))
  const [left, bottom, right, top] = layer.set.extent
  const pixels = layer.tileSize
  const tileJson = addressOf(addresses, tileJsonPath(layer))
  const sets = zoomsOf({ ...layer, minZoom: from }).map((zoom) => {
    const href = tilesAddress(addresses, layer, zoom)
    const unitsPerPixel = (layer.set.cellSize * 256) / pixels / 2 ** zoom
    return xml`<TileSet href="${href}" units-per-pixel="${unitsPerPixel}" order="${zoom}"/>\n`
  })
  return xmlDocument(xml`
<TileMap version="1.0.0" tilemapservice="${addressOf(addresses, TMS_PATH)}">
<Title>${layer.title}</Title>
<Abstract>${layer.description}</Abstract>
<Metadata type="TileJSON" mime-type="application/json" href="${tileJson}"/>
<SRS>${layer.set.crs}</SRS>
<BoundingBox minx="${left}" miny="${bottom}" maxx="${right}" maxy="${top}"/>
<DataBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>
<Origin x="${left}" y="${bottom}"/>
<TileFormat width="${pixels}" height="${pixels}" mime-type="${CONTENT_TYPES[layer.format]}" extension="${layer.format}"/>
<TileSets profile="${profileOf(layer)}">
${sets}
</TileSets>
</TileMap>`)
}
