import type { PathItem, Paths } from './document.js'
import { AT, headers } from './tile-json.js'

const JSON_TYPE = 'application/json'
const GLYPHS_TYPE = 'application/x-protobuf'

const path = (name: string, description: string) =>
  ({ name, in: 'path', required: true, description, schema: { type: 'string' } }) as const

const THEME = {
  name: 'theme',
  in: 'query',
  required: false,
  description: 'default: `light`; another value returns 400',
  schema: { type: 'string', enum: ['light', 'dark'] },
} as const
const STYLE = path('code', 'code of a style')
const DRAWN = path('code', 'code of a style, or of a vector, which is drawn by its plain style')
const PICTURE_EXT = path('ext', '`png`, `webp` or `jpg`')
const number = (name: string, description: string) =>
  ({ name, in: 'path', required: true, description, schema: { type: 'integer', minimum: 0 } }) as const
const option = (name: string, description: string, schema: object) =>
  ({ name, in: 'query', required: false, description, schema }) as const
const TILE_POINTS = option('size', 'points of a tile’s side; default: 512', { type: 'integer', enum: [256, 512] })
const MISSING = option('missing', 'status on a host that draws no pictures; default: 404', {
  type: 'string',
  enum: ['204'],
})
const STYLE_ID = path('styleId', 'code of a style')

const CACHED =
  'Supports GET and HEAD and returns `ETag`; a matching `If-None-Match` returns 304. CORS is open to any origin.'
const STYLE_WORDS =
  '`gateway://` addresses and relative ones become absolute, by the settings of the public addresses; addresses of other hosts do not change. ' +
  `If the request had a service token or a signature in the query, each address of the gateway carries it. \`Cache-Control: no-store\`. ${CACHED}`

function answer(
  operationId: string,
  summary: string,
  description: string,
  type: string,
  parameters: readonly (
    | ReturnType<typeof path>
    | ReturnType<typeof number>
    | ReturnType<typeof option>
    | typeof THEME
    | typeof AT
  )[],
): PathItem {
  const schema = type.endsWith('json') ? { type: 'object' } : { type: 'string', format: 'binary' }
  const sent = headers('ETag', 'Cache-Control', 'Vary')
  const responses = {
    200: { description: 'the content', headers: sent, content: { [type]: { schema } } },
    304: { description: 'Not modified', headers: sent },
  }
  return { get: { operationId, summary, description, parameters: [...parameters], responses } } as PathItem
}

const NEEDS =
  'The token needs the grants of all basemaps and vectors of the style: 403 names the first source that is not granted. A missing style ' +
  'returns 404 to each token with the scope `read`.'
const SPRITE_WORDS =
  'The name `sprite` means the sprite called `sprite` in the folder of the style, or else its first one. Other sprites have their own names in ' +
  'its place. A folder of SVG files is also a sprite. If the sprite has no version for high-density displays, `@2x` returns the plain one. ' +
  `${NEEDS} \`Cache-Control: private, no-cache\`. ${CACHED}`

const sprite = (operationId: string, doubled: string, extension: 'json' | 'png') =>
  answer(
    operationId,
    `Get the ${extension === 'json' ? 'index' : 'image'} of the sprite of a style${doubled === '' ? '' : ', for high-density displays'}`,
    SPRITE_WORDS,
    extension === 'json' ? JSON_TYPE : 'image/png',
    [STYLE],
  )

const PICTURE_WORDS =
  'MapLibre GL JS draws it in Chromium on the host of the edge. Without Chromium it returns 404 with a sentence that says what to install. A ' +
  `picture that takes longer than 10 s returns 503 with \`Retry-After\`, and is drawn meanwhile. ${NEEDS} ${CACHED}`

const picture = (
  operationId: string,
  summary: string,
  description: string,
  parameters: Parameters<typeof answer>[4],
) => {
  const all = [...parameters, MISSING]
  const item = answer(operationId, summary, `${description} ${PICTURE_WORDS}`, 'image/png', all) as {
    get: { responses: { 200: { content: Record<string, unknown> }; 204?: object } }
  }
  const { responses } = item.get
  responses[204] = { description: 'This host draws no pictures, with `missing=204`' }
  const { content } = responses[200]
  for (const type of ['image/webp', 'image/jpeg']) content[type] = content['image/png']
  return item as unknown as PathItem
}

