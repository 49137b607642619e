import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { MAX_ZOOM } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { inUnitsOf, matrixAt, type TileMatrixSet, tileMatrixLimits } from '@gateway/tilesets/tile-matrix-sets.js'
import type { CatalogVector } from '../sync/catalog.js'
import { FEATURES_CONFORMANCE, FEATURES_CRS, featureCollection } from './features-documents.js'
import { type GdalQuirks, NO_QUIRKS } from './gdal-quirks.js'
import {
  type Addresses,
  addressOf,
  boundsWithinGrid,
  type Layer,
  tileJsonPath,
  tileTemplate,
  zoomsOf,
} from './layer.js'
import { jsonPieces, remembered } from './remembered.js'
import { type SizedSet, setsOf, sizedSetId, tilePixels } from './sized-set.js'
import { STYLES_CONFORMANCE, STYLES_PATH, STYLES_REL } from './styles-documents.js'

/**
 * Documents of OGC API – Tiles 1.0 (OGC 20-057), with the collections of OGC API – Common 2 and the tile matrix sets of the Two Dimensional
 * Tile Matrix Set standard 2.0 (OGC 17-083r4). Keys of that standard's first version are included: GDAL 3.6 reads no others.
 */
const OGC_PATH = '/ogc'

const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const REL = 'http://www.opengis.net/def/rel/ogc/1.0'
const JSON_TYPE = 'application/json'
/** Media type of an OpenAPI 3.1 document in OGC API – Features part 5. */
const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1'
/** Media type of the document that describes only OGC API – Features, in the version that its clients read. */
export const OPENAPI_30_TYPE = 'application/vnd.oai.openapi+json;version=3.0'

interface Link {
  readonly rel: string
  readonly href: string
  readonly type: string
  readonly title?: string
  readonly templated?: true
}

const CONFORMANCE = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/landing-page',
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/json',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/json',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tileset',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tilesets-list',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/geodata-tilesets',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/png',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/jpeg',
  'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt',
  'http://www.opengis.net/spec/tms/2.0/conf/tilematrixset',
  'http://www.opengis.net/spec/tms/2.0/conf/tilematrixsetlimits',
  'http://www.opengis.net/spec/tms/2.0/conf/tilesetmetadata',
  'http://www.opengis.net/spec/tms/2.0/conf/json-tilematrixset',
  'http://www.opengis.net/spec/tms/2.0/conf/json-tilematrixsetlimits',
  'http://www.opengis.net/spec/tms/2.0/conf/json-tilesetmetadata',
  ...FEATURES_CONFORMANCE,
  ...STYLES_CONFORMANCE,
]

export function landingPage(addresses: Addresses): object {
  const to = linksTo(addresses)
  return {
    title: 'Map asset gateway',
    description:
      'Basemaps, vectors and styles that the token may read, as OGC API – Tiles, OGC API – Features and OGC API – Styles (a draft)',
    links: [
      to('self', OGC_PATH),
      to('service-desc', '/api/v1/openapi.json', OPENAPI_TYPE),
      to('service-desc', `${OGC_PATH}/api`, OPENAPI_30_TYPE),
      to('service-doc', '/docs/reference/api.html', 'text/html'),
      to(`${REL}/conformance`, `${OGC_PATH}/conformance`),
      to('conformance', `${OGC_PATH}/conformance`),
      to(`${REL}/data`, `${OGC_PATH}/collections`),
      to('data', `${OGC_PATH}/collections`),
      to(`${REL}/tiling-schemes`, `${OGC_PATH}/tileMatrixSets`),
      to(STYLES_REL, STYLES_PATH),
    ],
  }
}

export function conformance(): object {
  return { conformsTo: CONFORMANCE, drafts: STYLES_CONFORMANCE }
}

