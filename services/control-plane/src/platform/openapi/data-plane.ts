import { VECTOR_DOWNLOADS, type VectorKind } from '@gateway/contracts/vector.js'
import type { PathItem, Paths } from './document.js'
import { STYLE_PATHS } from './style-paths.js'
import { AT, headers } from './tile-json.js'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: { readonly type: 'string' | 'integer'; readonly enum?: readonly string[] }
}

const path = (name: string, description: string, type: 'string' | 'integer' = 'string'): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type },
})

const CODE = path('code', 'code of the basemap or vector')
const VERSION = path('version', 'a version of the basemap, or `current` for its default version')
const ADDRESS = [
  path('z', 'zoom', 'integer'),
  path('x', 'column', 'integer'),
  path('y', 'row, 0 in the north', 'integer'),
  path('ext', "the version's format: png, jpg (or jpeg), webp, avif, pbf (or mvt); another one returns 404"),
]
const RELATIVE_PATH = path(
  'relative_path',
  'path below the scan source, as the catalog lists it; its slashes are not encoded',
)

const query = (name: string, description: string, schema: Parameter['schema']): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
})
const MISSING = query('missing', 'how a missing tile is answered; otherwise 404', { type: 'string', enum: ['204'] })
const REVISION = query('v', 'the revision of the version; ignored, and gives caches a separate address', {
  type: 'string',
})

const CACHED =
  'Answers GET and HEAD with `ETag` and `Last-Modified`; `If-None-Match` is answered 304, an `If-Match` or `If-Unmodified-Since` that does not hold 412. CORS is open to any origin, preflight included.'
const TILE_WORDS =
  `${CACHED} \`Cache-Control: public, max-age=31536000, immutable\` unless the \`cache_policy\` of the basemap, TILE_CACHE_CONTROL or, for \`current\` and the ` +
  'route without a version, CURRENT_CACHE_CONTROL says otherwise; `Vary: Authorization, X-Access-Token`, and `Accept-Encoding` where the body varies by it. ' +
  'With `missing=204` in the query a missing tile is 204 instead of 404. `{y}@2x.{ext}` is the file of that name in a folder of tiles. ' +
  'Parameters of the query other than these, `at` and the token are ignored: `v`, the revision of the version, gives caches a separate address. ' +
  'So does a token in the query, and a shared cache answers that address to everyone who knows it. Gzip-compressed vector tiles are sent as stored with ' +
  '`Content-Encoding: gzip`, and plain to clients that do not accept it. A missing tile returns 404 with `Cache-Control: no-store`, and the message says what is missing: the basemap, its version, the extension, the zoom, or the column or row; within the bounds and zooms of its ' +
  'version it may be kept for MISSING_TILE_TTL, if that is set. `Cache-Tag` and `Surrogate-Key` name the basemap and the version.'
const DOWNLOAD_WORDS = `${CACHED} \`Content-Disposition\` names the file; byte ranges are answered 206, impossible ones 416.`

const FORM_CRS = query(
  'crs',
  'the CRS of the download, as the collection of the vector lists it. The stored form without `crs` is sent as it is stored; other forms are made once for each content, ' +
    'in CRS84 unless this names another, and kept within DERIVED_BYTES',
  { type: 'string' },
)

const GEOJSON_TYPE = 'application/geo+json'
const GEOJSON = { type: 'object', description: 'GeoJSON (RFC 7946)', additionalProperties: true } as const
const BYTES = { type: 'string', format: 'binary' } as const
const binary = (...types: string[]) => ({
  description: 'the bytes',
  content: Object.fromEntries(types.map((type) => [type, { schema: type === GEOJSON_TYPE ? GEOJSON : BYTES }])),
})
const TILE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'application/x-protobuf']
const VALIDATORS = headers('ETag', 'Last-Modified')
const TILE_HEADERS = { ...VALIDATORS, ...headers('Cache-Control', 'Vary') }
const TAG_HEADERS = headers('Cache-Tag', 'Surrogate-Key')
const CONDITION_FAILED = { $ref: '#/components/responses/Error412' } as const
const TILE_RESPONSES = {
  200: { ...binary(...TILE_TYPES), headers: { ...TILE_HEADERS, ...TAG_HEADERS, ...headers('Content-Encoding') } },
  204: { description: 'No such tile, with `missing=204`' },
  304: { description: 'Not modified', headers: TILE_HEADERS },
  412: CONDITION_FAILED,
}

