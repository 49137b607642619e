import { TILE_FORMATS } from '@gateway/contracts/basemap.js'

const string = (description: string) => ({ description, schema: { type: 'string' } })

/** Headers of answers of the data plane. */
export const HEADERS = {
  ETag: string('strong validator of these bytes, for `If-None-Match` and `If-Range`'),
  'Last-Modified': string('time of the last change of the file'),
  'Cache-Control': string('how long caches may keep the response'),
  'Cache-Tag': string('for tiles: `b-{code},v-{code}-{version}`, the names by which caches in front purge them'),
  'Surrogate-Key': string('the same names, separated by blanks'),
  Vary: string('the request headers on which the response depends'),
  'Content-Encoding': string(
    '`gzip` if a compressed vector tile is sent as it is stored, or if a document of 1 KiB or more goes to a client that accepts gzip',
  ),
  'Content-Disposition': string('`attachment` with the name of the file'),
  'Accept-Ranges': string('`bytes`'),
  'Content-Range': string('the range that is sent, and the total size'),
} as const

export const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const numbers = (items: number) => ({ type: 'array', items: { type: 'number' }, minItems: items, maxItems: items })
const zoom = { type: 'integer', minimum: 0, maximum: 30 } as const

/** TileJSON 3.0.0 as this service answers it. */
export const TILE_JSON = {
  type: 'object',
  description:
    'TileJSON 3.0.0. Further keys of the metadata of the tile set (`encoding`, `fillzoom`) are passed on unchanged.',
  required: ['tilejson', 'name', 'scheme', 'tiles', 'minzoom', 'maxzoom', 'bounds', 'center', 'format', 'tileSize'],
  properties: {
    tilejson: { type: 'string', const: '3.0.0' },
    name: { type: 'string' },
    description: { type: 'string' },
    version: {
      type: 'string',
      description: 'a semantic version, if the metadata or the label of the version is one',
    },
    attribution: { type: 'string' },
    scheme: { type: 'string', const: 'xyz' },
    tiles: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'templates of tile addresses' },
    minzoom: zoom,
    maxzoom: zoom,
    bounds: { ...numbers(4), description: 'west, south, east, north in degrees' },
    center: { ...numbers(3), description: 'longitude, latitude, zoom' },
    format: { type: 'string', enum: [...TILE_FORMATS] },
    tileSize: { type: 'integer' },
    crs: {
      type: 'string',
      description:
        'only for tiles that are not in Web Mercator: `EPSG:4326`, `EPSG:4490`, or a zone of Gauss-Kruger, for example `EPSG:4547`',
    },
    tile_matrix_set: {
      type: 'string',
      description:
        'only for tiles that are not in Web Mercator: `WorldCRS84Quad`, `CGCS2000Quad`, or its own grid, for example `EPSG4547_1a2b3c4d`',
    },
    vector_layers: {
      type: 'array',
      description: 'only for vector tiles',
      items: {
        type: 'object',
        required: ['id', 'fields'],
        properties: {
          id: { type: 'string' },
          fields: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  },
} as const

/** The policy for addresses that name no fixed version. */
export const AT = {
  name: 'at',
  in: 'query',
  required: false,
  description:
    'a time (ISO 8601; a date means its beginning). If the address names no fixed version, it selects the version that was the default at that ' +
    'time. Returns 404 if that version is not served any more, or if the basemap had no default then',
  schema: { type: 'string' },
} as const
