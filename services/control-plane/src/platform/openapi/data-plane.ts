import { VECTOR_DOWNLOADS, type VectorKind } from '@gateway/contracts/vector.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
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
const CODES = path(
  'code',
  'code of the vector, or up to 16 codes separated by commas: the layers of all of them, for tokens that may read all. 400: two layers have the same name',
)
const VERSION = path('version', 'a version of the basemap, or `current` for its default version')
const ADDRESS = [
  path('z', 'zoom', 'integer'),
  path('x', 'column', 'integer'),
  path('y', 'row, 0 in the north', 'integer'),
  path('ext', 'the format of the version: png, jpg (or jpeg), webp, avif, pbf (or mvt); another one returns 404'),
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
const MISSING = query('missing', 'status of a missing tile; default: 404', { type: 'string', enum: ['204'] })
const REVISION = query('v', 'the revision of the version; ignored, but gives caches a separate address', {
  type: 'string',
})

const CACHED =
  'Supports GET and HEAD and returns `ETag` and `Last-Modified`. A matching `If-None-Match` returns 304, and a false `If-Match` or ' +
  '`If-Unmodified-Since` returns 412. CORS is open to any origin, including preflight requests.'
const TILE_WORDS =
  `${CACHED} \`Cache-Control\` is \`public, max-age=31536000, immutable\`, unless the \`cache_policy\` of the basemap or TILE_CACHE_CONTROL says ` +
  'otherwise. For `current` and the route without a version, CURRENT_CACHE_CONTROL applies. `Vary` is `Authorization, X-Access-Token`, and has ' +
  '`Accept-Encoding` if the body depends on it. With `missing=204` in the query a missing tile returns 204 instead of 404. `{y}@2x.{ext}` is ' +
  'the file of that name in a folder of tiles. Query parameters other than these, `at` and the token are ignored: `v`, the revision of the ' +
  'version, gives caches a separate address. So does a token in the query, and a shared cache serves that address to everyone who knows it. ' +
  'Gzip-compressed vector tiles are sent as stored with `Content-Encoding: gzip`, and uncompressed to clients that do not accept gzip. A ' +
  'missing tile returns 404 with `Cache-Control: no-store`, and the message names the missing part: the basemap, its version, the extension, ' +
  'the zoom, or the column or row. Within the bounds and zooms of its version, caches may keep the 404 for MISSING_TILE_TTL, if that is set. ' +
  '`Cache-Tag` and `Surrogate-Key` name the basemap and the version.'
const DOWNLOAD_WORDS = `${CACHED} \`Content-Disposition\` names the file. A byte range returns 206, and an unsatisfiable one 416. \
For clients that look at the end of an address, \`/t/{token}\` in front of the path carries the token.`

const FORM_CRS = query(
  'crs',
  'the CRS of the download, as the collection of the vector lists it. Without `crs` the stored form is sent unchanged. Other forms are made ' +
    'once for each content, in CRS84 by default, and kept within DERIVED_BYTES',
  { type: 'string' },
)

const GEOJSON_TYPE = 'application/geo+json'
const GEOJSON = { type: 'object', description: 'GeoJSON (RFC 7946)', additionalProperties: true } as const
const BYTES = { type: 'string', format: 'binary' } as const
const binary = (...types: string[]) => ({
  description: 'the bytes',
  content: Object.fromEntries(types.map((type) => [type, { schema: type === GEOJSON_TYPE ? GEOJSON : BYTES }])),
})
const TILE_TYPES = Object.values(CONTENT_TYPES)
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
    206: { ...binary(...types), description: 'the requested range', headers: { ...sent, ...headers('Content-Range') } },
    304: { description: 'Not modified', headers: VALIDATORS },
    412: CONDITION_FAILED,
    416: { $ref: '#/components/responses/Error416' },
  }
  return { get: { operationId, summary, description: DOWNLOAD_WORDS, parameters, responses } }
}

/** Adds the limits of an output format to a download. */
function limitedDownload(limits: string, ...of: Parameters<typeof download>): PathItem {
  const item = download(...of)
  return { get: { ...item.get, description: `${DOWNLOAD_WORDS} ${limits}` } } as PathItem
}

