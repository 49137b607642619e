import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignCodes, reducedCode } from './codes.js'

test.each([
  ['countries.geojson', 'countries'],
  ['roads/main roads.shp', 'roads-main-roads'],
  ['a/b_c.json', 'a-b_c'],
  ['Zürich/Straßen.geojson', 'Zurich-Strassen'],
  ['Zu\u0308rich.geojson', 'Zurich'],
  ['v1.2.geojson', 'v1-2'],
  ['世界.geojson', 'shi-jie'],
  ['世界/x.geojson', 'shi-jie-x'],
  ['重庆/道路2024版.shp', 'chong-qing-dao-lu-2024-ban'],
  ['旅游_路线.shp', 'lv-you_lu-xian'],
  ['Москва/Дороги.geojson', 'Moskva-Dorogi'],
  ['서울.geojson', 'SeoUl'],
  ['Αθήνα.geojson', 'Athina'],
  ['\u{10ffff}.geojson', 'vector'],
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

test('the first of several clashing paths gets the plain code, and the others the lowest free suffix', () => {
  const codes = assignCodes(['a b.json', 'a-b.json', 'a/b.json'], new Map(), new Set(['a-b-3']))
  expect([...codes]).toEqual([
    ['a b.json', 'a-b'],
    ['a-b.json', 'a-b-2'],
    ['a/b.json', 'a-b-4'],
  ])
})

test('a known path keeps its code even if the plain one has become free', () => {
  expect(assignCodes(['a b.json'], new Map([['a b.json', 'a-b-2']]), new Set(['a-b-2'])).get('a b.json')).toBe('a-b-2')
})
