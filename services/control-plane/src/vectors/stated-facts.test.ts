import type { SeenFacts } from '@gateway/store/vector-builds.js'
import type { IndexDescription } from '@gateway/vectors/index-file/index-description.js'
import { expect, test } from 'vitest'
import { correctedFacts } from './run-build.js'

const FOUND = {
  bounds: [10, 50, 14, 54],
  feature_count: 5,
  geometry_type: 'Point',
  fields: [{ name: '名' }],
  layers: [{}],
} as unknown as IndexDescription
const STATED: SeenFacts = {
  bounds: [10, 50, 14, 54],
  feature_count: 5,
  geometry_type: 'Point',
  fields: [{ name: '名', type: 'string' }],
}

test.each([
  ['what is right', {}, {}, null],
  ['several parts for single ones', { geometry_type: 'MultiPoint' }, {}, null],
  ['any kind', { geometry_type: 'Geometry' }, {}, null],
  ['another kind', { geometry_type: 'Polygon' }, { geometry_type: 'Point' }, null],
  ['more features', { feature_count: 500 }, { feature_count: 5 }, 'vector_states_count'],
  ['no number of features', { feature_count: null }, { feature_count: 5 }, null],
  ['another place', { bounds: [-1, -1, 1, 1] }, { bounds: [10, 50, 14, 54] }, 'vector_states_extent'],
  ['no place', { bounds: null }, { bounds: [10, 50, 14, 54] }, null],
  [
    'names in another encoding',
    { fields: [{ name: 'Ãû', type: 'string' }] },
    { fields: [{ name: '名', type: 'string' }] },
    null,
  ],
  ['more fields', { fields: [] }, {}, null],
  ['a rounded extent', { bounds: [9.9999, 50, 14, 54] }, { bounds: [10, 50, 14, 54] }, null],
  ['an extent across the antimeridian', { bounds: [170, 50, -170, 54] }, {}, null],
] as const)('of a file that states %s, only what differs is corrected', (_, stated, facts, code) => {
  const corrected = correctedFacts({ ...STATED, ...stated } as SeenFacts, FOUND)
  expect(corrected.facts).toEqual(facts)
  expect(corrected.note?.code ?? null).toBe(code)
})

test('facts that no scan has read stay unknown', () => {
  expect(correctedFacts(null, FOUND)).toEqual({ facts: {}, note: null })
})
