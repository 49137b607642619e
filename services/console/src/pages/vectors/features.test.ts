import { expect, test } from 'vitest'
import { attributeText, boundsOf } from './features.js'

test('the bounds of a geometry are those of all of its parts', () => {
  const line = { type: 'LineString' as const, coordinates: [[5, -3], [7, 4]] } // biome-ignore format: a line
  const point = { type: 'Point' as const, coordinates: [-2, 60, 12] }
  expect(boundsOf(line)).toEqual([5, -3, 7, 4])
  expect(boundsOf({ type: 'GeometryCollection', geometries: [line, point] })).toEqual([-2, -3, 7, 60])
})

test('a geometry that is missing or empty has no bounds', () => {
  expect(boundsOf(null)).toBeNull()
  expect(boundsOf({ type: 'Point', coordinates: [] })).toBeNull()
  expect(boundsOf({ type: 'MultiPolygon', coordinates: [] })).toBeNull()
})

test('an attribute is shown as text, a list as JSON and a missing value as nothing', () => {
  expect([1, true, 'a', null, undefined, ['b']].map(attributeText)).toEqual(['1', 'true', 'a', '', '', '["b"]'])
})
