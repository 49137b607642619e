import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { expect, test } from 'vitest'
import { gdalQuirks } from './gdal-quirks.js'
import type { Addresses, Layer } from './layer.js'
import { collection, landingPage, tileMatrixSet, tileMatrixSets, tileset } from './ogc-documents.js'
import { exceptionReport } from './ows-exception.js'
import { sizedSet, sizedSetId } from './sized-set.js'
import { tileMap, tileMapServicePieces } from './tms-documents.js'
import { capabilitiesOfOne, capabilitiesPieces } from './wmts-capabilities.js'
import { ALL_SECTIONS, parseWmtsRequest, tileRequestError } from './wmts-request.js'

const OPEN: Addresses = { base: 'http://maps.example', token: '' }
const PROVIDER = { providerName: 'Survey & Co', providerSite: 'http://survey.example' }
const WITH_TOKEN: Addresses = { ...OPEN, token: 'token=bmp_x' }

function layer(more: Partial<Layer> = {}): Layer {
  return {
    code: 'city',
    title: 'City & <Land>',
    description: null,
    attribution: null,
    version: '2026 11',
    revision: 7,
    format: 'webp',
    tileSize: 256,
    minZoom: 1,
    maxZoom: 2,
    bounds: [-90, 0, 90, 60],
    set: TILE_MATRIX_SETS.WebMercatorQuad,
    vectorLayers: null,
    times: [],
    isOfVector: false,
    ...more,
  }
}

const geographic = layer({ code: 'flat', set: TILE_MATRIX_SETS.WorldCRS84Quad, bounds: null, minZoom: 0, maxZoom: 1 })

function textOf(
  pieces: (layers: readonly Layer[], addresses: Addresses) => Iterable<string>,
  layers: readonly Layer[],
  addresses: Addresses,
): string {
  return [...pieces(layers, addresses)].join('')
}

const capabilities = (layers: readonly Layer[], addresses: Addresses) =>
  capabilitiesPieces(layers, addresses, PROVIDER, ALL_SECTIONS)

test('WMTS capabilities name the fast addresses, with the token only if it came in the address', () => {
  const template = 'http://maps.example/tiles/city/2026%2011/{TileMatrix}/{TileCol}/{TileRow}.webp?v=7'
  expect(textOf(capabilities, [layer()], OPEN)).toContain(`template="${template}"`)
  expect(textOf(capabilities, [layer()], OPEN)).not.toContain('token')
  expect(textOf(capabilities, [layer()], WITH_TOKEN)).toContain(`template="${template}&amp;token=bmp_x"`)
  expect(textOf(capabilities, [layer()], WITH_TOKEN).match(/href="http:[^"]*token=bmp_x/g)).toHaveLength(5)
})

test('WMTS capabilities escape the texts of operators', () => {
  expect(textOf(capabilities, [layer()], OPEN)).toContain('<ows:Title>City &amp; &lt;Land&gt;</ows:Title>')
})

/** Returns the sets of capabilities, in order: identifier, system and columns at each zoom. */
function setsIn(text: string) {
  return text
    .split('<TileMatrixSet>\n')
    .slice(1)
    .map((set) => [
      /<ows:Identifier>([^<]*)/.exec(set)?.[1],
      /<ows:SupportedCRS>urn:ogc:def:crs:([^<]*)/.exec(set)?.[1],
      ...[...set.matchAll(/<TileMatrix><ows:Identifier>(\d+)[\s\S]*?<MatrixWidth>(\d+)/g)].map(([, zoom, width]) => [
        Number(zoom),
        Number(width),
      ]),
    ])
}

/** Returns the sets to which each layer is linked. */
const linksIn = (text: string) => [...text.matchAll(/<TileMatrixSetLink><TileMatrixSet>([^<]*)/g)].map(([, id]) => id)

