import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { expect, test } from 'vitest'
import type { Layer } from './layer.js'
import { isInTianditu, plainTileRequest, tiandituCapabilities, tiandituPlace } from './tianditu.js'
import { parseWmtsRequest, type WmtsRequest } from './wmts-request.js'

const layer = (more: Partial<Layer> = {}): Layer => ({
  code: 'img',
  title: 'Images',
  description: null,
  attribution: null,
  version: 'v1',
  revision: 1,
  format: 'png',
  tileSize: 256,
  minZoom: 0,
  maxZoom: 4,
  bounds: null,
  set: TILE_MATRIX_SETS.WebMercatorQuad,
  vectorLayers: null,
  times: [],
  isOfVector: false,
  ...more,
})
const geographic = layer({ set: TILE_MATRIX_SETS.WorldCRS84Quad })
const PROVIDER = { providerName: 'Survey', providerSite: 'http://survey.example' }
const ADDRESSES = { base: 'http://maps.example', token: '' }

function tileRequest(more: Record<string, string> = {}) {
  const fixed = { SERVICE: 'WMTS', REQUEST: 'GetTile', VERSION: '1.0.0', LAYER: 'img', STYLE: 'default' }
  const place = { TILEMATRIXSET: 'w', FORMAT: 'tiles', TILEMATRIX: '3', TILEROW: '2', TILECOL: '5' }
  const request = parseWmtsRequest(new URLSearchParams({ ...fixed, ...place, ...more }).toString())
  return request as Extract<WmtsRequest, { kind: 'tile' }>
}

test.each([
  ['/tianditu/img_w/wmts', { code: 'img', set: 'w', isDataServer: false }],
  ['/tianditu/my_map_c/wmts/', { code: 'my_map', set: 'c', isDataServer: false }],
  ['/tianditu/%E5%9B%BE_c/wmts', { code: '图', set: 'c', isDataServer: false }],
  ['/tianditu/img_w/DataServer', { code: 'img', set: 'w', isDataServer: true }],
  ['/tianditu/img_x/wmts', null],
  ['/tianditu/_w/wmts', null],
  ['/tianditu/img/wmts', null],
  ['/tianditu/img_w/wmts/1', null],
  ['/tianditu/img_w', null],
])('%s names %o', (path, place) => {
  expect(tiandituPlace(path)).toEqual(place)
})

test('matrix n is zoom n in Web Mercator, and zoom n - 1 in the geographic set, whose first matrix has two tiles', () => {
  expect(plainTileRequest(tileRequest(), layer(), 'w')).toMatchObject({ kind: 'tile', z: '3', x: '5', y: '2' })
  const first = tileRequest({ TILEMATRIXSET: 'c', TILEMATRIX: '1', TILEROW: '0', TILECOL: '1' })
  expect(plainTileRequest(first, geographic, 'c')).toMatchObject({ kind: 'tile', z: '0', x: '1', y: '0' })
})

test.each([
  ['another set', { TILEMATRIXSET: 'c' }, 'TileMatrixSet'],
  ['another layer', { LAYER: 'vec' }, 'Layer'],
  ['another format', { FORMAT: 'image/gif' }, 'Format'],
  ['matrix 0', { TILEMATRIX: '0' }, 'TileMatrix'],
  ['matrix 19', { TILEMATRIX: '19' }, 'TileMatrix'],
  ['a row outside the matrix', { TILEROW: '8' }, 'TileRow'],
  ['another style', { STYLE: 'night' }, 'Style'],
])('%s is refused by the name of its parameter', (_, more, locator) => {
  expect(plainTileRequest(tileRequest(more), layer(), 'w')).toMatchObject({ kind: 'exception', locator })
})

test('a layer is in the set of its grid, and vector tiles are in no set', () => {
  const sets = (one: Layer) => (['w', 'c'] as const).filter((set) => isInTianditu(one, set))
  expect([layer(), geographic, layer({ format: 'pbf' })].map(sets)).toEqual([['w'], ['c'], []])
  expect(sets(layer({ set: TILE_MATRIX_SETS.CGCS2000Quad }))).toEqual(['c'])
})

test('capabilities have matrices 1 to 18 with their corner in the order of the axes, after the set of own zooms', () => {
  const text = tiandituCapabilities(geographic, ADDRESSES, PROVIDER, 'c')
  expect(text.match(/<TileMatrixSet>\n<ows:Title>/g)).toHaveLength(2)
  const [, own = '', all = ''] = text.split('<TileMatrixSet>\n')
  expect(own).toContain('<ows:Identifier>c_1_5</ows:Identifier>')
  expect(all).toContain('<ows:Identifier>c</ows:Identifier>')
  expect(all).toContain('<ows:SupportedCRS>urn:ogc:def:crs:EPSG::4490</ows:SupportedCRS>')
  const identifiers = [...all.matchAll(/<TileMatrix><ows:Identifier>(\d+)/g)].map(([, id]) => Number(id))
  expect(identifiers).toEqual(Array.from({ length: 18 }, (_, i) => i + 1))
  expect(all).toContain('<TopLeftCorner>90 -180</TopLeftCorner>')
  expect(all).toMatch(/<MatrixWidth>2<\/MatrixWidth><MatrixHeight>1<\/MatrixHeight>/)
  expect(text).toContain('xlink:href="http://maps.example/tianditu/img_c/wmts?"')
  expect(text).not.toMatch(/RESTful|ResourceURL/)
  const mercator = tiandituCapabilities(layer(), { ...ADDRESSES, token: 'tk=bmp_x' }, PROVIDER, 'w')
  expect(mercator).toContain('<ows:Identifier>w_1_4</ows:Identifier>')
  expect(mercator).toContain('<TopLeftCorner>-20037508.342789244 20037508.342789244</TopLeftCorner>')
  expect(mercator).toContain('xlink:href="http://maps.example/tianditu/img_w/wmts?tk=bmp_x&amp;"')
})

test('a layer without a zoom among the matrices has only the shared set', () => {
  const text = tiandituCapabilities(layer({ maxZoom: 0 }), ADDRESSES, PROVIDER, 'w')
  expect(text.match(/<TileMatrixSet>\n<ows:Title>/g)).toHaveLength(1)
})