function tile(operationId: string, summary: string, parameters: Parameter[]): PathItem {
  const responses = structuredClone(TILE_RESPONSES)
  return {
    get: { operationId, summary, description: TILE_WORDS, parameters: [...parameters, MISSING, REVISION], responses },
  }
}

/** Describes a tile of a vector. Access is decided as for its download. */
function vectorTile(operationId: string, summary: string, parameters: Parameter[]): PathItem {
  const { get } = tile(operationId, summary, parameters) as { get: Record<string, unknown> }
  return { get: { ...get, parameters: [...parameters, REVISION] } } as PathItem
}

function download(operationId: string, summary: string, parameters: Parameter[], ...types: string[]): PathItem {
  const sent = { ...VALIDATORS, ...headers('Content-Disposition', 'Accept-Ranges') }
  const responses = {
    200: { ...binary(...types), headers: sent },
    206: { description: 'the requested range', headers: { ...sent, ...headers('Content-Range') } },
    304: { description: 'Not modified', headers: VALIDATORS },
    412: CONDITION_FAILED,
    416: { $ref: '#/components/responses/Error416' },
  }
  return { get: { operationId, summary, description: DOWNLOAD_WORDS, parameters, responses } }
}

/** Describes a download under a name with the extension of its kind. */
function downloadAs(kind: VectorKind, name: string, what: string): PathItem {
  const summary = `Download ${what} under a name that ends so`
  return download(`downloadVectorAs${name}`, summary, [CODE], VECTOR_DOWNLOADS[kind].type)
}

function tileJson(operationId: string, summary: string, parameters: Parameter[]): PathItem {
  const description =
    'TileJSON 3.0.0. The tile addresses name the version, also where the default one was asked for, and its revision: ' +
    '`/tiles/{code}/{version}/{z}/{x}/{y}.{ext}?v={revision}`. Where the service token came in the query, they carry it too; so do those of a ' +
    'signed address, whose `bounds` are those of the document. `Cache-Control: no-store`.'
  const schema = { $ref: '#/components/schemas/TileJson' }
  const responses = {
    200: {
      description: 'TileJSON',
      headers: headers('Cache-Control', 'Vary', 'Content-Encoding'),
      content: { 'application/json': { schema } },
    },
  }
  return { get: { operationId, summary, description, parameters, responses } }
}

const XML = 'application/xml'
const JSON_TYPE = 'application/json'
const LAYERS =
  'Of the basemaps that the token may read, by code. Where the service token came in the query, every address in the answer carries it. ' +
  '`Cache-Control: no-store`; CORS is open to any origin.'

function document(operationId: string, summary: string, type: string, parameters: Parameter[] = []): PathItem {
  const content = { [type]: { schema: { type: type.endsWith('json') ? 'object' : 'string' } } }
  const responses = { 200: { description: 'the document', content } }
  return { get: { operationId, summary, description: LAYERS, parameters, responses } }
}

const COLLECTION = path('code', 'code of a basemap')
const SET = path(
  'tileMatrixSetId',
  'WebMercatorQuad, WorldCRS84Quad, CGCS2000Quad, or a grid in a zone of Gauss-Kruger, `EPSG4547_1a2b3c4d` say',
)
const OGC_TILE = [
  path('tileMatrix', 'zoom', 'integer'),
  path('tileRow', 'row, 0 in the north', 'integer'),
  path('tileCol', 'column', 'integer'),
]

