import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { matrixAt, type TileMatrixSet, tileMatrixLimits } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, boundsWithinGrid, type Layer, tileTemplate, zoomsOf } from './layer.js'
import { remembered } from './remembered.js'
import { rangedSetId, sizedSetId, tilePixels } from './sized-set.js'
import { ALL_SECTIONS, type WmtsSection } from './wmts-request.js'
import { XML_ITEMS, Xml, xml, xmlItem, xmlPieces } from './xml.js'

const WMTS_PATH = '/wmts'
export const WMTS_REST_PATH = '/wmts/1.0.0/WMTSCapabilities.xml'

/**
 * Yields the pieces of the capabilities of a WMTS 1.0.0 (OGC 07-057r7) with RESTful and KVP addresses, for the layers that a token may read.
 *
 * GDAL and QGIS assume that each layer has all zooms of its set, and show nothing if a layer ends before. So the first set of each layer has
 * the layer's own zooms, and its limits. The second is the shared set, for clients that know it by its name.
 */
export function capabilitiesPieces(
  layers: readonly Layer[],
  addresses: Addresses,
  provider: Provider,
  sections: ReadonlySet<WmtsSection>,
): Iterable<string> {
  const items = sections.has('Contents') ? contents(layers, addresses) : []
  return xmlPieces(capabilitiesFrame(addresses, placeOf(layers), provider, sections), items)
}

function* contents(layers: readonly Layer[], addresses: Addresses): Iterable<string> {
  for (const layer of layers) yield layerItem(layer, addresses)
  for (const set of [...sharedSets(layers), ...rangedSets(layers)]) yield xmlItem(matrixSet(set))
}

const layerItem = remembered((layer, addresses) => {
  const links = xml`${limitedLink(layer, rangedSetId(layer))}
<TileMatrixSetLink><TileMatrixSet>${sizedSetId(layer)}</TileMatrixSet></TileMatrixSetLink>`
  return xmlItem(layerElement(layer, addresses, links))
})

/** Returns the capabilities of one layer, whose set is the shared one with only the zooms of this layer. */
export function capabilitiesOfOne(
  layer: Layer,
  addresses: Addresses,
  provider: Provider,
  sections: ReadonlySet<WmtsSection>,
): string {
  const id = sizedSetId(layer)
  const parts = [layerElement(layer, addresses, limitedLink(layer, id)), matrixSet({ id, ...layer })]
  const items = sections.has('Contents') ? parts.map(xmlItem) : []
  return [...xmlPieces(capabilitiesFrame(addresses, placeOf([layer]), provider, sections), items)].join('')
}

/** Who offers the services, as the settings say it. */
export interface Provider {
  readonly providerName: string
  readonly providerSite: string | null
}

/** Addresses of a WMTS: for requests in key-value form, and for its RESTful capabilities, if it has them. */
interface WmtsPlace {
  readonly kvp: string
  readonly rest: string | null
  /** true if the key-value form is listed first */
  readonly isTimed: boolean
}

function placeOf(layers: readonly Layer[]): WmtsPlace {
  return { kvp: WMTS_PATH, rest: WMTS_REST_PATH, isTimed: layers.some(({ times }) => times.length > 0) }
}

export function capabilitiesFrame(
  addresses: Addresses,
  place: WmtsPlace,
  provider: Provider,
  sections: ReadonlySet<WmtsSection> = ALL_SECTIONS,
): Xml {
  // A document without layers has no items, and the frame is sent with an empty place for them.
  const contents = sections.has('Contents') ? xml`<Contents>\n${XML_ITEMS}\n</Contents>` : XML_ITEMS
  return xml`
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="1.0.0"
 xsi:schemaLocation="http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd">
${sections.has('ServiceIdentification') ? IDENTIFICATION : null}
${sections.has('ServiceProvider') ? providerElement(provider) : null}
${sections.has('OperationsMetadata') ? operations(addresses, place) : null}
${contents}
${place.rest === null ? null : xml`<ServiceMetadataURL xlink:href="${addressOf(addresses, place.rest)}"/>`}
</Capabilities>`
}