/** Returns the document of all collections, in pieces. Both lists are sorted by code. */
export function collectionsPieces(
  layers: readonly Layer[],
  vectors: readonly CatalogVector[],
  addresses: Addresses,
): Iterable<string> {
  const frame = {
    links: [linksTo(addresses)('self', `${OGC_PATH}/collections`)],
    crs: FEATURES_CRS,
  }
  return jsonPieces(frame, 'collections', collectionItems(layers, vectors, addresses))
}

function* collectionItems(
  layers: readonly Layer[],
  vectors: readonly CatalogVector[],
  addresses: Addresses,
): Iterable<string> {
  let next = 0
  for (const layer of layers) {
    while (codeAt(vectors, next) < layer.code) yield vectorItem(vectors[next++] as CatalogVector, addresses)
    const isShared = codeAt(vectors, next) === layer.code
    if (layer.drawn?.kind === 'vector') {
      // Its collection is that of its features, also outside of the area of a token.
      if (isShared) yield drawnVectorItem(vectors[next++] as CatalogVector, addresses)
    } else if (isShared) yield JSON.stringify(sharedCollection(layer, vectors[next++] as CatalogVector, addresses))
    else yield collectionItem(layer, addresses)
  }
  while (next < vectors.length) yield vectorItem(vectors[next++] as CatalogVector, addresses)
}

/** Sorts after every code. */
const BEHIND_ALL = '\u{10ffff}'

function codeAt(vectors: readonly CatalogVector[], i: number): string {
  return vectors[i]?.stored.code ?? BEHIND_ALL
}

const vectorItem = remembered<string, CatalogVector>((vector, addresses) =>
  JSON.stringify(featureCollection(vector, addresses)),
)

const drawnVectorItem = remembered<string, CatalogVector>((vector, addresses) =>
  JSON.stringify(featureCollection(vector, addresses, true)),
)

/** Returns the collection of a basemap, or of the pictures of a style, and a vector with the same code. */
export function sharedCollection(
  layer: Layer,
  vector: CatalogVector,
  addresses: Addresses,
  quirks: GdalQuirks = NO_QUIRKS,
): object {
  const tiles = collection(layer, addresses, quirks)
  const features = featureCollection(vector, addresses)
  return {
    ...tiles,
    ...features,
    title: layer.title,
    crs: [...new Set([...features.crs, ...tiles.crs])],
    // Vector tiles of the basemap have the address that those of the vector would have.
    links: [
      ...features.links.filter(({ rel }) => dataTypeOf(layer) === 'map' || rel !== `${REL}/tilesets-vector`),
      ...tiles.links.filter(({ rel }) => rel !== 'self'),
    ],
  }
}

const collectionItem = remembered((layer, addresses) => JSON.stringify(collection(layer, addresses)))

export function collection(layer: Layer, addresses: Addresses, quirks: GdalQuirks = NO_QUIRKS) {
  const to = linksTo(addresses)
  return {
    id: layer.code,
    title: layer.title,
    ...(layer.description === null ? {} : { description: layer.description }),
    ...(layer.attribution === null ? {} : { attribution: layer.attribution }),
    dataType: dataTypeOf(layer),
    crs: [layer.set.uri],
    extent: { spatial: extentOf(layer, quirks) },
    links: [to('self', collectionPath(layer)), to(`${REL}/tilesets-${dataTypeOf(layer)}`, tilesetsPath(layer))],
  }
}

export function tilesets(layer: Layer, addresses: Addresses): object {
  return {
    links: [linksTo(addresses)('self', tilesetsPath(layer))],
    tilesets: [
      {
        title: layer.title,
        dataType: dataTypeOf(layer),
        crs: layer.set.uri,
        ...tileMatrixSetReference(layer),
        tileMatrixSetLimits: limitsOf(layer),
        links: tilesetLinks(layer, addresses),
      },
    ],
  }
}

