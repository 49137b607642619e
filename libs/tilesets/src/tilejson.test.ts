import { expect, it } from 'vitest'
import {
  currentTileUrlTemplate,
  revisedTileUrlTemplate,
  type TileJsonInput,
  tileJson,
  tileUrlTemplate,
} from './tilejson.js'

const INPUT: TileJsonInput = {
  name: 'World',
  version: '2026-10',
  format: 'webp',
  tileSize: 256,
  minZoom: 2,
  maxZoom: 9,
  bounds: [5, 45, 15, 55],
  attribution: 'NASA',
  description: null,
  vectorLayers: null,
  tileMatrixSet: 'WebMercatorQuad',
  metadata: {},
}

it.each([
  [
    [12, 50, 5],
    [12, 50, 5],
  ],
  ['12.5,50,30', [12.5, 50, 9]],
  [
    [12, 50, 0.5],
    [12, 50, 2],
  ],
  [
    [100, 50, 5],
    [10, 50, 6],
  ],
  ['12,50', [10, 50, 6]],
  [{}, [10, 50, 6]],
])('a map is opened at the center %j of the metadata if that lies in the bounds', (center, told) => {
  expect(tileJson({ ...INPUT, metadata: { center } }, [])).toMatchObject({ center: told })
})

it('a center across the antimeridian is accepted', () => {
  const across = { ...INPUT, bounds: [170, -20, -170, 0] } satisfies TileJsonInput
  for (const [longitude, told] of [
    [-175, -175],
    [0, 180],
  ])
    expect(tileJson({ ...across, metadata: { center: [longitude, -5, 4] } }, [])).toMatchObject({
      center: [told, expect.anything(), expect.anything()],
    })
})

it('a raster version is described by TileJSON 3.0', () => {
  expect(tileJson(INPUT, ['http://a/{z}/{x}/{y}.webp'])).toEqual({
    tilejson: '3.0.0',
    name: 'World',
    attribution: 'NASA',
    scheme: 'xyz',
    tiles: ['http://a/{z}/{x}/{y}.webp'],
    minzoom: 2,
    maxzoom: 9,
    bounds: [5, 45, 15, 55],
    center: [10, 50, 6],
    format: 'webp',
    tileSize: 256,
  })
})

it('a version in degrees names its grid, and further fields of its metadata are passed on', () => {
  const metadata = { encoding: 'terrarium', version: '1.2.0', fillzoom: 8, name: 'not this one' }
  expect(tileJson({ ...INPUT, bounds: null, tileMatrixSet: 'CGCS2000Quad', metadata }, [])).toMatchObject({
    name: 'World',
    encoding: 'terrarium',
    version: '1.2.0',
    fillzoom: 8,
    crs: 'EPSG:4490',
    tile_matrix_set: 'CGCS2000Quad',
    bounds: [-180, -90, 180, 90],
  })
})

it('vector tiles always have vector_layers, each with fields', () => {
  expect(tileJson({ ...INPUT, format: 'pbf' }, []).vector_layers).toEqual([])
  expect(tileJson({ ...INPUT, format: 'pbf', vectorLayers: [{ id: 'a' }] }, []).vector_layers).toEqual([
    { id: 'a', fields: {} },
  ])
  expect(tileJson({ ...INPUT, vectorLayers: [{ id: 'a' }] }, [])).not.toHaveProperty('vector_layers')
})

it.each([
  ['1.2.3', true],
  ['1.0.0-rc.1+5', true],
  ['v1.2.3', false],
  ['01.2.3', false],
  ['2026-10', false],
  ['default', false],
])('the version %j becomes %s', (version, told) => {
  expect('version' in tileJson({ ...INPUT, version }, [])).toBe(told)
})

it('without bounds the whole world is shown, at the first zoom', () => {
  expect(tileJson({ ...INPUT, bounds: null }, [])).toMatchObject({
    bounds: [-180, expect.closeTo(-85.05), 180, expect.closeTo(85.05)],
    center: [0, 0, 2],
  })
})

it('bounds across the antimeridian have their centre in the Pacific, and leave no tile out', () => {
  const told = tileJson({ ...INPUT, bounds: [170, -20, -170, 0] }, [])
  expect(told).toMatchObject({ bounds: [-180, -20, 180, 0], center: [180, -10, 5] })
})

it.each([
  [
    [10, 20, 10, 20],
    [10, 20, 9],
  ],
  [
    [10, -60, 10.5, 60],
    [10.25, 0, 2],
  ],
] as const)('a point, and a narrow strip, %j are opened at %j', (bounds, center) => {
  expect(tileJson({ ...INPUT, bounds: [...bounds], minZoom: 0, maxZoom: 9 }, [])).toMatchObject({ center })
})

it('a code or label cannot leave its segment of a URL', () => {
  expect(tileUrlTemplate('https://t', 'a b/c', '1{z}?', 'png')).toBe(
    'https://t/tiles/a%20b%2Fc/1%7Bz%7D%3F/{z}/{x}/{y}.png',
  )
  expect(currentTileUrlTemplate('https://t', 'welt', 'pbf')).toBe('https://t/tiles/welt/current/{z}/{x}/{y}.pbf')
})

it('the URL of a content names its version and its revision', () => {
  const version = { version: '2026 11', revision: 3, format: 'webp' } as const
  expect(revisedTileUrlTemplate('http://t', 'wörld', version)).toBe(
    'http://t/tiles/w%C3%B6rld/2026%2011/{z}/{x}/{y}.webp?v=3',
  )
})