const IDENTIFICATION = xml`<ows:ServiceIdentification>
<ows:Title>Map asset gateway</ows:Title>
<ows:ServiceType>OGC WMTS</ows:ServiceType>
<ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
</ows:ServiceIdentification>`

function providerElement({ providerName, providerSite }: Provider): Xml {
  return xml`<ows:ServiceProvider>
<ows:ProviderName>${providerName}</ows:ProviderName>
${providerSite === null ? null : xml`<ows:ProviderSite xlink:href="${providerSite}"/>`}
<ows:ServiceContact/>
</ows:ServiceProvider>`
}

function operations(addresses: Addresses, place: WmtsPlace): Xml {
  return xml`<ows:OperationsMetadata>
${['GetCapabilities', 'GetTile'].map((name) => operation(name, addresses, place))}
</ows:OperationsMetadata>`
}

/**
 * RESTful first: QGIS and OpenLayers use the first encoding, and those addresses are the fastest. If a layer has times, the key-value form is first, since
 * only it carries a time. A template with a time would break clients that know no dimensions, such as TerriaJS.
 */
function operation(name: string, addresses: Addresses, place: WmtsPlace): Xml {
  // Clients append their parameters after the question mark.
  const kvp = get(`${addressOf(addresses, place.kvp)}${addresses.token === '' ? '?' : '&'}`, 'KVP')
  const rest = place.rest === null ? null : get(addressOf(addresses, place.rest), 'RESTful')
  const [first, second] = place.isTimed ? [kvp, rest] : [rest, kvp]
  return xml`
<ows:Operation name="${name}"><ows:DCP><ows:HTTP>
${first}
${second}
</ows:HTTP></ows:DCP></ows:Operation>`
}

function get(href: string, encoding: string): Xml {
  return xml`<ows:Get xlink:href="${href}">
<ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>${encoding}</ows:Value></ows:AllowedValues></ows:Constraint>
</ows:Get>`
}

function layerElement(layer: Layer, addresses: Addresses, links: Xml): Xml {
  const formats = layer.formats ?? [layer.format]
  const resources = formats.map((format) => {
    const template = tileTemplate(addresses, { ...layer, format }, ['{TileMatrix}', '{TileCol}', '{TileRow}'])
    return xml`<ResourceURL format="${CONTENT_TYPES[format]}" resourceType="tile" template="${template}"/>`
  })
  const types = formats.map((format) => CONTENT_TYPES[format])
  return layerWith(layer, types, [...dimension(layer), links, ...resources])
}

/** Returns the times at which its default version changed, for requests in key-value form, which accept TIME. */
function dimension({ times }: Layer): Xml[] {
  if (times.length === 0) return []
  return [
    xml`<Dimension><ows:Identifier>Time</ows:Identifier><ows:UOM>ISO8601</ows:UOM><Default>current</Default><Current>true</Current>
${times.map((time) => xml`<Value>${time}</Value>`)}
</Dimension>`,
  ]
}

/** `parts`: its time, its sets, and the addresses of its tiles, if it has any. */
export function layerWith(layer: Layer, formats: readonly string[], parts: readonly Xml[]): Xml {
  const [west, south, east, north] = boundsWithinGrid(layer)
  return xml`
<Layer>
<ows:Title>${layer.title}</ows:Title>
${layer.description === null ? null : xml`<ows:Abstract>${layer.description}</ows:Abstract>`}
<ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>
<ows:Identifier>${layer.code}</ows:Identifier>
<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
${formats.map((format, i) => xml`${i === 0 ? '' : '\n'}<Format>${format}</Format>`)}
${parts.flatMap((part, i) => (i === 0 ? [part] : [new Xml('\n'), part]))}
</Layer>`
}

