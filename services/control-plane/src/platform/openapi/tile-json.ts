const string = (description: string) => ({ description, schema: { type: 'string' } })

/** Headers of answers of the data plane. */
export const HEADERS = {
  ETag: string('strong validator of these bytes, for `If-None-Match` and `If-Range`'),
  'Last-Modified': string('when the file changed last'),
  'Cache-Control': string('how long the answer may be kept'),
  'Cache-Tag': string('of tiles: `b-{code},v-{code}-{version}`, by which caches in front forget them'),
  'Surrogate-Key': string('the same names, separated by blanks'),
  Vary: string('the headers of the request by which the answer varies'),
  'Content-Encoding': string(
    '`gzip` where a compressed vector tile is sent as it is stored, or a document of 1 KiB or more to those who accept it',
  ),
  'Content-Disposition': string('`attachment` with the name of the file'),
  'Accept-Ranges': string('`bytes`'),
  'Content-Range': string('the range that is sent, and the size of the whole'),
} as const

export const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const numbers = (items: number) => ({ type: 'array', items: { type: 'number' }, minItems: items, maxItems: items })
const zoom = { type: 'integer', minimum: 0, maximum: 30 } as const

/** TileJSON 3.0.0 as this service answers it. */
export const TILE_JSON = {
  type: 'object',
  description:
    'TileJSON 3.0.0. Further keys of the tile set’s own metadata (`encoding`, `fillzoom`) are passed on as they are.',
  required: ['tilejson', 'name', 'scheme', 'tiles', 'minzoom', 'maxzoom', 'bounds', 'center', 'format', 'tileSize'],
  properties: {
    tilejson: { type: 'string', const: '3.0.0' },
    name: { type: 'string' },
    description: { type: 'string' },
    version: {
      type: 'string',
      description: 'a semantic version, where the metadata or the label of the version is one',
    },
    attribution: { type: 'string' },
    scheme: { type: 'string', const: 'xyz' },
    tiles: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'templates of tile addresses' },
    minzoom: zoom,
    maxzoom: zoom,
    bounds: { ...numbers(4), description: 'west, south, east, north in degrees' },
    center: { ...numbers(3), description: 'longitude, latitude, zoom' },
    format: { type: 'string', enum: ['png', 'jpg', 'webp', 'avif', 'pbf'] },
    tileSize: { type: 'integer' },
    crs: {
      type: 'string',
      description:
        'of tiles that are not in Web Mercator: `EPSG:4326`, `EPSG:4490`, or a zone of Gauss-Kruger, `EPSG:4547` say',
    },
    tile_matrix_set: {
      type: 'string',
      description: 'the same: `WorldCRS84Quad`, `CGCS2000Quad`, or its own grid, `EPSG4547_1a2b3c4d` say',
    },
    vector_layers: {
      type: 'array',
      description: 'of vector tiles',
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
    'a time (ISO 8601; a date means its beginning): where no fixed version is named, the version that was the default then counts. 404 if that ' +
    'version is not served any more, or if there was none',
  schema: { type: 'string' },
} as const