test('WMTS capabilities have the shared grids up to their highest zoom, grids with the zooms of layers, and the limits of each layer', () => {
  const text = textOf(capabilities, [layer(), geographic, layer({ code: 'twin' })], OPEN)
  expect(setsIn(text)).toEqual([
    ['WebMercatorQuad', 'EPSG::3857', [0, 1], [1, 2], [2, 4]],
    ['WorldCRS84Quad', 'EPSG::4326', [0, 2], [1, 4]],
    ['WebMercatorQuad_1_2', 'EPSG::3857', [1, 2], [2, 4]],
    ['WorldCRS84Quad_0_1', 'EPSG::4326', [0, 2], [1, 4]],
  ])
  // GDAL uses the first set of a layer.
  expect(linksIn(text)).toEqual([
    ...['WebMercatorQuad_1_2', 'WebMercatorQuad'],
    ...['WorldCRS84Quad_0_1', 'WorldCRS84Quad'],
    ...['WebMercatorQuad_1_2', 'WebMercatorQuad'],
  ])
  expect(text.match(/<TopLeftCorner>90 -180</g)).toHaveLength(4)
  expect(text.match(/<TileMatrix>2</g)).toHaveLength(2)
  expect(text).toContain(
    '<TileMatrixLimits><TileMatrix>2</TileMatrix>' +
      '<MinTileRow>1</MinTileRow><MaxTileRow>1</MaxTileRow><MinTileCol>1</MinTileCol><MaxTileCol>2</MaxTileCol>',
  )
  expect(text).toContain('<ScaleDenominator>279541132.0143589</ScaleDenominator>')
})

test('WMTS capabilities of one layer have the shared grid with only the zooms of that layer', () => {
  const text = capabilitiesOfOne(layer(), OPEN, PROVIDER, ALL_SECTIONS)
  expect(setsIn(text)).toEqual([['WebMercatorQuad', 'EPSG::3857', [1, 2], [2, 4]]])
  expect(linksIn(text)).toEqual(['WebMercatorQuad'])
})

test('WMTS capabilities of 3,000 layers contain each grid of the layers once, and grow little by them', () => {
  const depths = (i: number) => ({ minZoom: i % 5, maxZoom: 10 + (i % 10) })
  const many = Array.from({ length: 3000 }, (_, i) => layer({ code: `layer-${i}`, ...depths(i) }))
  const text = textOf(capabilities, many, OPEN)
  const elements = many.slice(0, 10).map((one) => {
    const alone = capabilitiesOfOne(one, OPEN, PROVIDER, ALL_SECTIONS)
    return alone.slice(alone.indexOf('<Layer>'), alone.indexOf('</Layer>')).length
  })
  expect(setsIn(text)).toHaveLength(1 + 10)
  expect(text.length / (300 * elements.reduce((sum, length) => sum + length))).toBeLessThan(1.15)
})

test('WMTS capabilities contain the requested sections, and who provides them', () => {
  const sectionsIn = (sections: string) => {
    const request = parseWmtsRequest(`service=WMTS&request=GetCapabilities&sections=${sections}`)
    if (request.kind !== 'capabilities') throw new Error(request.kind)
    const texts = [
      [...capabilitiesPieces([layer()], OPEN, PROVIDER, request.sections)].join(''),
      capabilitiesOfOne(layer(), OPEN, PROVIDER, request.sections),
    ]
    const [all, one] = texts.map((text) =>
      [...text.matchAll(/^<(?:ows:)?(ServiceIdentification|ServiceProvider|OperationsMetadata|Contents)>/gm)].map(
        ([, name]) => name,
      ),
    )
    expect(one).toEqual(all)
    expect(texts[0]?.includes('<Layer>')).toBe(all?.includes('Contents'))
    return all
  }
  const everything = ['ServiceIdentification', 'ServiceProvider', 'OperationsMetadata', 'Contents']
  expect(['', 'All', 'Contents,All'].map(sectionsIn)).toEqual([everything, everything, everything])
  expect(sectionsIn('ServiceProvider,Contents')).toEqual(['ServiceProvider', 'Contents'])
  expect(sectionsIn('Themes')).toEqual([])
  expect(textOf(capabilities, [], OPEN)).toContain(
    '<ows:ProviderName>Survey &amp; Co</ows:ProviderName>\n<ows:ProviderSite xlink:href="http://survey.example"/>',
  )
})

test('only Web Mercator has the well-known scale set of its scales', () => {
  const sets = textOf(capabilities, [layer({ minZoom: 0 }), geographic], OPEN)
  expect(sets.match(/<WellKnownScaleSet>[^<]*/g)).toEqual(
    ['_0_2', ''].map(() => '<WellKnownScaleSet>urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible'),
  )
})

