import { UNKNOWN_FACTS, type VectorFacts } from '@gateway/contracts/vector.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { geojsonFacts } from './geojson.js'
import { makeTree, type Tree } from './testing/trees.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

function facts(content: object | string, maxBytes?: number): VectorFacts {
  tree.put('x.json', typeof content === 'string' ? content : JSON.stringify(content))
  return geojsonFacts(tree.root, tree.at('x.json'), () => {}, maxBytes === undefined ? {} : { maxBytes }).facts
}

const UNREAD = { ...UNKNOWN_FACTS, encoding: 'UTF-8', encoding_source: 'format' }
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const feature = (geometry: object | null, properties: object | null = {}) => ({ type: 'Feature', properties, geometry })
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features })

test('a collection contains all facts', () => {
  const content = collection(
    feature(point(8, 47, 400), { name: 'a', height: 1, 'is open': true, tags: ['x'], note: null }),
    feature({ type: 'MultiPoint', coordinates: [point(-3, 50).coordinates, [9, 10]] }, { name: null, height: 'high' }),
  )
  expect(facts(content)).toEqual({
    crs: 'EPSG:4326',
    bounds: [-3, 10, 9, 50],
    geometry_type: 'MultiPoint',
    feature_count: 2,
    fields: [
      { name: 'name', type: 'string' },
      { name: 'height', type: 'json' },
      { name: 'is open', type: 'boolean' },
      { name: 'tags', type: 'json' },
      { name: 'note', type: 'json' },
    ],
    encoding: 'UTF-8',
    encoding_source: 'format',
  })
})

test.each([
  ['a geometry', point(8, 47), { geometry_type: 'Point', feature_count: 1, fields: [], bounds: [8, 47, 8, 47] }],
  ['a feature', feature(point(8, 47), { a: 1 }), { geometry_type: 'Point', feature_count: 1, bounds: [8, 47, 8, 47] }],
  ['an empty collection', collection(), { geometry_type: null, feature_count: 0, bounds: null, crs: 'EPSG:4326' }],
  ['no geometry', collection(feature(null, null)), { geometry_type: null, feature_count: 1, fields: [] }],
  [
    'nested geometries',
    {
      type: 'GeometryCollection',
      geometries: [point(1, 2), { type: 'GeometryCollection', geometries: [point(3, 4)] }],
    },
    { geometry_type: 'GeometryCollection', bounds: [1, 2, 3, 4] },
  ],
  [
    'several kinds',
    collection(feature(point(1, 2)), feature({ type: 'LineString', coordinates: [] })),
    { geometry_type: 'Geometry' },
  ],
  [
    'lines of one and of several parts',
    collection(feature({ type: 'MultiLineString' }), feature({ type: 'LineString' })),
    { geometry_type: 'MultiLineString' },
  ],
  [
    'members of properties that look like others',
    feature(point(1, 2), { coordinates: [99, 99], type: 'Polygon', features: [{}] }),
    { geometry_type: 'Point', bounds: [1, 2, 1, 2], feature_count: 1 },
  ],
])('%s', (_, content, expected) => {
  expect(facts(content)).toMatchObject(expected)
})

describe('the coordinate system', () => {
  const named = (name: string, ...coordinates: number[]) => ({
    crs: { type: 'name', properties: { name } },
    ...point(...coordinates),
  })
  test.each([
    [named('urn:ogc:def:crs:OGC:1.3:CRS84', 8, 47), 'EPSG:4326', [8, 47, 8, 47]],
    [named('urn:ogc:def:crs:EPSG::4490', 110, 30), 'EPSG:4490', [110, 30, 110, 30]],
    [named('urn:ogc:def:crs:EPSG::3857', 0, 0), 'EPSG:3857', [0, 0, 0, 0]],
    [named('EPSG:99999', 1, 1), 'EPSG:99999', null],
    [named('ours', 1, 1), 'ours', null],
    [{ crs: null, ...point(1, 1) }, null, null],
    [point(500_000, 3_000_000), null, null],
  ])('%j', (content, crs, bounds) => {
    const told = facts(content)
    expect(told.crs).toBe(crs)
    expect(told.bounds?.map((value) => Math.round(value * 1e6) / 1e6) ?? null).toEqual(bounds)
  })
})

test.each([
  ['broken', '{"type":"Point","coordinates":[1,2'],
  ['no JSON at all', 'hello'],
  ['mismatched', '{"type":"Point","coordinates":[1,2}]'],
  ['nested too deep', `{"type":"Polygon","coordinates":${'['.repeat(1000)}${']'.repeat(1000)}}`],
])('%s: only the encoding is known', (_, content) => {
  expect(facts(content)).toEqual(UNREAD)
})

test('a file above the limit is not read', () => {
  const content = JSON.stringify(point(1, 2))
  expect(facts(content, content.length)).toMatchObject({ geometry_type: 'Point' })
  expect(facts(content, content.length - 1)).toEqual(UNREAD)
})

test('more fields than the limit are null, and long names are cut', () => {
  const fields = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, i]))
  expect(facts(feature(null, fields(256))).fields).toHaveLength(256)
  expect(facts(feature(null, fields(257))).fields).toBeNull()
  expect(facts(feature(null, { ['x'.repeat(10_000)]: 1 })).fields?.[0]?.name).toHaveLength(200)
})

test('bounds and counts equal those of a simple reading, wherever pieces of the file end', () => {
  const position = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  )
  const filler = 'é'.repeat(65_530)
  fc.assert(
    fc.property(fc.array(position, { minLength: 1, maxLength: 20 }), fc.nat(12), (positions, shift) => {
      const content = collection(...positions.map((at) => feature(point(...at))))
      const told = facts({ note: filler.slice(shift), ...content })
      const [x, y] = [positions.map(([lon]) => lon), positions.map(([, lat]) => lat)]
      expect(told.feature_count).toBe(positions.length)
      // JSON has no -0.
      const bounds = [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)].map((value) => value + 0)
      expect(told.bounds?.map((value) => value + 0)).toEqual(bounds)
    }),
    { numRuns: 30 },
  )
})

test('no JSON causes an error', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(Object.keys(facts(`{"type":"Feature","geometry":${json},"crs":${json},"features":${json}}`))).toHaveLength(
        7,
      )
    }),
  )
})
