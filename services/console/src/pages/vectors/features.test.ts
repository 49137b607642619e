import { expect, test } from 'vitest'
import { asCollection, attributeNames, attributeText, boundsOf, readFeatures } from './features.js'

test('a bare geometry and a single feature become collections of one feature', () => {
  const point = { type: 'Point' as const, coordinates: [1, 2] }
  const feature = { type: 'Feature' as const, properties: { a: 1 }, geometry: point }
  expect(asCollection(point).features).toHaveLength(1)
  expect(asCollection(feature).features).toEqual([feature])
})

test('bounds span every position, also in geometry collections, and ignore features without geometry', () => {
  const collection = asCollection({
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [10, 50] },
      {
        type: 'Polygon',
        coordinates: [
          [
            [-5, 40],
            [0, 41, 99],
            [0, 45],
            [-5, 40],
          ],
        ],
      },
    ],
  })
  collection.features.push({ type: 'Feature', properties: null, geometry: null as never })
  expect(boundsOf(collection)).toEqual([-5, 40, 10, 50])
  expect(boundsOf({ type: 'FeatureCollection', features: [] })).toBeNull()
})

test('attributes are listed in the order in which they occur, and shown as text', () => {
  const of = (properties: Record<string, unknown> | null) => ({
    type: 'Feature' as const,
    properties,
    geometry: null as never,
  })
  expect(attributeNames([of({ b: 1 }), of(null), of({ a: 2, b: 3 })])).toEqual(['b', 'a'])
  expect([null, 0, { x: [1] }, 'text'].map(attributeText)).toEqual(['', '0', '{"x":[1]}', 'text'])
})

test('content that is not GeoJSON is refused with the reason', async () => {
  await expect(readFeatures(new Blob(['{']), 'geojson')).rejects.toThrow()
})