test('bounds beyond the end of Web Mercator are cut, because clients would compute infinities', () => {
  const wide = layer({ bounds: [-180, -90, 180, 90] })
  const corners = '<ows:LowerCorner>-180 -85.05112877980659</ows:LowerCorner><ows:UpperCorner>180 85.0511287798066<'
  expect(textOf(capabilities, [wide], OPEN)).toContain(corners)
})

test('WMTS capabilities have a separate set for tiles of 512 pixels, with equal places and half the scales', () => {
  const text = textOf(capabilities, [layer({ maxZoom: 1 }), layer({ code: 'sharp', tileSize: 512, maxZoom: 1 })], OPEN)
  expect(linksIn(text)).toEqual([
    ...['WebMercatorQuad_1_1', 'WebMercatorQuad'],
    ...['WebMercatorQuadx2_1_1', 'WebMercatorQuadx2'],
  ])
  expect(text).toContain('<ows:Identifier>WebMercatorQuadx2</ows:Identifier>')
  expect(text.match(/<ScaleDenominator>[^<]*|<TileWidth>\d+|<MatrixWidth>\d+/g)).toEqual([
    ...['<ScaleDenominator>559082264.0287178', '<TileWidth>256', '<MatrixWidth>1'],
    ...['<ScaleDenominator>279541132.0143589', '<TileWidth>256', '<MatrixWidth>2'],
    ...['<ScaleDenominator>279541132.0143589', '<TileWidth>512', '<MatrixWidth>1'],
    ...['<ScaleDenominator>139770566.00717944', '<TileWidth>512', '<MatrixWidth>2'],
    ...['<ScaleDenominator>279541132.0143589', '<TileWidth>256', '<MatrixWidth>2'],
    ...['<ScaleDenominator>139770566.00717944', '<TileWidth>512', '<MatrixWidth>2'],
  ])
  expect(textOf(capabilities, [layer({ format: 'pbf', tileSize: 512 })], OPEN)).not.toContain('x2')
})

test.each([
  ['', 'capabilities'],
  ['SERVICE=WMS&REQUEST=GetCapabilities', 'capabilities'],
  ['service=wmts&request=getcapabilities', 'capabilities'],
  ['service=WMTS&request=GetCapabilities&acceptversions=2.0.0,1.0.0&sections=Contents', 'capabilities'],
  [
    'service=WMTS&request=GetTile&layer=a&style=&tilematrixset=s&tilematrix=1&tilerow=0&tilecol=1&format=image/png',
    'tile',
  ],
])('%j requests %s', (query, kind) => {
  expect(parseWmtsRequest(query).kind).toBe(kind)
})

test('capabilities can be restricted to one layer', () => {
  expect(parseWmtsRequest('only=city')).toEqual({ kind: 'capabilities', only: 'city', sections: ALL_SECTIONS })
  expect(parseWmtsRequest('ONLY=&service=WMTS&request=GetCapabilities')).toMatchObject({ only: null })
})

test.each([
  ['request=GetCapabilities', 'MissingParameterValue', 'service'],
  ['service=&request=GetTile', 'MissingParameterValue', 'service'],
  ['service=WMTS&request=GetTile&layer=a', 'MissingParameterValue', 'Style'],
  ['service=WMTS&request=GetTile&layer=a&style=', 'MissingParameterValue', 'TileMatrixSet'],
  ['service=WMTS&request=GetCapabilities&sections=Contents,Everything', 'InvalidParameterValue', 'Sections'],
  ['service=WMTS&request=GetFeatureInfo', 'OperationNotSupported', 'GetFeatureInfo'],
  ['service=WMTS&request=GetBogus', 'InvalidParameterValue', 'request'],
  ['service=WMTS&request~GetCapabilities!version~1.0.0', 'MissingParameterValue', 'request'],
  ['service=WFS', 'InvalidParameterValue', 'service'],
  ['service=WMTS&request=GetCapabilities&AcceptVersions=2.0.0,1.1.0', 'VersionNegotiationFailed', null],
])('%j is an exception', (query, code, locator) => {
  expect(parseWmtsRequest(query)).toMatchObject({ kind: 'exception', code, locator })
})