/** Describes a download under a name with the extension of its kind. */
function downloadAs(kind: VectorKind, name: string, what: string): PathItem {
  const summary = `Download ${what} under a name with its extension`
  return download(`downloadVectorAs${name}`, summary, [CODE], VECTOR_DOWNLOADS[kind].type)
}

function tileJson(operationId: string, summary: string, parameters: Parameter[]): PathItem {
  const description =
    'TileJSON 3.0.0. The tile addresses name the version, even if the request asked for the default one, and its revision: ' +
    '`/tiles/{code}/{version}/{z}/{x}/{y}.{ext}?v={revision}`. If the request had its service token in the query, the tile addresses carry it ' +
    'too. The same holds for the signature of a signed URL, and the document then has its `bounds`. `Cache-Control: no-store`.'
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
  'Covers the basemaps and drawn styles that the token may read, ordered by code. If the request had its service token in the query, every address in the ' +
  'response carries it. `Cache-Control: no-store`; CORS is open to any origin.'

function document(operationId: string, summary: string, type: string, parameters: Parameter[] = []): PathItem {
  const content = { [type]: { schema: { type: /json(;|$)/.test(type) ? 'object' : 'string' } } }
  const responses = { 200: { description: 'the document', content } }
  return { get: { operationId, summary, description: LAYERS, parameters, responses } }
}

const COLLECTION = path('code', 'code of a basemap, or of a drawn style or vector')
const SET = path(
  'tileMatrixSetId',
  'WebMercatorQuad, WorldCRS84Quad, CGCS2000Quad, or a grid in a zone of Gauss-Kruger, for example `EPSG4547_1a2b3c4d`',
)
const OGC_TILE = [
  path('tileMatrix', 'zoom', 'integer'),
  path('tileRow', 'row, 0 in the north', 'integer'),
  path('tileCol', 'column', 'integer'),
]

const WMTS_PARAMETERS = [
  query('service', '', { type: 'string', enum: ['WMTS'] }),
  query('request', '', { type: 'string', enum: ['GetCapabilities', 'GetTile'] }),
  query('only', 'for GetCapabilities: lists only this layer, in a grid with the zooms of the layer', {
    type: 'string',
  }),
  query('sections', 'for GetCapabilities: the sections that the document has, with commas between them', {
    type: 'string',
  }),
  query('layer', 'for GetTile: code of a basemap', { type: 'string' }),
  query('style', 'for GetTile: `default`, or empty, as Leaflet.TileLayer.WMTS sends it', { type: 'string' }),
  query('tilematrixset', 'of GetTile', { type: 'string' }),
  query('tilematrix', 'for GetTile: zoom', { type: 'string' }),
  query('tilerow', 'for GetTile: row, 0 in the north', { type: 'integer' }),
  query('tilecol', 'for GetTile: column', { type: 'integer' }),
  query('format', 'for GetTile: the media type of the layer', { type: 'string' }),
  query(
    'time',
    'for GetTile: the same as `at` of other addresses; capabilities list the times at which the default changed',
    {
      type: 'string',
    },
  ),
]

const WMS_PARAMETERS = [
  query('service', '', { type: 'string', enum: ['WMS'] }),
  query('version', 'the order of the axes and some names depend on it', { type: 'string', enum: ['1.3.0', '1.1.1'] }),
  query('request', '', { type: 'string', enum: ['GetCapabilities', 'GetMap', 'GetFeatureInfo'] }),
  query('layers', 'codes with commas between them; the first is at the bottom', { type: 'string' }),
  query('styles', '`default` for each layer, or empty', { type: 'string' }),
  query('crs', 'the system of the picture; `srs` in 1.1.1, which has no `CRS:84`', {
    type: 'string',
    enum: ['EPSG:3857', 'EPSG:4326', 'EPSG:4490', 'CRS:84'],
  }),
  query('bbox', 'lower and upper corner; in 1.3.0, EPSG:4326 and EPSG:4490 have the latitude first', {
    type: 'string',
  }),
  query('width', 'pixels, at most 4096', { type: 'integer' }),
  query('height', 'pixels, at most 4096', { type: 'integer' }),
  query('format', 'of the picture', { type: 'string', enum: ['image/png', 'image/jpeg', 'image/webp'] }),
  query('transparent', 'for PNG and WebP; otherwise the background is opaque', {
    type: 'string',
    enum: ['TRUE', 'FALSE'],
  }),
  query('bgcolor', 'the background as `0xRRGGBB`; default: white', { type: 'string' }),
  query('time', 'the same as `at` of other addresses', { type: 'string' }),
  query('query_layers', 'for GetFeatureInfo: codes of vectors; `vector:{code}` if a basemap has the same', {
    type: 'string',
  }),
  query('info_format', 'for GetFeatureInfo', { type: 'string', enum: ['application/json', 'text/plain'] }),
  query('feature_count', 'for GetFeatureInfo: most features of each vector, up to 100; default: 1', {
    type: 'integer',
  }),
  query('i', 'for GetFeatureInfo: column of the pixel; `x` in 1.1.1', { type: 'integer' }),
  query('j', 'for GetFeatureInfo: row of the pixel; `y` in 1.1.1', { type: 'integer' }),
]

const ESRI_FORM = query('f', 'layout of the JSON: on one line, or on many (`pjson`, `html`)', {
  type: 'string',
  enum: ['json', 'pjson', 'html'],
})
const LEVEL = [
  path('level', 'zoom', 'integer'),
  path('row', 'row, 0 in the north', 'integer'),
  path('column', 'column', 'integer'),
]
const ESRI_WORDS =
  ' The fixed words of the address are case-insensitive. Errors are `{"error": {"code", "message", "details"}}`. `code` is the status, except ' +
  '499 for a request without a token and 498 for an invalid token (both 401).'

function esri(operationId: string, summary: string, parameters: Parameter[] = []): PathItem {
  const { get } = document(operationId, summary, JSON_TYPE, [...parameters, ESRI_FORM]) as { get: PathItem }
  return { get: { ...get, description: LAYERS + ESRI_WORDS } } as PathItem
}

const SERVICE = '/arcgis/rest/services/{code}'

/** Paths of ArcGIS REST, limited to tiles. */
const ESRI_PATHS: Paths = {
  '/arcgis/rest/info': esri('getArcgisInfo', 'ArcGIS REST: get the server information'),
  '/arcgis/rest/services': esri(
    'listArcgisServices',
    'ArcGIS REST: list basemaps, vectors and styles as map services and vector tile services',
  ),
  [`${SERVICE}/MapServer`]: esri(
    'getMapServer',
    'ArcGIS REST: get a basemap of images, or a drawn style or vector, as a cached map service',
    [COLLECTION],
  ),
  [`${SERVICE}/MapServer/tile/{level}/{row}/{column}`]: tile(
    'getMapServerTile',
    'ArcGIS REST: get a tile of the map service',
    [COLLECTION, ...LEVEL],
  ),
  [`${SERVICE}/MapServer/tilemap/{level}/{row}/{column}/{width}/{height}`]: esri(
    'getMapServerTilemap',
    'ArcGIS REST: list which tiles of an area exist; `data` has 1 or 0 for each, row by row, for at most 32 rows and columns (otherwise ' +
      '`adjusted`)',
    [COLLECTION, ...LEVEL, path('width', 'columns', 'integer'), path('height', 'rows', 'integer')],
  ),
  [`${SERVICE}/VectorTileServer`]: esri(
    'getVectorTileServer',
    'ArcGIS REST: get a basemap of vector tiles, a vector with tiles, or a style',
    [COLLECTION],
  ),
  [`${SERVICE}/VectorTileServer/tile/{z}/{y}/{x}.pbf`]: tile(
    'getVectorTileServerTile',
    'ArcGIS REST: get a tile of the vector tile service',
    [COLLECTION, ...ADDRESS.filter(({ name }) => name !== 'ext')],
  ),
  [`${SERVICE}/VectorTileServer/resources/styles/root.json`]: esri(
    'getVectorTileServerStyle',
    'ArcGIS REST: get the style, or a plain style that draws the whole service',
    [COLLECTION],
  ),
}

const GUARD = query(
  'guard',
  'for CSV: an apostrophe precedes each text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return, which a spreadsheet would execute; by ' +
    'default, the data are unchanged',
  { type: 'string', enum: ['formulas'] },
)

/** Services of the OGC and OSGeo standards. */
const JSON_SCHEMA_TYPE = 'application/schema+json'
const FEATURES_PATHS: Paths = {
  '/ogc/api': document(
    'getOgcApi',
    'Get the OpenAPI 3.0 definition of OGC API – Features',
    'application/vnd.oai.openapi+json;version=3.0',
  ),
  '/ogc/collections/{code}/items': features(
    'listFeatures',
    'List features of a vector',
    'Each page has `limit` features. `links` (for CSV and FlatGeobuf the header `Link`) names the next page by `cursor`. Pages neither repeat ' +
      'nor skip features while the content is unchanged; a cursor of replaced content returns 410. A page ends early at 64 MB, between two ' +
      'features. A query that takes more than 10 s returns 503. `numberMatched` is present only if counting is cheap. Every property of ' +
      '`queryables` is also a parameter, which compares for equality; other parameters return 400. `Content-Crs` names the CRS. While the index ' +
      'of the vector is being made, the request returns 503; if it cannot be made, 404 with the reason.',
    [
      CODE,
      query('limit', 'features of a page, 100 by default and 10,000 at most', { type: 'integer' }),
      query('offset', 'number of features to skip', { type: 'integer' }),
      query('cursor', 'the cursor of a `next` link', { type: 'string' }),
      query('bbox', 'four or six numbers, in the order of `bbox-crs`', { type: 'string' }),
      query('bbox-crs', 'CRS84 by default', { type: 'string' }),
      query('crs', 'the CRS of the response, by its URI; CRS84 by default', { type: 'string' }),
      query('datetime', 'an instant or an interval; features without a date are of every time', { type: 'string' }),
      query('filter', 'CQL2: Basic CQL2, LIKE, BETWEEN, IN, CASEI, ACCENTI, S_INTERSECTS with `geometry`', {
        type: 'string',
      }),
      query('filter-lang', 'the language of the filter; by default recognized from its text', {
        type: 'string',
        enum: ['cql2-text', 'cql2-json'],
      }),
      query('filter-crs', 'CRS84 by default', { type: 'string' }),
      query('properties', 'names of properties, separated by commas', { type: 'string' }),
      query('sortby', 'names of properties, separated by commas; `-` in front is descending', { type: 'string' }),
      query('f', 'the format; default: the format that `Accept` prefers', {
        type: 'string',
        enum: ['geojson', 'csv', 'fgb'],
      }),
      GUARD,
    ],
    [GEOJSON_TYPE, 'text/csv', 'application/flatgeobuf'],
  ),
  '/ogc/collections/{code}/items/{id}': features(
    'getFeature',
    'Get a feature of a vector',
    'By the id that its source gives it, or by its number if the source gives no id.',
    [
      CODE,
      path('id', 'id of the feature'),
      query('crs', 'the CRS of the response, by its URI; CRS84 by default', { type: 'string' }),
      query('properties', 'names of properties, separated by commas', { type: 'string' }),
    ],
  ),
  '/ogc/collections/{code}/queryables': document(
    'getQueryables',
    'Get the properties that filters may use, as JSON Schema',
    JSON_SCHEMA_TYPE,
    [CODE],
  ),
  '/ogc/collections/{code}/schema': document(
    'getFeatureSchema',
    'Get the properties of the features, as JSON Schema',
    JSON_SCHEMA_TYPE,
    [CODE],
  ),
}

function features(
  operationId: string,
  summary: string,
  description: string,
  parameters: Parameter[],
  types: readonly string[] = [GEOJSON_TYPE],
): PathItem {
  const { content } = binary(...types)
  return {
    get: { operationId, summary, description, parameters, responses: { 200: { description: summary, content } } },
  }
}

const STANDARD_PATHS: Paths = {
  '/wmts': {
    get: {
      operationId: 'callWmts',
      summary: 'Get WMTS 1.0.0 capabilities or a tile, by key and value',
      description: `${LAYERS} Parameter names are case-insensitive. 400 and 404 are OWS exception reports. Capabilities name the tile route for tiles.`,
      parameters: WMTS_PARAMETERS,
      responses: { 200: binary(XML, ...TILE_TYPES) },
    },
  },
  '/wmts/1.0.0/WMTSCapabilities.xml': document('getWmtsCapabilities', 'Get the capabilities of the WMTS', XML),
  '/wms': {
    get: {
      operationId: 'callWms',
      summary: 'Get WMS 1.3.0 or 1.1.1 capabilities, a picture of a map, or the features at a place',
      description:
        'Layers are the basemaps of images, and the drawn styles and vectors, that the token may read. GetFeatureInfo returns the features of vectors within 5 pixels. Parameter names ' +
        'are case-insensitive. A picture shows at most 1,024 tiles. 400 and 404 are service exception reports. A picture that ' +
        'finds no turn in 5 seconds returns 503.',
      parameters: WMS_PARAMETERS,
      responses: {
        200: binary(
          'text/xml',
          'application/vnd.ogc.wms_xml',
          'image/png',
          'image/jpeg',
          'image/webp',
          'application/json',
          'text/plain',
        ),
      },
    },
  },
  '/tianditu/{code}_{set}/wmts': {
    get: {
      operationId: 'callTianditu',
      summary: 'Get a tile or capabilities of a basemap of images, or of a drawn style, by the requests of Tianditu',
      description:
        'WMTS by key and value, as Tianditu has it; parameter names are case-insensitive. Matrices are `1` to `18`. Matrix `n` is zoom `n` in ' +
        '`w`, and zoom `n - 1` in `c`, whose first matrix has two tiles. A set in WorldCRS84Quad is also served as `c`. 400 and 404 are OWS ' +
        'exception reports. `tk` carries a token on these paths only.',
      parameters: [
        COLLECTION,
        {
          ...path('set', '`w`: Web Mercator; `c`: longitude and latitude, CGCS2000'),
          schema: { type: 'string', enum: ['w', 'c'] },
        },
        query('tk', 'a service token', { type: 'string' }),
        ...WMTS_PARAMETERS.filter(({ name }) => name !== 'only' && name !== 'format'),
        query(
          'format',
          'of GetTile: `tiles`, which is the default, or the type of an image; the tile has its own type',
          { type: 'string' },
        ),
      ],
      responses: { 200: binary(XML, ...TILE_TYPES) },
    },
  },
  '/tianditu/{code}_{set}/DataServer': {
    get: {
      operationId: 'getTiandituTile',
      summary: "Get a tile of a basemap of images by the older form of Tianditu's requests",
      description:
        'Parameter names are case-insensitive. `l` is the matrix of the same basemap at `.../wmts`. 400 and 404 are OWS exception reports. `tk` ' +
        'carries a token on these paths only.',
      parameters: [
        COLLECTION,
        {
          ...path('set', '`w`: Web Mercator; `c`: longitude and latitude, CGCS2000'),
          schema: { type: 'string', enum: ['w', 'c'] },
        },
        query('T', '`{code}_{set}`', { type: 'string' }),
        query('x', 'column', { type: 'integer' }),
        query('y', 'row, 0 in the north', { type: 'integer' }),
        query('l', 'matrix, `1` to `18`', { type: 'integer' }),
        query('tk', 'a service token', { type: 'string' }),
      ],
      responses: { 200: binary(...TILE_TYPES.filter((type) => type.startsWith('image/'))) },
    },
  },
  '/ogc': document('getOgcLandingPage', 'Get the landing page of OGC API – Tiles and OGC API – Features', JSON_TYPE),
  ...FEATURES_PATHS,
  '/ogc/conformance': document('getOgcConformance', 'Conformance classes', JSON_TYPE),
  '/ogc/collections': document(
    'listCollections',
    'List basemaps, vectors and drawn styles as collections; a basemap and a vector with the same code are one collection',
    JSON_TYPE,
  ),
  '/ogc/collections/{code}': document(
    'getCollection',
    'Get a basemap, a vector, or both, or a drawn style, as a collection',
    JSON_TYPE,
    [COLLECTION],
  ),
  '/ogc/collections/{code}/map/tiles': document(
    'listMapTilesets',
    'List the tileset of a basemap of images, or of a drawn style or vector',
    JSON_TYPE,
    [COLLECTION],
  ),
  '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}': document(
    'getMapTileset',
    'Get the metadata of that tileset',
    JSON_TYPE,
    [COLLECTION, SET],
  ),
  '/ogc/collections/{code}/map/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}': tile(
    'getMapTile',
    'Get a tile of that tileset',
    [COLLECTION, SET, ...OGC_TILE],
  ),
  '/ogc/collections/{code}/tiles': document(
    'listVectorTilesets',
    'List the tileset of a vector, or of a basemap of vector tiles',
    JSON_TYPE,
    [COLLECTION],
  ),
  '/ogc/collections/{code}/tiles/{tileMatrixSetId}': document(
    'getVectorTileset',
    'Get the metadata of that tileset',
    JSON_TYPE,
    [COLLECTION, SET],
  ),
  '/ogc/collections/{code}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}': tile(
    'getVectorTile',
    'Get a vector tile of that tileset',
    [COLLECTION, SET, ...OGC_TILE],
  ),
  '/ogc/tileMatrixSets': document('listTileMatrixSets', 'List the tile matrix sets', JSON_TYPE),
  '/ogc/tileMatrixSets/{tileMatrixSetId}': document(
    'getTileMatrixSet',
    'Get the definition of a tile matrix set',
    JSON_TYPE,
    [SET],
  ),
  '/tms/1.0.0': document('listTileMaps', 'TMS 1.0.0: list the tile maps', XML),
  '/tms/1.0.0/{code}': {
    get: {
      operationId: 'getTileMap',
      summary: 'TMS 1.0.0: get a tile map',
      description: LAYERS,
      parameters: [
        COLLECTION,
        query(
          'tile',
          '`/{z}/{x}/{y}.{ext}`: that tile, for clients that append it to an address that ends in a token',
          {
            type: 'string',
          },
        ),
      ],
      responses: { 200: binary(XML, ...TILE_TYPES) },
    },
  },
  '/tms/1.0.0/{code}/{z}/{x}/{y}.{ext}': tile(
    'getTmsTile',
    'Get a tile of the default version, with rows counted from the south',
    [COLLECTION, ...ADDRESS.filter(({ name }) => name !== 'y'), path('y', 'row, 0 in the south', 'integer')],
  ),
}

const ORIGINAL: Parameter = {
  name: 'X-Original-URI',
  in: 'header',
  required: true,
  description:
    'the address that the client requests from the proxy, path and query, as nginx has it in $request_uri; Traefik and Envoy send ' +
    '`X-Forwarded-Uri` instead. If both headers come, they must be equal',
  schema: { type: 'string' },
}

/** Paths of the edge, which has no schemas to generate them from. All of them need the scope `read`. */
export const DATA_PLANE_PATHS: Paths = {
  '/tiles/{code}/{version}/{z}/{x}/{y}.{ext}': tile('getVersionTile', 'Get a tile of a version', [
    CODE,
    VERSION,
    ...ADDRESS,
    AT,
  ]),
  '/tiles/{code}/{z}/{x}/{y}.{ext}': tile('getTile', 'Get a tile of the default version', [CODE, ...ADDRESS, AT]),
  '/tiles/{code}/tilejson.json': tileJson('getTileJson', 'Get the TileJSON of the default version', [CODE, AT]),
  '/tiles/{code}/{version}/tilejson.json': tileJson('getVersionTileJson', 'Get the TileJSON of a version', [
    CODE,
    VERSION,
  ]),
  '/vectors/{code}/tiles/{z}/{x}/{y}.mvt': vectorTile(
    'getTileOfVector',
    'Get a vector tile of a vector; `.pbf` is equivalent. 204: the tile is empty; 404: it lies outside the zoom range or the grid; 503: the first tiles are being built',
    [CODES, ...ADDRESS.filter(({ name }) => name !== 'ext')],
  ),
  '/vectors/{code}/tilejson.json': tileJson('getTileJsonOfVector', 'Get the TileJSON of the vector tiles of a vector', [
    CODES,
  ]),
  '/vectors/{code}/download': download(
    'downloadVector',
    'Download a vector; a shapefile comes as a zip, every other kind unchanged',
    [CODE],
    ...Object.values(VECTOR_DOWNLOADS).map(({ type }) => type),
  ),
  '/vectors/{code}.geojson': limitedDownload(
    'The text is UTF-8, even if the stored file is not.',
    'downloadVectorAsGeoJson',
    'Download a vector as GeoJSON',
    [CODE, FORM_CRS],
    'application/geo+json',
  ),
  '/vectors/{code}.zip': limitedDownload(
    'A shapefile that is written here has names of at most 10 bytes and texts of at most 254, in UTF-8. Each layer and kind of geometry has its own file. ' +
      'Times, arrays and objects are text, geometry collections have no place, and ids of features are not kept. A stored shapefile without `.shx` is written again.',
    'downloadVectorAsZip',
    'Download a vector as a zipped shapefile',
    [CODE, FORM_CRS],
    'application/zip',
  ),
  '/vectors/{code}.gpkg': limitedDownload(
    'In a GeoPackage that is written here, of names that differ only by case all but the first get a number behind them. Ids that are texts are not kept. Arrays and objects are JSON text.',
    'downloadVectorAsGeoPackage',
    'Download a vector as a GeoPackage',
    [CODE, FORM_CRS],
    VECTOR_DOWNLOADS.geopackage.type,
  ),
  '/vectors/{code}.fgb': limitedDownload(
    'FlatGeobuf has no ids of features, and one type for dates and times. If some geometries have heights, the others get the height 0. All layers are one, with the attribute `layer`.',
    'downloadVectorAsFlatGeobuf',
    'Download a vector as FlatGeobuf',
    [CODE, FORM_CRS],
    VECTOR_DOWNLOADS.flatgeobuf.type,
  ),
  '/vectors/{code}.geojsonl': downloadAs('geojson_sequence', 'GeoJsonSequence', 'a GeoJSON sequence'),
  '/vectors/{code}.kml': downloadAs('kml', 'Kml', 'KML'),
  '/vectors/{code}.kmz': downloadAs('kmz', 'Kmz', 'KMZ'),
  '/vectors/{code}.gml': downloadAs('gml', 'Gml', 'GML'),
  '/vectors/{code}.gpx': downloadAs('gpx', 'Gpx', 'GPX'),
  '/vectors/{code}.dxf': downloadAs('dxf', 'Dxf', 'DXF'),
  '/vectors/{code}.csv': limitedDownload(
    'The text is UTF-8, even if the stored file is not. CSV has no types. Geometries are Well-Known Text, and arrays and objects are JSON text.',
    'downloadVectorAsCsv',
    'Download a vector as CSV',
    [CODE, FORM_CRS, GUARD],
    VECTOR_DOWNLOADS.csv.type,
  ),
  '/archives/{code}/{version}.pmtiles': download(
    'downloadPmtiles',
    'Download a version that is a PMTiles archive, whole or in ranges',
    [CODE, VERSION],
    'application/vnd.pmtiles',
  ),
  '/archives/{code}/{version}.mbtiles': download(
    'downloadMbtiles',
    'Download a version that is an MBTiles archive, whole or in ranges',
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
        'Decide whether a proxy may serve a request, for nginx `auth_request`, Traefik `ForwardAuth` and Envoy `ext_authz`',
      description:
        'Decides as the edge would for a GET of the address in the header. The credentials are the token or the signature in that address, or ' +
        'the token in the headers of this request. Returns 200 to let the request in, and 401 or 403 as the edge would refuse it. A granted ' +
        'address without content returns 200, and the edge reports the missing content. An address outside the read interface returns 403, and ' +
        'so does one that proxies may interpret differently (dots, empty segments, an encoded slash). Returns 400 if the headers name no ' +
        'address, or two. Envoy appends the address to the path instead: `/api/v1/forward-auth/tiles/world/...`.',
      parameters: [ORIGINAL],
      responses: { 200: { description: 'let in' } },
    },
  },
  '/geojson/{relative_path}': download(
    'downloadGeoJsonByPath',
    'Download GeoJSON by its relative path',
    [RELATIVE_PATH],
    'application/geo+json',
  ),
  '/shp/{relative_path}': download(
    'downloadShapefileByPath',
    'Download a shapefile by its relative path, as a zip',
    [RELATIVE_PATH],
    'application/zip',
  ),
}