/** Styles, glyphs and sprites, which the edge serves. */
export const STYLE_PATHS: Paths = {
  '/styles/{code}/style.json': answer(
    'getStyleDocument',
    'Get a style of the MapLibre style specification',
    `${STYLE_WORDS} ${NEEDS}`,
    JSON_TYPE,
    [STYLE, AT],
  ),
  '/styles/{code}/sprite.json': sprite('getSpriteIndex', '', 'json'),
  '/styles/{code}/sprite.png': sprite('getSpriteImage', '', 'png'),
  '/styles/{code}/sprite@2x.json': sprite('getFineSpriteIndex', '@2x', 'json'),
  '/styles/{code}/sprite@2x.png': sprite('getFineSpriteImage', '@2x', 'png'),
  '/styles/{code}/{z}/{x}/{y}.{ext}': picture(
    'getStyleTile',
    'Get a tile of a style as a picture',
    'Tiles are drawn in squares of four by four, so that no label is cut, and kept below TILE_CACHE_DIR. `@2x` behind the row doubles the pixels.',
    [
      DRAWN,
      number('z', 'zoom, 0 to 22'),
      number('x', 'column'),
      path('y', 'row from the north, with `@2x` for twice the pixels'),
      PICTURE_EXT,
      TILE_POINTS,
    ],
  ),
  '/styles/{code}/static/{view}/{size}.{ext}': picture(
    'getStaticMap',
    'Get a static map of a style',
    'The attribution of the sources is written into the lower right corner.',
    [
      DRAWN,
      path(
        'view',
        '`lon,lat,zoom`, `lon,lat,zoom,bearing`, `lon,lat,zoom,bearing,pitch`, `minx,miny,maxx,maxy` in degrees, or `auto`, which fits markers and ' +
          'paths. Four numbers that can be a box are one',
      ),
      path('size', '`{width}x{height}`, each at most 2048, with `@2x` for twice the pixels'),
      PICTURE_EXT,
      option('marker', '`lon,lat[,colour][,label]`, repeated; a label has at most 40 characters', { type: 'string' }),
      option('path', '`lon,lat|lon,lat|...`, repeated', { type: 'string' }),
      option('attribution', '`false`: no attribution', { type: 'boolean', default: true }),
    ],
  ),
  '/styles/{code}/tilejson.json': answer(
    'getStyleTileJson',
    'Get the TileJSON of the pictures of a style',
    `TileJSON 3.0.0. The tile addresses name the content, so that caches may keep the tiles. ${NEEDS} \`Cache-Control: no-store\`. ${CACHED}`,
    JSON_TYPE,
    [DRAWN, TILE_POINTS],
  ),
  '/fonts/{fontstack}/{range}.pbf': answer(
    'getGlyphs',
    'Get a range of glyphs of a stack of fonts',
    'Each glyph comes from the first font of the list that has it. Noto Sans, with ideographs, and fonts of the system follow the list, so an ' +
      'unknown font is not an error. A character that no font has is a box. At most 10 fonts and 500 characters (400). Any valid token with the scope `read` suffices. With ' +
      'the revision of the fonts in `v`, as in styles, `Cache-Control` is `private, max-age=31536000, immutable`; otherwise it is `private, ' +
      `no-cache\`. Returns 429 while too many ranges are being generated. ${CACHED}`,
    GLYPHS_TYPE,
    [path('fontstack', 'names of fonts, separated by commas'), path('range', '`0-255`, `256-511`, ... `65280-65535`')],
  ),
  '/ogc/styles': answer(
    'listOgcStyles',
    'OGC API – Styles (20-009, a draft): list the styles that the token may read',
    `The conformance classes of version 0.0 are in \`/ogc/conformance\`, where \`drafts\` names them. \`Cache-Control: no-store\`. ${CACHED}`,
    JSON_TYPE,
    [],
  ),
  '/ogc/styles/{styleId}': answer(
    'getOgcStyle',
    'OGC API – Styles (20-009, a draft): get a style',
    `The same as \`/styles/{code}/style.json\`, as \`application/vnd.mapbox.style+json\`. ${STYLE_WORDS} ${NEEDS}`,
    'application/vnd.mapbox.style+json',
    [STYLE_ID],
  ),
  '/ogc/styles/{styleId}/metadata': answer(
    'getOgcStyleMetadata',
    'OGC API – Styles (20-009, a draft): get the metadata of a style',
    `Title, dates, the link to the style, and its layers. ${NEEDS} \`Cache-Control: no-store\`. ${CACHED}`,
    JSON_TYPE,
    [STYLE_ID],
  ),
  '/tiles/{code}/style.json': answer(
    'getBasemapStyle',
    'Get a generated style that shows a basemap',
    `Shows raster tiles as an image, and vector tiles by the type of their geometries, with labels from \`name\`. A basemap in another grid than Web Mercator returns 404, because MapLibre would draw it in the wrong place. ${STYLE_WORDS}`,
    JSON_TYPE,
    [path('code', 'code of a basemap'), THEME, AT],
  ),
  '/vectors/{code}/style.json': answer(
    'getVectorStyle',
    'Get a generated style that draws a vector',
    `Draws the features by the type of their geometries, with labels from \`name\` if they have one. While the vector has no tiles, the style draws its GeoJSON, or returns 404 with the reason if the tiles failed or the file is larger than 20 MB. ${STYLE_WORDS}`,
    JSON_TYPE,
    [path('code', 'code of a vector'), THEME],
  ),
}
