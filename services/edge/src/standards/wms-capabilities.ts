import type { Bounds } from '@gateway/contracts/basemap.js'
import { boundsIn } from '@gateway/tilesets/maps/positions.js'
import { matrixAt, TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Addresses, addressOf, boundsWithinGrid, type Layer } from './layer.js'
import { remembered } from './remembered.js'
import { tilePixels } from './sized-set.js'
import { type LayerGroup, shownBounds } from './wms-layers.js'
import {
  EXCEPTION_TYPE_OF_111,
  INFO_FORMATS,
  MAP_FORMATS,
  MAP_SYSTEMS,
  MAX_LAYERS,
  MAX_SIDE,
  TYPE_OF_111,
  type WmsVersion,
} from './wms-request.js'
import type { Provider } from './wmts-capabilities.js'
import { XML_ITEMS, Xml, xml, xmlItem, xmlPieces } from './xml.js'

const WMS_PATH = '/wms'
/**
 * Factor by which a picture may be coarser than the first zoom of a layer, so that a screen shows fewer tiles than the limit. Clients do not request
 * a layer at smaller scales.
 */
const COARSER = 4
/** Metres of a pixel of the standard's display, and the ratio of its diagonal, by which 1.1.1 tells scales. */
const PIXEL_METRES = 0.000_28
const DIAGONAL = Math.SQRT2

/** Yields the pieces of the capabilities of WMS 1.3.0 (OGC 06-042) or 1.1.1 (OGC 01-068r3). */
export function wmsCapabilitiesPieces(
  version: WmsVersion,
  groups: readonly LayerGroup[],
  addresses: Addresses,
  provider: Provider,
): Iterable<string> {
  const frame = version === '1.3.0' ? frameOf130(addresses, provider) : frameOf111(addresses, provider)
  return xmlPieces(frame, items(version, groups, addresses))
}

function* items(version: WmsVersion, groups: readonly LayerGroup[], addresses: Addresses): Iterable<string> {
  const item = version === '1.3.0' ? itemOf130 : itemOf111
  for (const { title, layers } of groups) {
    if (layers.length === 0) continue
    yield xmlItem(xml`<Layer>\n<Title>${title}</Title>`)
    for (const layer of layers) yield item(layer, addresses)
    yield '</Layer>\n'
  }
}

const itemOf130 = remembered((layer) => {
  const scale = smallestScale(layer)
  return xmlItem(xml`
<Layer queryable="${isQueryable(layer)}" opaque="0">
${names(layer)}
${boxesOf130(boxOf(layer))}
${layer.times.length === 0 ? null : xml`<Dimension name="time" units="ISO8601" default="${latest(layer)}" nearestValue="1" current="1">${layer.times.join(',')}</Dimension>`}
${attributionOf(layer)}
${STYLE}
${scale === null ? null : xml`<MaxScaleDenominator>${scale}</MaxScaleDenominator>`}
</Layer>`)
})

const itemOf111 = remembered((layer) => {
  const scale = smallestScale(layer)
  return xmlItem(xml`
<Layer queryable="${isQueryable(layer)}" opaque="0">
${names(layer)}
${boxesOf111(boxOf(layer))}
${layer.times.length === 0 ? null : xml`<Dimension name="time" units="ISO8601"/>\n<Extent name="time" default="${latest(layer)}" nearestValue="1">${layer.times.join(',')}</Extent>`}
${attributionOf(layer)}
${STYLE}
${scale === null ? null : xml`<ScaleHint min="0" max="${scale * PIXEL_METRES * DIAGONAL}"/>`}
</Layer>`)
})

/** The features of a vector can be queried. */
function isQueryable({ drawn }: Layer): 0 | 1 {
  return drawn?.kind === 'vector' ? 1 : 0
}

const STYLE = xml`<Style>\n<Name>default</Name>\n<Title>default</Title>\n</Style>`

function names({ code, title, description }: Layer): Xml {
  return xml`<Name>${code}</Name>
<Title>${title}</Title>
${description === null ? null : xml`<Abstract>${description}</Abstract>`}`
}

function latest({ times }: Layer): string {
  return times.at(-1) ?? 'current'
}

function attributionOf({ attribution }: Layer): Xml | null {
  const text = attribution?.replace(/<[^<>]*>/g, '').trim() ?? ''
  return text === '' ? null : xml`<Attribution>\n<Title>${text}</Title>\n</Attribution>`
}

/** Returns the scale denominator beyond which a layer is not requested; null: it is drawn at every scale. */
function smallestScale(layer: Layer): number | null {
  if (layer.minZoom === 0) return null
  const matrix = matrixAt(layer.set, layer.minZoom, tilePixels(layer))
  return matrix === null ? null : matrix.scaleDenominator * COARSER
}

/** Degrees of the sides of a box around a point or a straight line: the standard wants its west below its east. */
const LEAST_SIDE = 1e-5

function boxOf(layer: Layer): Bounds {
  const [west, south, east, north] = boundsWithinGrid({ set: layer.set, bounds: shownBounds(layer) })
  const [across, up] = [east - west < LEAST_SIDE ? LEAST_SIDE / 2 : 0, north - south < LEAST_SIDE ? LEAST_SIDE / 2 : 0]
  return [west - across, south - up, east + across, north + up]
}

