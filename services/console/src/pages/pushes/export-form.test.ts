import { expect, test } from 'vitest'
import { parseBounds } from './export-form.js'

test('bounds are four numbers, and an empty field means everything', () => {
  expect(parseBounds(' ')).toBeUndefined()
  expect(parseBounds('5.9, 45.8, 10.5, 47.8')).toEqual([5.9, 45.8, 10.5, 47.8])
  expect(parseBounds('170 -20 -170 -10')).toEqual([170, -20, -170, -10])
  for (const wrong of ['5.9, 45.8, 10.5', '5, 47, 10, 45', 'a b c d', '0 0 200 10', '1 2 1 3'])
    expect([wrong, parseBounds(wrong)]).toEqual([wrong, null])
})