test.each([
  ['tilematrixset', 'WorldCRS84Quad', 'InvalidParameterValue'],
  ['tilematrixset', 'WorldCRS84Quad_1_2', 'InvalidParameterValue'],
  ['tilematrixset', 'WebMercatorQuad_1_', 'InvalidParameterValue'],
  ['format', 'image/png', 'InvalidParameterValue'],
  ['style', 'night', 'InvalidParameterValue'],
  ['tilematrix', '01', 'InvalidParameterValue'],
  ['tilerow', '-1', 'InvalidParameterValue'],
  ['tilerow', '4', 'TileOutOfRange'],
  ['tilecol', '4', 'TileOutOfRange'],
  ['version', '2.0.0', 'InvalidParameterValue'],
])('a tile whose %s is %s is an exception', (name, value, code) => {
  const parameters = new URLSearchParams(
    'service=WMTS&request=GetTile&layer=city&style=default&tilematrixset=WebMercatorQuad&tilematrix=2&tilerow=1&tilecol=2&format=image/webp',
  )
  expect(errorOf(parameters)).toBeNull()
  parameters.set(name, value)
  const error = errorOf(parameters)
  expect(error?.locator?.toLowerCase()).toBe(name)
  expect(error?.code).toBe(code)
  expect(exceptionReport(error as NonNullable<typeof error>)).toContain(
    `exceptionCode="${code}" locator="${error?.locator}"`,
  )
})

test.each([
  'WebMercatorQuad',
  'WebMercatorQuadx2',
  'WebMercatorQuadx2_1_2',
  // From a document that was made when the layer had other zooms.
  'WebMercatorQuadx2_1_3',
])('a tile of 512 pixels can be requested in %s', (set) => {
  const place = `tilematrixset=${set}&tilematrix=2&tilerow=1&tilecol=2`
  const query = `service=WMTS&request=GetTile&layer=city&style=default&${place}&format=image/webp`
  expect(errorOf(new URLSearchParams(query), 512)).toBeNull()
})

function errorOf(parameters: URLSearchParams, tileSize = 256) {
  const request = parseWmtsRequest(String(parameters))
  return request.kind === 'tile' ? tileRequestError(request, layer({ tileSize })) : null
}

test('TMS documents count rows from the south and name a profile', () => {
  expect(textOf(tileMapServicePieces, [layer(), geographic], WITH_TOKEN)).toContain(
    '<TileMap title="City &amp; &lt;Land&gt;" srs="EPSG:4326" profile="global-geodetic" href="http://maps.example/tms/1.0.0/flat?token=bmp_x"/>',
  )
  const text = tileMap(geographic, OPEN)
  expect(text).toContain('<BoundingBox minx="-180" miny="-90" maxx="180" maxy="90"/>')
  expect(text).toContain('units-per-pixel="0.3515625" order="1"/>')
  expect(tileMap(layer(), OPEN)).toContain('<TileSets profile="global-mercator">')
})

test('a TMS map has the whole grid as its bounding box, and the extent of its data in another element', () => {
  const [quarter, part] = [5009377.085697311, layer({ bounds: [-45, 0, 45, 85.0511287798066] })]
  const text = tileMap(part, WITH_TOKEN)
  const boxes = [...text.matchAll(/<(\w*BoundingBox) minx="([^"]*)" miny="([^"]*)" maxx="([^"]*)" maxy="([^"]*)"/g)]
  expect(boxes.map(([, name, ...edges]) => [name, ...edges.map(Number)])).toEqual([
    ['BoundingBox', ...[-4, -4, 4, 4].map((quarters) => expect.closeTo(quarters * quarter, 3))],
    ['DataBoundingBox', ...[-1, 0, 1, 4].map((quarters) => expect.closeTo(quarters * quarter, 3))],
  ])
  const address = 'http://maps.example/tiles/city/2026%2011/tilejson.json?token=bmp_x'
  expect(text).toContain(`<Metadata type="TileJSON" mime-type="application/json" href="${address}"/>`)
})