export function tileset(layer: Layer, addresses: Addresses, quirks: GdalQuirks = NO_QUIRKS): object {
  return {
    title: layer.title,
    ...(layer.description === null ? {} : { description: layer.description }),
    ...(layer.attribution === null ? {} : { attribution: layer.attribution }),
    dataType: dataTypeOf(layer),
    crs: layer.set.uri,
    ...tileMatrixSetReference(layer),
    tileMatrixSetLimits: quirks.ownUnits ? limitsOf({ ...layer, ...readableByGdal(layer) }) : limitsOf(layer),
    boundingBox: boundingBox(layer),
    mediaTypes: (layer.formats ?? [layer.format]).map((format) => CONTENT_TYPES[format]),
    // The standard's schema requires at least one item, so images and sets without names have no such list.
    ...(layer.vectorLayers === null || layer.vectorLayers.length === 0
      ? {}
      : { layers: layer.vectorLayers.map(({ id }) => ({ id, dataType: 'vector' })) }),
    links: tilesetLinks(layer, addresses, quirks),
  }
}

function extentOf(layer: Layer, { ownUnits }: GdalQuirks): object {
  if (ownUnits) return { bbox: [inUnitsOf(layer.set, boundsWithinGrid(layer))], crs: layer.set.uri }
  // A box that crosses the antimeridian has west above east (OGC API - Common, as RFC 7946, 5.2).
  return { bbox: [layer.bounds ?? layer.set.world], crs: CRS84 }
}

/** Returns the box in the system of the tiles and the order of its axes. */
function boundingBox(layer: Layer): object {
  const [west, south, east, north] = inUnitsOf(layer.set, boundsWithinGrid(layer))
  const inOrder = (x: number, y: number) => (isNorthFirst(layer.set) ? [y, x] : [x, y])
  return {
    lowerLeft: inOrder(west, south),
    upperRight: inOrder(east, north),
    crs: layer.set.uri,
    orderedAxes: orderedAxes(layer.set),
  }
}

/** Returns the whole matrices beginning with the first one that has pixels for the extent: GDAL opens no set with an empty overview. */
function readableByGdal(layer: Layer): Pick<Layer, 'minZoom' | 'bounds'> {
  const [west, south, east, north] = inUnitsOf(layer.set, boundsWithinGrid(layer))
  const units = Math.min(east - west, north - south)
  const cellSize = (zoom: number) => matrixAt(layer.set, zoom, tilePixels(layer))?.cellSize ?? units
  // Two, because its corners are rounded.
  const first = zoomsOf(layer).find((zoom) => units / cellSize(zoom) >= 2) ?? layer.maxZoom
  return { minZoom: first, bounds: null }
}

export function tileMatrixSets(layers: readonly Layer[], addresses: Addresses): object {
  const to = linksTo(addresses)
  return {
    tileMatrixSets: [...setsOf(layers)].map(([id, sized]) => ({
      id,
      title: titleOf(sized),
      ...registeredUri(sized),
      links: [to('self', `${OGC_PATH}/tileMatrixSets/${id}`)],
    })),
  }
}

/** Returns a definition by the standard's second version, with the keys of its first. */
export function tileMatrixSet(id: string, sized: SizedSet): object {
  const { set, pixels } = sized
  // The order of axes is that of the system: easting first but for EPSG:4490 and Gauss-Kruger. The first version names the system by its URN.
  const origin = isNorthFirst(set) ? set.topLeft : [set.extent[0], set.extent[3]]
  const all = Array.from({ length: MAX_ZOOM + 1 }, (_, zoom) => matrixAt(set, zoom, pixels) ?? [])
  const matrices = all.flat().map(({ scaleDenominator, cellSize, columns, rows }, zoom) => ({
    id: String(zoom),
    identifier: String(zoom),
    scaleDenominator,
    cellSize,
    cornerOfOrigin: 'topLeft',
    pointOfOrigin: origin,
    topLeftCorner: origin,
    tileWidth: pixels,
    tileHeight: pixels,
    matrixWidth: columns,
    matrixHeight: rows,
  }))
  return {
    // GDAL 3.6 recognises a definition by this.
    type: 'TileMatrixSetType',
    id,
    identifier: id,
    title: titleOf(sized),
    ...registeredUri(sized),
    crs: set.uri,
    supportedCRS: set.uri,
    orderedAxes: orderedAxes(set),
    ...(set.wellKnownScaleSet === null || pixels !== 256
      ? {}
      : {
          wellKnownScaleSet: set.wellKnownScaleSet.replace(
            'urn:ogc:def:wkss:OGC:1.0:',
            'http://www.opengis.net/def/wkss/OGC/1.0/',
          ),
        }),
    tileMatrices: matrices,
    tileMatrix: matrices,
  }
}