const WMTS_PARAMETERS = [
  query('service', '', { type: 'string', enum: ['WMTS'] }),
  query('request', '', { type: 'string', enum: ['GetCapabilities', 'GetTile'] }),
  query('only', 'for GetCapabilities: lists only this layer, in a grid of its depth', { type: 'string' }),
  query('layer', 'of GetTile: code of a basemap', { type: 'string' }),
  query('tilematrixset', 'of GetTile', { type: 'string' }),
  query('tilematrix', 'of GetTile: zoom', { type: 'string' }),
  query('tilerow', 'of GetTile: row, 0 in the north', { type: 'integer' }),
  query('tilecol', 'of GetTile: column', { type: 'integer' }),
  query('format', 'of GetTile: the media type of the layer', { type: 'string' }),
  query('time', 'of GetTile: as `at` of other addresses; capabilities list the times at which the default changed', {
    type: 'string',
  }),
]

const ESRI_FORM = query('f', 'how JSON is written: on one line, or on many (`pjson`, `html`)', {
  type: 'string',
  enum: ['json', 'pjson', 'html'],
})
const LEVEL = [
  path('level', 'zoom', 'integer'),
  path('row', 'row, 0 in the north', 'integer'),
  path('column', 'column', 'integer'),
]
const ESRI_WORDS =
  ' Fixed words of the address are read in any case. Errors are `{"error": {"code", "message", "details"}}`; `code` is the status, but 499 for a request without a token and 498 for a token that is not valid (both 401).'

function esri(operationId: string, summary: string, parameters: Parameter[] = []): PathItem {
  const { get } = document(operationId, summary, JSON_TYPE, [...parameters, ESRI_FORM]) as { get: PathItem }
  return { get: { ...get, description: LAYERS + ESRI_WORDS } } as PathItem
}

const SERVICE = '/arcgis/rest/services/{code}'

/** Paths of ArcGIS REST, limited to tiles. */
const ESRI_PATHS: Paths = {
  '/arcgis/rest/info': esri('getArcgisInfo', 'ArcGIS REST: what this server is'),
  '/arcgis/rest/services': esri(
    'listArcgisServices',
    'ArcGIS REST: basemaps, vectors and styles as map services and vector tile services',
  ),
  [`${SERVICE}/MapServer`]: esri('getMapServer', 'ArcGIS REST: a basemap of images as a cached map service', [
    COLLECTION,
  ]),
  [`${SERVICE}/MapServer/tile/{level}/{row}/{column}`]: tile('getMapServerTile', 'ArcGIS REST: a tile of it', [
    COLLECTION,
    ...LEVEL,
  ]),
  [`${SERVICE}/MapServer/tilemap/{level}/{row}/{column}/{width}/{height}`]: esri(
    'getMapServerTilemap',
    'ArcGIS REST: which tiles of an area exist; `data` has 1 or 0 for each, row by row, for at most 32 rows and columns (`adjusted` then)',
    [COLLECTION, ...LEVEL, path('width', 'columns', 'integer'), path('height', 'rows', 'integer')],
  ),
  [`${SERVICE}/VectorTileServer`]: esri(
    'getVectorTileServer',
    'ArcGIS REST: a basemap of vector tiles, a vector with tiles, or a style',
    [COLLECTION],
  ),
  [`${SERVICE}/VectorTileServer/tile/{z}/{y}/{x}.pbf`]: tile('getVectorTileServerTile', 'ArcGIS REST: a tile of it', [
    COLLECTION,
    ...ADDRESS.filter(({ name }) => name !== 'ext'),
  ]),
  [`${SERVICE}/VectorTileServer/resources/styles/root.json`]: esri(
    'getVectorTileServerStyle',
    'ArcGIS REST: a plain style that draws all of it, or the style itself',
    [COLLECTION],
  ),
}

