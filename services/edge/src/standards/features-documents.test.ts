import { storedVector } from '@gateway/store/testing/stored-rows.js'
import type { IndexDescription } from '@gateway/vectors/index-file/index-description.js'
import { expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { featureSchema, outwards, queryables } from './features-documents.js'

const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows: [] }, { codes: null, rows: [storedVector('places')] })
const vector = catalog.vectors.get('places')
const NAMES = ['geometry', 'id', 'type', 'properties', 'bbox', '__proto__']

const index: IndexDescription = {
  version: 1,
  storage_crs: null,
  bounds: [0, 0, 1, 1],
  feature_count: 1,
  geometry_type: 'Point',
  layers: [{ id: 'places', name: 'places', geometry_type: 'Point', feature_count: 1 }],
  fields: NAMES.map((name) => ({ name, column: name, type: 'string', layers: ['places'] })),
}

test.each([queryables, featureSchema])('fields with names of GeoJSON stand next to the geometry', (make) => {
  if (vector === undefined) throw new Error('the catalog lacks the vector')
  const document = JSON.stringify(make(vector, index, { base: 'http://maps.example', token: '' }))
  const { properties } = JSON.parse(document) as { properties: Record<string, { type?: string }> }
  expect(Object.keys(properties).toSorted()).toEqual([...NAMES, 'geometry_2'].toSorted())
  expect(properties.geometry_2).toMatchObject({ 'x-ogc-role': 'primary-geometry', format: 'geometry-point' })
  for (const name of NAMES)
    expect([name, Object.entries(properties).find(([one]) => one === name)?.[1].type]).toEqual([name, 'string'])
})

test('an extent is rounded outwards only if it lies between two steps of positions', () => {
  expect(outwards([100, 30, 100.1, 30.1])).toEqual([100, 30, 100.1, 30.1])
  expect(outwards([-180, -85.0511287798066, 180, 85.0511287798066])).toEqual([-180, -85.0511288, 180, 85.0511288])
  expect(outwards([-0.12345678, 0.12345678, 0.123456712, 0.1234567])).toEqual([
    -0.1234568, 0.1234567, 0.1234568, 0.1234567,
  ])
})