function mercatorBox([west, south, east, north]: Bounds): Bounds {
  const [, bottom, , top] = TILE_MATRIX_SETS.WebMercatorQuad.world
  return boundsIn('mercator', [west, Math.max(south, bottom), east, Math.min(north, top)])
}

function boxesOf130(bounds: Bounds): Xml {
  const [west, south, east, north] = bounds
  const boxes = Object.entries(MAP_SYSTEMS).map(([name, { system, isNorthFirst }]) => {
    const [a, b, c, d] = system === 'mercator' ? mercatorBox(bounds) : bounds
    return isNorthFirst
      ? xml`\n<BoundingBox CRS="${name}" minx="${b}" miny="${a}" maxx="${d}" maxy="${c}"/>`
      : xml`\n<BoundingBox CRS="${name}" minx="${a}" miny="${b}" maxx="${c}" maxy="${d}"/>`
  })
  return xml`<EX_GeographicBoundingBox>
<westBoundLongitude>${west}</westBoundLongitude>
<eastBoundLongitude>${east}</eastBoundLongitude>
<southBoundLatitude>${south}</southBoundLatitude>
<northBoundLatitude>${north}</northBoundLatitude>
</EX_GeographicBoundingBox>${boxes}`
}

/** Names of systems in 1.1.1, which has no CRS:84: its EPSG:4326 has the longitude first. */
const SRS = Object.keys(MAP_SYSTEMS).filter((name) => name.startsWith('EPSG:')) as (keyof typeof MAP_SYSTEMS)[]

function boxesOf111(bounds: Bounds): Xml {
  const [west, south, east, north] = bounds
  const boxes = SRS.map((name) => {
    const [a, b, c, d] = MAP_SYSTEMS[name].system === 'mercator' ? mercatorBox(bounds) : bounds
    return xml`\n<BoundingBox SRS="${name}" minx="${a}" miny="${b}" maxx="${c}" maxy="${d}"/>`
  })
  return xml`<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>${boxes}`
}

const TITLE = 'Map asset gateway'
const WORLD: Bounds = [-180, -90, 180, 90]
const INFO_TYPES = Object.keys(INFO_FORMATS).filter((type) => type !== 'application/geo+json')

/** Clients append their parameters after the question mark, or after the ampersand. */
function ownAddress(addresses: Addresses): string {
  return `${addressOf(addresses, WMS_PATH)}${addresses.token === '' ? '?' : '&'}`
}

function onlineResource(href: string): Xml {
  return xml`<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="${href}"/>`
}

function operation(name: string, formats: readonly string[], addresses: Addresses): Xml {
  const element = new Xml(name)
  return xml`
<${element}>
${formats.map((format) => xml`<Format>${format}</Format>\n`)}
<DCPType><HTTP><Get>${onlineResource(ownAddress(addresses))}</Get></HTTP></DCPType>
</${element}>`
}

function requests(addresses: Addresses, documentType: string): Xml {
  return xml`<Request>
${operation('GetCapabilities', [documentType], addresses)}
${operation('GetMap', Object.keys(MAP_FORMATS), addresses)}
${operation('GetFeatureInfo', INFO_TYPES, addresses)}
</Request>`
}

function serviceHead(name: string, addresses: Addresses, { providerName, providerSite }: Provider): Xml {
  return xml`<Name>${name}</Name>
<Title>${TITLE}</Title>
${onlineResource(providerSite ?? ownAddress(addresses))}
<ContactInformation><ContactPersonPrimary>
<ContactPerson/>
<ContactOrganization>${providerName}</ContactOrganization>
</ContactPersonPrimary></ContactInformation>
<Fees>none</Fees>
<AccessConstraints>none</AccessConstraints>`
}

function frameOf130(addresses: Addresses, provider: Provider): Xml {
  return xml`
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd">
<Service>
${serviceHead('WMS', addresses, provider)}
<LayerLimit>${MAX_LAYERS}</LayerLimit>
<MaxWidth>${MAX_SIDE}</MaxWidth>
<MaxHeight>${MAX_SIDE}</MaxHeight>
</Service>
<Capability>
${requests(addresses, 'text/xml')}
<Exception><Format>XML</Format></Exception>
<Layer>
<Title>${TITLE}</Title>
${Object.keys(MAP_SYSTEMS).map((name) => xml`<CRS>${name}</CRS>\n`)}
${boxesOf130(WORLD)}
${XML_ITEMS}
</Layer>
</Capability>
</WMS_Capabilities>`
}

const DOCTYPE = new Xml(
  '<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd">',
)

function frameOf111(addresses: Addresses, provider: Provider): Xml {
  return xml`${DOCTYPE}
<WMT_MS_Capabilities version="1.1.1">
<Service>
${serviceHead('OGC:WMS', addresses, provider)}
</Service>
<Capability>
${requests(addresses, TYPE_OF_111)}
<Exception><Format>${EXCEPTION_TYPE_OF_111}</Format></Exception>
<Layer>
<Title>${TITLE}</Title>
${SRS.map((name) => xml`<SRS>${name}</SRS>\n`)}
${boxesOf111(WORLD)}
${XML_ITEMS}
</Layer>
</Capability>
</WMT_MS_Capabilities>`
}