test('a TMS map lists its zooms from 0, or from its first zoom for clients that request no others', () => {
  const orders = (text: string) => [...text.matchAll(/order="(\d+)"/g)].map(([, order]) => Number(order))
  expect(orders(tileMap(layer(), OPEN))).toEqual([0, 1, 2])
  expect(orders(tileMap(layer(), OPEN, 1))).toEqual([1, 2])
})

test("a tile's place can be appended to the address of a TMS tile set, even with a token in the query", () => {
  const ends = [OPEN, WITH_TOKEN].map((by) => / href="([^"]*)" [^>]*order="1"/.exec(tileMap(geographic, by))?.[1])
  expect(ends).toEqual([
    'http://maps.example/tms/1.0.0/flat?missing=204&amp;tile=/1',
    'http://maps.example/tms/1.0.0/flat?missing=204&amp;token=bmp_x&amp;tile=/1',
  ])
})

test('OGC documents link a collection to its tileset, its grid and its tiles', () => {
  expect(collection(layer(), OPEN)).toMatchObject({
    id: 'city',
    extent: { spatial: { bbox: [[-90, 0, 90, 60]] } },
    links: expect.arrayContaining([
      expect.objectContaining({
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-map',
        href: 'http://maps.example/ogc/collections/city/map/tiles',
        type: 'application/json',
      }),
    ]),
  })
  expect(tileset(layer(), WITH_TOKEN)).toMatchObject({
    tileMatrixSetId: 'WebMercatorQuad',
    tileMatrixSetLimits: [
      { tileMatrix: '1', minTileRow: 0, maxTileRow: 0, minTileCol: 0, maxTileCol: 1 },
      { tileMatrix: '2', minTileRow: 1, maxTileRow: 1, minTileCol: 1, maxTileCol: 2 },
    ],
    links: expect.arrayContaining([
      expect.objectContaining({
        rel: 'item',
        href: 'http://maps.example/tiles/city/2026%2011/{tileMatrix}/{tileCol}/{tileRow}.webp?v=7&token=bmp_x',
      }),
    ]),
  })
  expect(JSON.stringify(landingPage(OPEN))).not.toContain('token=')
  expect(tileset(layer({ vectorLayers: [] }), OPEN)).not.toHaveProperty('layers')
})

test('the box of a tileset is in the system of its tiles and the order of its axes', () => {
  const half = 20037508.342789244
  expect(tileset(layer({ bounds: null }), OPEN)).toMatchObject({
    boundingBox: {
      lowerLeft: [expect.closeTo(-half, 3), expect.closeTo(-half, 3)],
      upperRight: [expect.closeTo(half, 3), expect.closeTo(half, 3)],
      crs: 'http://www.opengis.net/def/crs/EPSG/0/3857',
      orderedAxes: ['X', 'Y'],
    },
  })
  const china = layer({ set: TILE_MATRIX_SETS.CGCS2000Quad, bounds: [73, 18, 135, 54] })
  expect(tileset(china, OPEN)).toMatchObject({
    boundingBox: { lowerLeft: [18, 73], upperRight: [54, 135], orderedAxes: ['Lat', 'Lon'] },
  })
})

const ACCEPT = 'application/geo+json, application/json'
const NOT_GDAL = { ownUnits: false, onlyPngAndJpeg: false, missingFails: false }
test.each([
  ['3.6, which does not say its name', ACCEPT, '', { ownUnits: true, onlyPngAndJpeg: true, missingFails: true }],
  ['3.7.1', ACCEPT, 'GDAL/3.7.1', { ownUnits: true, onlyPngAndJpeg: true, missingFails: true }],
  ['3.8', ACCEPT, 'GDAL/3.8.4', { ownUnits: false, onlyPngAndJpeg: true, missingFails: true }],
  ['3.10', ACCEPT, 'GDAL/3.10.0', { ownUnits: false, onlyPngAndJpeg: false, missingFails: true }],
  ['a browser', '*/*', 'Mozilla/5.0', NOT_GDAL],
  ['a script without a name', 'application/json', '', NOT_GDAL],
  ['a GDAL of another name', ACCEPT, 'my program', NOT_GDAL],
])('the quirks of %s are detected by its headers', (_, accept, userAgent, quirks) => {
  expect(gdalQuirks(accept, userAgent)).toEqual(quirks)
})

