import { expect, test } from 'vitest'
import { en } from '../../texts/en.js'
import { grantsText } from './grants-text.js'

const words = (basemap_codes: string[], vector_codes: string[], named?: number) =>
  grantsText({ basemap_codes, vector_codes, layer_codes: ['*'], scopes: ['read'] }, en.tokens, named)

test('grants are shown as text: a few by name, many by number', () => {
  expect(words([], [])).toBe('nothing')
  expect(words(['*'], ['*'])).toBe('everything')
  expect(words(['world'], [])).toBe('world')
  expect(words(['world', 'city'], [])).toBe('2 basemaps')
  expect(words(['world', 'city'], [], 2)).toBe('world, city')
  expect(words(['*'], ['a', 'b', 'c', 'd'])).toBe('all basemaps, 4 vectors')
})

test('the layers that a token may slice are shown next to the maps that it may read', () => {
  const slicing = (layer_codes: string[], basemap_codes: string[] = []) =>
    grantsText({ basemap_codes, vector_codes: basemap_codes, layer_codes, scopes: ['read', 'slice'] }, en.tokens)
  expect(slicing(['*'])).toBe('slices all layers')
  expect(slicing(['city'], ['*'])).toBe('everything, slices city')
  expect(slicing(['a', 'b', 'c', 'd'])).toBe('slices 4 layers')
  expect(slicing([])).toBe('nothing')
})
