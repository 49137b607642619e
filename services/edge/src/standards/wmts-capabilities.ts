import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { type TileMatrixSet, tileMatrixLimits, unbrokenBounds } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, type Layer, tileTemplate, zoomsOf } from './layer.js'
import { sizedSetId, tilePixels } from './sized-set.js'
import { Xml, xml, xmlDocument } from './xml.js'

const WMTS_PATH = '/wmts'
export const WMTS_REST_PATH = '/wmts/1.0.0/WMTSCapabilities.xml'

/** The capabilities of a WMTS 1.0.0 (OGC 07-057r7) with RESTful and KVP addresses, for the layers that one token may read. */
export function wmtsCapabilities(layers: readonly Layer[], addresses: Addresses): string {
  return xmlDocument(xml`
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="1.0.0"
 xsi:schemaLocation="http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd">
<ows:ServiceIdentification>
<ows:Title>Map asset gateway</ows:Title>
<ows:ServiceType>OGC WMTS</ows:ServiceType>
<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
</ows:ServiceIdentification>
<ows:OperationsMetadata>
${['GetCapabilities', 'GetTile'].map((name) => operation(name, addresses))}
</ows:OperationsMetadata>
<Contents>
${layers.map((layer) => layerElement(layer, addresses))}
${usedSets(layers).map(matrixSet)}
</Contents>
<ServiceMetadataURL xlink:href="${addressOf(addresses, WMTS_REST_PATH)}"/>
</Capabilities>`)
}

/** RESTful first: QGIS and OpenLayers take the first encoding, and only those addresses are the fast ones. */
function operation(name: string, addresses: Addresses): Xml {
  // Clients append their parameters behind the question mark.
  const kvp = `${addressOf(addresses, WMTS_PATH)}${addresses.token === '' ? '?' : '&'}`
  return xml`
<ows:Operation name="${name}"><ows:DCP><ows:HTTP>
${get(addressOf(addresses, WMTS_REST_PATH), 'RESTful')}
${get(kvp, 'KVP')}
</ows:HTTP></ows:DCP></ows:Operation>`
}

function get(href: string, encoding: string): Xml {
  return xml`<ows:Get xlink:href="${href}">
<ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>${encoding}</ows:Value></ows:AllowedValues></ows:Constraint>
</ows:Get>`
}

function layerElement(layer: Layer, addresses: Addresses): Xml {
  const [west, south, east, north] = unbrokenBounds(layer.set, layer.bounds)
  const format = CONTENT_TYPES[layer.format]
  const template = tileTemplate(addresses, layer, ['{TileMatrix}', '{TileCol}', '{TileRow}'])
  return xml`
<Layer>
<ows:Title>${layer.title}</ows:Title>
${layer.description === null ? null : xml`<ows:Abstract>${layer.description}</ows:Abstract>`}
<ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>
<ows:Identifier>${layer.code}</ows:Identifier>
<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>${format}</Format>
<TileMatrixSetLink><TileMatrixSet>${sizedSetId(layer)}</TileMatrixSet><TileMatrixSetLimits>
${zoomsOf(layer).map((zoom) => limits(layer, zoom))}
</TileMatrixSetLimits></TileMatrixSetLink>
<ResourceURL format="${format}" resourceType="tile" template="${template}"/>
</Layer>`
}

/** Nine tenths of the document of a large catalog, and numbers alone: without the care that texts need. */
function limits({ set, bounds }: Layer, zoom: number): Xml {
  const { minRow, maxRow, minColumn, maxColumn } = tileMatrixLimits(set, zoom, bounds)
  return new Xml(
    `<TileMatrixLimits><TileMatrix>${zoom}</TileMatrix><MinTileRow>${minRow}</MinTileRow><MaxTileRow>${maxRow}</MaxTileRow>` +
      `<MinTileCol>${minColumn}</MinTileCol><MaxTileCol>${maxColumn}</MaxTileCol></TileMatrixLimits>`,
  )
}

/** A set as some layers use it. */
type UsedSet = Pick<Layer, 'set' | 'format' | 'tileSize' | 'maxZoom'>

/** The sets that the layers lie in, each to the highest zoom of its layers. */
function usedSets(layers: readonly Layer[]): UsedSet[] {
  const sets = new Map<string, UsedSet>()
  for (const layer of layers) {
    const id = sizedSetId(layer)
    const deepest = sets.get(id)
    if (deepest === undefined || layer.maxZoom > deepest.maxZoom) sets.set(id, layer)
  }
  return [...sets.values()]
}

function matrixSet(used: UsedSet): Xml {
  const { set, maxZoom } = used
  const pixels = tilePixels(used)
  const matrices = Array.from({ length: maxZoom + 1 }, (_, zoom) => matrix(set, zoom, pixels))
  // The scales of that standard are those of tiles of 256 pixels.
  const scales = pixels === 256 ? set.wellKnownScaleSet : null
  return xml`
<TileMatrixSet>
<ows:Title>${set.title}${pixels === 256 ? null : `, tiles of ${pixels} pixels`}</ows:Title>
<ows:Identifier>${sizedSetId(used)}</ows:Identifier>
<ows:SupportedCRS>${set.urn}</ows:SupportedCRS>
${scales === null ? null : xml`<WellKnownScaleSet>${scales}</WellKnownScaleSet>`}
${matrices}
</TileMatrixSet>`
}

function matrix(set: TileMatrixSet, zoom: number, pixels: number): Xml {
  const rows = 2 ** zoom
  return xml`
<TileMatrix><ows:Identifier>${zoom}</ows:Identifier>
<ScaleDenominator>${(set.scaleDenominator * 256) / pixels / rows}</ScaleDenominator>
<TopLeftCorner>${set.topLeft.join(' ')}</TopLeftCorner>
<TileWidth>${pixels}</TileWidth><TileHeight>${pixels}</TileHeight>
<MatrixWidth>${rows * set.columns}</MatrixWidth><MatrixHeight>${rows}</MatrixHeight>
</TileMatrix>`
}
