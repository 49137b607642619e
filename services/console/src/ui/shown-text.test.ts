import { expect, test } from 'vitest'
import { shortText, shownText } from './shown-text.js'

test('direction marks and line breaks are made visible instead of taking effect', () => {
  expect(shownText('a\u202eelbaliava\u202c\nb')).toBe('a\ufffdelbaliava\ufffd\ufffdb')
  expect(shownText('Straße 東京 שלום')).toBe('Straße 東京 שלום')
})

test('in a sentence a name is cut at a whole character, and isolated if it runs from right to left', () => {
  expect(shortText('city')).toBe('city')
  expect(shortText('x'.repeat(180))).toBe(`${'x'.repeat(59)}…`)
  expect(shortText('🗺'.repeat(61))).toBe(`${'🗺'.repeat(59)}…`)
  expect(shortText('שלום')).toBe('\u2068שלום\u2069')
  // A closing isolate inside the name does not end the isolation.
  expect(shortText('שלום\u2069')).toBe('\u2068שלום\ufffd\u2069')
})
