import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignCodes, reducedCode } from './vector-codes.js'

test.each([
  ['countries.geojson', 'countries'],
  ['roads/main roads.shp', 'roads-main-roads'],
  ['a/b_c.json', 'a-b_c'],
  ['Zürich/Straßen.geojson', 'Zurich-Straen'],
  ['v1.2.geojson', 'v1-2'],
  ['世界.geojson', 'vector'],
  ['世界/x.geojson', 'x'],
  ['UPPER.SHP', 'UPPER'],
])('%s becomes %s', (path, code) => {
  expect(reducedCode(path)).toBe(code)
})

test('a code is ASCII letters, digits, - and _, of at most 180 characters, whatever the path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (path) => {
      expect(reducedCode(path)).toMatch(/^[A-Za-z0-9_-]{1,180}$/)
    }),
  )
})

test('of clashing paths the first in order gets the plain code, and the others the lowest free suffix', () => {
  const codes = assignCodes(['a b.json', 'a-b.json', 'a/b.json'], new Map(), new Set(['a-b-3']))
  expect([...codes]).toEqual([
    ['a b.json', 'a-b'],
    ['a-b.json', 'a-b-2'],
    ['a/b.json', 'a-b-4'],
  ])
})

test('a known path keeps its code even where the plain one has become free', () => {
  expect(assignCodes(['a b.json'], new Map([['a b.json', 'a-b-2']]), new Set(['a-b-2'])).get('a b.json')).toBe('a-b-2')
})
