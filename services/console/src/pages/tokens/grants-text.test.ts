import { expect, test } from 'vitest'
import { en } from '../../texts/en.js'
import { grantsText } from './grants-text.js'

const words = (basemap_codes: string[], vector_codes: string[]) =>
  grantsText({ basemap_codes, vector_codes }, en.tokens)

test('grants are told in words, a few by name and many by number', () => {
  expect(words([], [])).toBe('nothing')
  expect(words(['*'], ['*'])).toBe('everything')
  expect(words(['world', 'city'], [])).toBe('world, city')
  expect(words(['*'], ['a', 'b', 'c', 'd'])).toBe('all basemaps, 4 vectors')
})
