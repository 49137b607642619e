import { expect, test } from 'vitest'
import { layerCodeOf, wrongInCode, wrongInLayerCode } from './codes.js'

test.each([
  ['city map', null],
  ['城市', null],
  ['a.b', null],
  ['a*', null],
  ['.hidden', '.'],
  ['*', '*'],
  ['a/b', '/'],
  ['a\\b', '\\'],
  ['a\tb', '\t'],
])('in the code %j the first wrong character is %j', (code, wrong) => {
  expect(wrongInCode(code)).toBe(wrong)
})

test.each([
  ['影像 city', null, 'city'],
  ['影像', null, null],
  ['a b', ' ', null],
  ['.hidden', '.', null],
  ['v1.2-b_c', null, 'v1.2-b_c'],
])('the layer code %j has the wrong character %j and becomes %j', (text, wrong, code) => {
  expect([wrongInLayerCode(text), layerCodeOf(text)]).toEqual([wrong, code])
})