/** Services of the OGC and OSGeo standards. */
const JSON_SCHEMA_TYPE = 'application/schema+json'
const FEATURES_PATHS: Paths = {
  '/ogc/api': document(
    'getOgcApi',
    'What OGC API – Features offers, as OpenAPI 3.0',
    'application/vnd.oai.openapi+json;version=3.0',
  ),
  '/ogc/collections/{code}/items': features(
    'listFeatures',
    'Features of a vector',
    'Each page has `limit` features, and `links` (of CSV and FlatGeobuf the header `Link`) names the next one by `cursor`. Pages neither repeat nor skip features while the content is ' +
      'unchanged; a cursor of replaced content returns 410. A page ends early at 64 MB, between two features. A query may take 10 s, otherwise 503. `numberMatched` is there only if ' +
      'counting is cheap. Every property of `queryables` is a parameter too, which compares for equality; other parameters return 400. `Content-Crs` names the CRS. While the index of ' +
      'the vector is being made the answer is 503; if it cannot be made, 404 with the reason.',
    [
      CODE,
      query('limit', 'features of a page, 100 by default and 10,000 at most', { type: 'integer' }),
      query('offset', 'features that are passed over', { type: 'integer' }),
      query('cursor', 'of a `next` link', { type: 'string' }),
      query('bbox', 'four or six numbers, in the order of `bbox-crs`', { type: 'string' }),
      query('bbox-crs', 'CRS84 by default', { type: 'string' }),
      query('crs', 'the CRS of the answer, by its URI; CRS84 by default', { type: 'string' }),
      query('datetime', 'an instant or an interval, if a property is a date', { type: 'string' }),
      query('filter', 'CQL2: Basic CQL2, LIKE, BETWEEN, IN, CASEI, S_INTERSECTS with `geometry`', { type: 'string' }),
      query('filter-lang', 'by default as the filter looks', { type: 'string', enum: ['cql2-text', 'cql2-json'] }),
      query('filter-crs', 'CRS84 by default', { type: 'string' }),
      query('properties', 'names of properties, by commas', { type: 'string' }),
      query('sortby', 'names of properties, by commas; `-` in front is descending', { type: 'string' }),
      query('f', 'the format; `Accept` otherwise', { type: 'string', enum: ['geojson', 'csv', 'fgb'] }),
    ],
  ),
  '/ogc/collections/{code}/items/{id}': features(
    'getFeature',
    'A feature of a vector',
    'By the id that its source gives it, or else its number.',
    [
      CODE,
      path('id', 'id of the feature'),
      query('crs', 'the CRS of the answer, by its URI; CRS84 by default', { type: 'string' }),
      query('properties', 'names of properties, by commas', { type: 'string' }),
    ],
  ),
  '/ogc/collections/{code}/queryables': document(
    'getQueryables',
    'What filters may name, as JSON Schema',
    JSON_SCHEMA_TYPE,
    [CODE],
  ),
  '/ogc/collections/{code}/schema': document(
    'getFeatureSchema',
    'What features consist of, as JSON Schema',
    JSON_SCHEMA_TYPE,
    [CODE],
  ),
}

function features(operationId: string, summary: string, description: string, parameters: Parameter[]): PathItem {
  const content = { [GEOJSON_TYPE]: { schema: GEOJSON } }
  return {
    get: { operationId, summary, description, parameters, responses: { 200: { description: summary, content } } },
  }
}

