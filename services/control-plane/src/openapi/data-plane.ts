import type { PathItem, Paths } from './document.js'

interface Parameter {
  readonly name: string
  readonly in: 'path'
  readonly required: true
  readonly description: string
  readonly schema: { readonly type: 'string' | 'integer' }
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
  path('ext', "the version's format: png, jpg (or jpeg), webp, avif, pbf (or mvt); another one is 404"),
]
const RELATIVE_PATH = path(
  'relative_path',
  'path below the scan source, as the catalog lists it; its slashes stand as they are',
)

const CACHED =
  'Answers GET and HEAD with `ETag` and `Last-Modified`; `If-None-Match` is answered 304. CORS is open to any origin, preflight included.'
const TILE_WORDS =
  `${CACHED} \`Cache-Control: public, max-age=31536000, immutable\`. Gzip-compressed vector tiles go out as stored with ` +
  '`Content-Encoding: gzip`, and plain to clients that do not accept it. A missing tile is 404 with `Cache-Control: no-store`.'
const DOWNLOAD_WORDS = `${CACHED} \`Content-Disposition\` names the file; byte ranges are answered 206, impossible ones 416.`

const binary = (...types: string[]) => ({
  description: 'the bytes',
  content: Object.fromEntries(types.map((type) => [type, {}])),
})
const TILE = binary('image/png', 'image/jpeg', 'image/webp', 'image/avif', 'application/x-protobuf')
const NOT_MODIFIED = { description: 'Not modified' }

function tile(summary: string, parameters: Parameter[]): PathItem {
  return { get: { summary, description: TILE_WORDS, parameters, responses: { 200: TILE, 304: NOT_MODIFIED } } }
}

function download(summary: string, parameters: Parameter[], ...types: string[]): PathItem {
  const responses = {
    200: binary(...types),
    206: { description: 'the requested range' },
    304: NOT_MODIFIED,
    416: { $ref: '#/components/responses/Error416' },
  }
  return { get: { summary, description: DOWNLOAD_WORDS, parameters, responses } }
}

function tileJson(summary: string, parameters: Parameter[]): PathItem {
  const description =
    'TileJSON 3.0.0. Where the service token came in the query, the tile addresses carry the same query. `Cache-Control: no-store`.'
  const responses = {
    200: { description: 'TileJSON', content: { 'application/json': { schema: { type: 'object' } } } },
  }
  return { get: { summary, description, parameters, responses } }
}

/** What the edge serves by itself; it has no schemas of its own to generate this from. All of it needs the scope `read`. */
export const DATA_PLANE_PATHS: Paths = {
  '/tiles/{code}/{version}/{z}/{x}/{y}.{ext}': tile('A tile of a version', [CODE, VERSION, ...ADDRESS]),
  '/tiles/{code}/{z}/{x}/{y}.{ext}': tile('A tile of the default version', [CODE, ...ADDRESS]),
  '/tiles/{code}/tilejson.json': tileJson('TileJSON of the default version', [CODE]),
  '/tiles/{code}/{version}/tilejson.json': tileJson('TileJSON of a version', [CODE, VERSION]),
  '/vectors/{code}/download': download(
    'Download a vector; a shapefile comes as a zip',
    [CODE],
    'application/geo+json',
    'application/zip',
  ),
  '/geojson/{relative_path}': download('GeoJSON by its relative path', [RELATIVE_PATH], 'application/geo+json'),
  '/shp/{relative_path}': download('Shapefile by its relative path, as a zip', [RELATIVE_PATH], 'application/zip'),
}
