import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { type TileMatrixSet, tileMatrixLimits, unbrokenBounds } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, type Layer, tileTemplate, zoomsOf } from './layer.js'
import { type Xml, xml, xmlDocument } from './xml.js'

export const WMTS_PATH = '/wmts'
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
${usedSets(layers).map(([set, maxZoom]) => matrixSet(set, maxZoom))}
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
<TileMatrixSetLink><TileMatrixSet>${layer.set.id}</TileMatrixSet><TileMatrixSetLimits>
${zoomsOf(layer).map((zoom) => limits(layer, zoom))}
</TileMatrixSetLimits></TileMatrixSetLink>
<ResourceURL format="${format}" resourceType="tile" template="${template}"/>
</Layer>`
}

function limits({ set, bounds }: Layer, zoom: number): Xml {
  const { minRow, maxRow, minColumn, maxColumn } = tileMatrixLimits(set, zoom, bounds)
  return xml`
<TileMatrixLimits><TileMatrix>${zoom}</TileMatrix>
<MinTileRow>${minRow}</MinTileRow><MaxTileRow>${maxRow}</MaxTileRow><MinTileCol>${minColumn}</MinTileCol><MaxTileCol>${maxColumn}</MaxTileCol>
</TileMatrixLimits>`
}

/** The sets that the layers lie in, each to the highest zoom of its layers. */
function usedSets(layers: readonly Layer[]): [TileMatrixSet, number][] {
  const sets = new Map<TileMatrixSet, number>()
  for (const { set, maxZoom } of layers) sets.set(set, Math.max(maxZoom, sets.get(set) ?? 0))
  return [...sets]
}

/** Matrices of 256 pixels: clients draw a tile of another size into the same place. */
function matrixSet(set: TileMatrixSet, maxZoom: number): Xml {
  const matrices = Array.from({ length: maxZoom + 1 }, (_, zoom) => matrix(set, zoom))
  const scales = set.wellKnownScaleSet
  return xml`
<TileMatrixSet>
<ows:Title>${set.title}</ows:Title>
<ows:Identifier>${set.id}</ows:Identifier>
<ows:SupportedCRS>${set.urn}</ows:SupportedCRS>
${scales === null ? null : xml`<WellKnownScaleSet>${scales}</WellKnownScaleSet>`}
${matrices}
</TileMatrixSet>`
}

function matrix(set: TileMatrixSet, zoom: number): Xml {
  const rows = 2 ** zoom
  return xml`
<TileMatrix><ows:Identifier>${zoom}</ows:Identifier>
<ScaleDenominator>${set.scaleDenominator / rows}</ScaleDenominator>
<TopLeftCorner>${set.topLeft.join(' ')}</TopLeftCorner>
<TileWidth>256</TileWidth><TileHeight>256</TileHeight>
<MatrixWidth>${rows * set.columns}</MatrixWidth><MatrixHeight>${rows}</MatrixHeight>
</TileMatrix>`
}