/** @param idOf returns the identifier of a zoom's matrix */
export function limitedLink(layer: Layer, setId: string, idOf = plainZoom): Xml {
  // Pictures of styles show the whole world: their limits would be those of the set, ten times as long as the rest of a layer.
  if (layer.drawn !== undefined && layer.bounds === null)
    return xml`<TileMatrixSetLink><TileMatrixSet>${setId}</TileMatrixSet></TileMatrixSetLink>`
  return xml`<TileMatrixSetLink><TileMatrixSet>${setId}</TileMatrixSet><TileMatrixSetLimits>
${zoomsOf(layer).map((zoom) => limits(layer, zoom, idOf(zoom)))}
</TileMatrixSetLimits></TileMatrixSetLink>`
}

/** Nine tenths of the document of a large catalog, and only numbers, so escaping is skipped. */
function limits({ set, bounds }: Layer, zoom: number, id: number): Xml {
  const { minRow, maxRow, minColumn, maxColumn } = tileMatrixLimits(set, zoom, bounds)
  return new Xml(
    `<TileMatrixLimits><TileMatrix>${id}</TileMatrix><MinTileRow>${minRow}</MinTileRow><MaxTileRow>${maxRow}</MaxTileRow>` +
      `<MinTileCol>${minColumn}</MinTileCol><MaxTileCol>${maxColumn}</MaxTileCol></TileMatrixLimits>`,
  )
}

function plainZoom(zoom: number): number {
  return zoom
}

/** A set with some of its zooms. */
export type DescribedSet = Pick<Layer, 'set' | 'format' | 'tileSize' | 'minZoom' | 'maxZoom'> & { readonly id: string }

/** Returns the sets that layers share, each from zoom 0 to the highest zoom of its layers. */
function sharedSets(layers: readonly Layer[]): DescribedSet[] {
  const sets = new Map<string, DescribedSet>()
  for (const layer of layers) {
    const id = sizedSetId(layer)
    const deepest = sets.get(id)
    if (deepest === undefined || layer.maxZoom > deepest.maxZoom) sets.set(id, { ...layer, id, minZoom: 0 })
  }
  return [...sets.values()]
}

/** Returns the sets with the zooms of layers: one for all layers with the same zooms. */
function rangedSets(layers: readonly Layer[]): DescribedSet[] {
  const sets = new Map<string, DescribedSet>()
  for (const layer of layers) {
    const id = rangedSetId(layer)
    if (!sets.has(id)) sets.set(id, { ...layer, id })
  }
  return [...sets.values()]
}

export function matrixSet(described: DescribedSet, idOf = plainZoom): Xml {
  const { id, set } = described
  const pixels = tilePixels(described)
  // The scales of that standard are those of tiles of 256 pixels, beginning with zoom 0. GoogleCRS84Quad begins with one tile, half of which is empty,
  // so the scales of WorldCRS84Quad are those of its second level on.
  const isWellKnown = pixels === 256 && described.minZoom === 0 && set.columns === 1
  const scales = isWellKnown ? set.wellKnownScaleSet : null
  return xml`
<TileMatrixSet>
<ows:Title>${set.title}${pixels === 256 || set.own !== null ? null : `, tiles of ${pixels} pixels`}</ows:Title>
<ows:Identifier>${id}</ows:Identifier>
<ows:SupportedCRS>${set.urn}</ows:SupportedCRS>
${scales === null ? null : xml`<WellKnownScaleSet>${scales}</WellKnownScaleSet>`}
${zoomsOf(described).map((zoom) => matrix(set, zoom, pixels, idOf(zoom)))}
</TileMatrixSet>`
}

function matrix(set: TileMatrixSet, zoom: number, pixels: number, id: number): Xml {
  const found = matrixAt(set, zoom, pixels)
  if (found === null) return xml``
  const { scaleDenominator, columns, rows } = found
  return xml`
<TileMatrix><ows:Identifier>${id}</ows:Identifier>
<ScaleDenominator>${scaleDenominator}</ScaleDenominator>
<TopLeftCorner>${set.topLeft.join(' ')}</TopLeftCorner>
<TileWidth>${pixels}</TileWidth><TileHeight>${pixels}</TileHeight>
<MatrixWidth>${columns}</MatrixWidth><MatrixHeight>${rows}</MatrixHeight>
</TileMatrix>`
}