const STANDARD_PATHS: Paths = {
  '/wmts': {
    get: {
      operationId: 'callWmts',
      summary: 'WMTS 1.0.0 by key and value: GetCapabilities and GetTile',
      description: `${LAYERS} Names of parameters in any case. 400 and 404 are OWS exception reports. Capabilities name the tile route for tiles.`,
      parameters: WMTS_PARAMETERS,
      responses: { 200: binary(XML, ...TILE_TYPES) },
    },
  },
  '/wmts/1.0.0/WMTSCapabilities.xml': document('getWmtsCapabilities', 'Capabilities of the WMTS', XML),
  '/tianditu/{code}_{set}/wmts': {
    get: {
      operationId: 'callTianditu',
      summary: "A basemap of images by Tianditu's requests: GetTile and GetCapabilities",
      description:
        'WMTS by key and value, as Tianditu has it; names of parameters in any case. Matrices are `1` to `18`: `n` is zoom `n` in `w`, and zoom `n - 1` in `c`, whose first matrix has two ' +
        'tiles. A set in WorldCRS84Quad is served as `c`, too. 400 and 404 are OWS exception reports. `tk` carries a token on these paths only.',
      parameters: [
        COLLECTION,
        {
          ...path('set', '`w`: Web Mercator; `c`: longitude and latitude, CGCS2000'),
          schema: { type: 'string', enum: ['w', 'c'] },
        },
        query('tk', 'a service token', { type: 'string' }),
        ...WMTS_PARAMETERS.filter(({ name }) => name !== 'only' && name !== 'format'),
        query('format', 'of GetTile', { type: 'string', enum: ['tiles'] }),
      ],
      responses: { 200: binary(XML, ...TILE_TYPES) },
    },
  },
  '/ogc': document('getOgcLandingPage', 'Landing page of OGC API – Tiles and OGC API – Features', JSON_TYPE),
  ...FEATURES_PATHS,
  '/ogc/conformance': document('getOgcConformance', 'Conformance classes', JSON_TYPE),
  '/ogc/collections': document(
    'listCollections',
    'Basemaps and vectors as collections; those of one code are one',
    JSON_TYPE,
  ),
  '/ogc/collections/{code}': document('getCollection', 'A basemap or a vector as a collection, or both', JSON_TYPE, [
    COLLECTION,
  ]),
  '/ogc/collections/{code}/map/tiles': document('listMapTilesets', 'The tileset of a basemap of images', JSON_TYPE, [
    COLLECTION,
  ]),
  '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}': document(
    'getMapTileset',
    'Metadata of that tileset',
    JSON_TYPE,
    [COLLECTION, SET],
  ),
  '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}': tile(
    'getMapTile',
    'A tile of that tileset',
    [COLLECTION, SET, ...OGC_TILE],
  ),
  '/ogc/collections/{code}/tiles': document(
    'listVectorTilesets',
    'The tileset of a basemap of vector tiles',
    JSON_TYPE,
    [COLLECTION],
  ),
  '/ogc/collections/{code}/tiles/{tileMatrixSetId}': document(
    'getVectorTileset',
    'Metadata of that tileset',
    JSON_TYPE,
    [COLLECTION, SET],
  ),
  '/ogc/collections/{code}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}': tile(
    'getVectorTile',
    'A vector tile of that tileset',
    [COLLECTION, SET, ...OGC_TILE],
  ),
  '/ogc/tileMatrixSets': document('listTileMatrixSets', 'The tile matrix sets', JSON_TYPE),
  '/ogc/tileMatrixSets/{tileMatrixSetId}': document('getTileMatrixSet', 'Definition of a tile matrix set', JSON_TYPE, [
    SET,
  ]),
  '/tms/1.0.0': document('listTileMaps', 'TMS 1.0.0: the list of tile maps', XML),
  '/tms/1.0.0/{code}': document('getTileMap', 'TMS 1.0.0: one tile map', XML, [
    COLLECTION,
    query('tile', '`/{z}/{x}/{y}.{ext}`: that tile, for clients that append it to an address which ends in a token', {
      type: 'string',
    }),
  ]),
  '/tms/1.0.0/{code}/{z}/{x}/{y}.{ext}': tile(
    'getTmsTile',
    'A tile of the default version, rows counted from the south',
    [COLLECTION, ...ADDRESS.filter(({ name }) => name !== 'y'), path('y', 'row, 0 in the south', 'integer')],
  ),
}

const ORIGINAL: Parameter = {
  name: 'X-Original-URI',
  in: 'header',
  required: true,
  description:
    'the address that somebody asks the proxy for, path and query, as nginx has it in $request_uri; Traefik and Envoy send `X-Forwarded-Uri` instead. ' +
    'Where both come they must be equal',
  schema: { type: 'string' },
}