function isNorthFirst(set: TileMatrixSet): boolean {
  return set.id === 'CGCS2000Quad' || set.own !== null
}

function orderedAxes(set: TileMatrixSet): readonly string[] {
  // EPSG names the northing X and the easting Y.
  if (set.id === 'WebMercatorQuad' || set.own !== null) return ['X', 'Y']
  return isNorthFirst(set) ? ['Lat', 'Lon'] : ['Lon', 'Lat']
}

function tilesetLinks(layer: Layer, addresses: Addresses, quirks: GdalQuirks = NO_QUIRKS): Link[] {
  const to = linksTo(addresses)
  const template = tileTemplate(addresses, layer, ['{tileMatrix}', '{tileCol}', '{tileRow}'])
  const tiles = (type: string): Link => ({
    rel: 'item',
    href: quirks.missingFails ? `${template}&missing=204` : template,
    type,
    templated: true,
  })
  return [
    to('self', `${tilesetsPath(layer)}/${sizedSetId(layer)}`),
    to(`${REL}/tiling-scheme`, `${OGC_PATH}/tileMatrixSets/${sizedSetId(layer)}`),
    to(`${REL}/geodata`, collectionPath(layer)),
    to('describedby', tileJsonPath(layer), 'application/vnd.mapbox.tilejson+json'),
    tiles(CONTENT_TYPES[layer.format]),
    ...(layer.format === 'webp' && quirks.onlyPngAndJpeg ? [tiles('image/png')] : []),
  ]
}

function limitsOf(layer: Layer): object[] {
  return zoomsOf(layer).map((zoom) => {
    const { minRow, maxRow, minColumn, maxColumn } = tileMatrixLimits(layer.set, zoom, layer.bounds)
    return {
      tileMatrix: String(zoom),
      minTileRow: minRow,
      maxTileRow: maxRow,
      minTileCol: minColumn,
      maxTileCol: maxColumn,
    }
  })
}

function tileMatrixSetReference(layer: Layer): object {
  const { uri } = registeredUri({ set: layer.set, pixels: tilePixels(layer) })
  return { tileMatrixSetId: sizedSetId(layer), ...(uri === undefined ? {} : { tileMatrixSetURI: uri }) }
}

/** Only sets with tiles of 256 pixels are registered. */
function registeredUri({ set, pixels }: SizedSet): { uri?: string } {
  return set.registered === null || pixels !== 256 ? {} : { uri: set.registered }
}

function titleOf({ set, pixels }: SizedSet): string {
  return pixels === 256 || set.own !== null ? set.title : `${set.title}, tiles of ${pixels} pixels`
}

function dataTypeOf({ format }: Layer): 'map' | 'vector' {
  return isVectorFormat(format) ? 'vector' : 'map'
}

function collectionPath({ code }: Layer): string {
  return `${OGC_PATH}/collections/${encodeURIComponent(code)}`
}

/** Images are below `map`, vector tiles are not (OGC 20-057, 9 and 10). */
function tilesetsPath(layer: Layer): string {
  return `${collectionPath(layer)}${dataTypeOf(layer) === 'map' ? '/map' : ''}/tiles`
}

function linksTo(addresses: Addresses) {
  return (rel: string, path: string, type = JSON_TYPE): Link => ({ rel, href: addressOf(addresses, path), type })
}
