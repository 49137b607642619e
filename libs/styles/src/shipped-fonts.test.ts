import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fallbackNames } from './fallback-fonts.js'
import { SHIPPED_FONT_NAMES, shippedFonts } from './shipped-fonts.js'

test('every installation has the fonts of the gateway, and each font that is found is a file', () => {
  const fonts = shippedFonts()
  expect(fonts.map(({ name }) => name)).toEqual(expect.arrayContaining([...SHIPPED_FONT_NAMES]))
  expect(fonts.filter(({ path }) => !existsSync(path))).toEqual([])
})

test.each([
  ['My Font', 0, ['Noto Sans Regular', 'Noto Sans Arabic Regular', 'Noto Sans CJK SC Regular']],
  [
    'My Bold',
    0x4e00,
    [
      'Noto Sans Bold',
      'Noto Sans Regular',
      'Noto Sans Arabic Bold',
      'Noto Sans Arabic Regular',
      'Noto Sans CJK SC Bold',
      'Noto Sans CJK SC Regular',
    ],
  ],
  [
    'My Italic',
    0x500,
    [
      'Noto Sans Italic',
      'Noto Sans Regular',
      'Noto Sans Arabic Regular',
      'Noto Sans Hebrew Regular',
      'Noto Sans Armenian Regular',
      'Noto Sans CJK SC Regular',
    ],
  ],
])('behind %s stand, for the range of %i, the fonts that may have it', (font, range, names) => {
  expect(fallbackNames(font, range)).toEqual(names)
})