test('OGC documents have the form of an early GDAL only for that client', () => {
  const early = gdalQuirks(ACCEPT, '')
  const bbox = [
    [-10018754.171394622, 0, 10018754.171394622, 8399737.889818357].map((value) => expect.closeTo(value, 3)),
  ]
  expect(collection(layer(), OPEN, early)).toMatchObject({
    extent: { spatial: { bbox, crs: 'http://www.opengis.net/def/crs/EPSG/0/3857' } },
  })
  const items = (quirks?: typeof early) =>
    (tileset(layer(), OPEN, quirks) as { links: { rel: string }[] }).links.filter(({ rel }) => rel === 'item')
  const href = 'http://maps.example/tiles/city/2026%2011/{tileMatrix}/{tileCol}/{tileRow}.webp?v=7'
  expect(items()).toMatchObject([{ href, type: 'image/webp' }])
  const known = `${href}&missing=204`
  expect(items(early)).toMatchObject([
    { href: known, type: 'image/webp' },
    { href: known, type: 'image/png' },
  ])
  // A town covers no pixel in the tiles of zooms 0 to 5.
  const town = layer({ bounds: [116, 39.9, 116.03, 39.93], minZoom: 0, maxZoom: 8 })
  expect(tileset(town, OPEN, early)).toMatchObject({
    tileMatrixSetLimits: [7, 8].map((zoom) => ({
      tileMatrix: String(zoom),
      ...{ minTileRow: 0, maxTileRow: 2 ** zoom - 1, minTileCol: 0, maxTileCol: 2 ** zoom - 1 },
    })),
  })
})

test('a tile matrix set is defined with the keys of both versions of the standard', () => {
  expect(tileMatrixSet('CGCS2000Quad', { set: TILE_MATRIX_SETS.CGCS2000Quad, pixels: 256 })).toMatchObject({
    id: 'CGCS2000Quad',
    identifier: 'CGCS2000Quad',
    orderedAxes: ['Lat', 'Lon'],
    tileMatrices: expect.arrayContaining([
      expect.objectContaining({
        id: '1',
        matrixWidth: 4,
        matrixHeight: 2,
        pointOfOrigin: [90, -180],
        cellSize: 0.3515625,
      }),
    ]),
    tileMatrix: expect.arrayContaining([expect.objectContaining({ identifier: '1', topLeftCorner: [90, -180] })]),
  })
})

test('tiles of 512 pixels are in a separate set with half the cells of the registered one, listed if a layer uses it', () => {
  const sharp = layer({ tileSize: 512 })
  expect(tileset(sharp, OPEN)).toMatchObject({ tileMatrixSetId: 'WebMercatorQuadx2' })
  expect(tileset(sharp, OPEN)).not.toHaveProperty('tileMatrixSetURI')
  const sized = { set: TILE_MATRIX_SETS.WebMercatorQuad, pixels: 512 }
  expect(sizedSet('WebMercatorQuadx2')).toEqual(sized)
  const [matrix] = (tileMatrixSet('WebMercatorQuadx2', sized) as { tileMatrices: object[] }).tileMatrices
  expect(matrix).toMatchObject({ tileWidth: 512, matrixWidth: 1, scaleDenominator: 559082264.0287178 / 2 })
  const ids = (layers: Layer[]) =>
    (tileMatrixSets(layers, OPEN) as { tileMatrixSets: { id: string }[] }).tileMatrixSets.map(({ id }) => id)
  expect(ids([layer()])).toEqual(Object.keys(TILE_MATRIX_SETS))
  expect(ids([sharp])).toEqual([...Object.keys(TILE_MATRIX_SETS), 'WebMercatorQuadx2'])
})

test.each([256, 512, 1024, 300])(
  'the set of tiles of %i pixels is found by the identifier that its layers use',
  (pixels) => {
    const id = sizedSetId(layer({ tileSize: pixels }))
    expect(sizedSet(id)).toEqual({ set: TILE_MATRIX_SETS.WebMercatorQuad, pixels })
  },
)

test.each([
  'WebMercatorQuadx',
  'WebMercatorQuadx1',
  'WebMercatorQuadx02',
  'WebMercatorQuadx1e3',
  'x2',
  '',
  'constructor',
])('no set is named %j', (id) => expect(sizedSet(id)).toBeNull())