/** Paths of the edge, which has no schemas to generate them from. All of them need the scope `read`. */
export const DATA_PLANE_PATHS: Paths = {
  '/tiles/{code}/{version}/{z}/{x}/{y}.{ext}': tile('getVersionTile', 'A tile of a version', [
    CODE,
    VERSION,
    ...ADDRESS,
    AT,
  ]),
  '/tiles/{code}/{z}/{x}/{y}.{ext}': tile('getTile', 'A tile of the default version', [CODE, ...ADDRESS, AT]),
  '/tiles/{code}/tilejson.json': tileJson('getTileJson', 'TileJSON of the default version', [CODE, AT]),
  '/tiles/{code}/{version}/tilejson.json': tileJson('getVersionTileJson', 'TileJSON of a version', [CODE, VERSION]),
  '/vectors/{code}/tiles/{z}/{x}/{y}.mvt': vectorTile(
    'getTileOfVector',
    'A vector tile of a vector; `.pbf` is equivalent. 204: the tile is empty; 404: it lies outside the zoom range or the grid; 503: the first tiles are being built',
    [CODE, ...ADDRESS.filter(({ name }) => name !== 'ext')],
  ),
  '/vectors/{code}/tilejson.json': tileJson('getTileJsonOfVector', 'TileJSON of the vector tiles of a vector', [CODE]),
  '/vectors/{code}/download': download(
    'downloadVector',
    'Download a vector; a shapefile comes as a zip, every other kind as it is',
    [CODE],
    ...Object.values(VECTOR_DOWNLOADS).map(({ type }) => type),
  ),
  '/vectors/{code}.geojson': download(
    'downloadVectorAsGeoJson',
    'Download a vector as GeoJSON',
    [CODE, FORM_CRS],
    'application/geo+json',
  ),
  '/vectors/{code}.zip': download(
    'downloadVectorAsZip',
    'Download a vector as a zipped shapefile',
    [CODE, FORM_CRS],
    'application/zip',
  ),
  '/vectors/{code}.gpkg': download(
    'downloadVectorAsGeoPackage',
    'Download a vector as a GeoPackage',
    [CODE, FORM_CRS],
    VECTOR_DOWNLOADS.geopackage.type,
  ),
  '/vectors/{code}.fgb': download(
    'downloadVectorAsFlatGeobuf',
    'Download a vector as FlatGeobuf',
    [CODE, FORM_CRS],
    VECTOR_DOWNLOADS.flatgeobuf.type,
  ),
  '/vectors/{code}.geojsonl': downloadAs('geojson_sequence', 'GeoJsonSequence', 'a GeoJSON sequence'),
  '/vectors/{code}.kml': downloadAs('kml', 'Kml', 'KML'),
  '/vectors/{code}.kmz': downloadAs('kmz', 'Kmz', 'KMZ'),
  '/vectors/{code}.gml': downloadAs('gml', 'Gml', 'GML'),
  '/vectors/{code}.csv': download(
    'downloadVectorAsCsv',
    'Download a vector as CSV',
    [CODE, FORM_CRS],
    VECTOR_DOWNLOADS.csv.type,
  ),
  '/archives/{code}/{version}.pmtiles': download(
    'downloadPmtiles',
    'A version that is a PMTiles archive, whole or in ranges',
    [CODE, VERSION],
    'application/vnd.pmtiles',
  ),
  '/archives/{code}/{version}.mbtiles': download(
    'downloadMbtiles',
    'A version that is an MBTiles archive, whole or in ranges',
    [CODE, VERSION],
    'application/vnd.sqlite3',
  ),
  ...STANDARD_PATHS,
  ...STYLE_PATHS,
  ...ESRI_PATHS,
  '/api/v1/forward-auth': {
    get: {
      operationId: 'forwardAuth',
      summary:
        'Whether a proxy may answer somebody, for nginx `auth_request`, Traefik `ForwardAuth` and Envoy `ext_authz`',
      description:
        'Decides as the edge would on a GET of the address in the header, by the token or the signature in it or the token in the headers of this request: ' +
        '200 to let in, 401 or 403 as the edge would refuse. A granted address without content returns 200, and the edge reports it. An address outside the ' +
        'read interface returns 403, and so does one that proxies may take for another (dots, empty segments, an encoded slash). 400 if no address is named, or two. ' +
        'Envoy puts the address behind the path instead: `/api/v1/forward-auth/tiles/world/...`.',
      parameters: [ORIGINAL],
      responses: { 200: { description: 'let in' } },
    },
  },
  '/geojson/{relative_path}': download(
    'downloadGeoJsonByPath',
    'GeoJSON by its relative path',
    [RELATIVE_PATH],
    'application/geo+json',
  ),
  '/shp/{relative_path}': download(
    'downloadShapefileByPath',
    'Shapefile by its relative path, as a zip',
    [RELATIVE_PATH],
    'application/zip',
  ),
}
