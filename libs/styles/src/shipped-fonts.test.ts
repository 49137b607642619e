import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { box, chooseSystemFonts, fallbackNames, missingFrom } from './fallback-fonts.js'
import { readGlyphRange, writeGlyphRange } from './glyph-range.js'
import { SHIPPED_FONT_NAMES, shippedFonts } from './shipped-fonts.js'
import { type CodePoints, subsetRange } from './subset-fonts.js'
import { findSystemFonts, type SystemFont } from './system-fonts.js'

const MIDDLE = 0x4e2d

test('every installation has the fonts of the gateway, and each font that is found exists', () => {
  const fonts = shippedFonts()
  expect(fonts.map(({ name }) => name)).toEqual([...SHIPPED_FONT_NAMES])
  expect(fonts.filter(({ path }) => !existsSync(path))).toEqual([])
})

test.each([
  ['My Font', ['Noto Sans Regular', 'Noto Sans Arabic Regular', 'Noto Sans SC Regular']],
  ['My Bold', ['Noto Sans Bold', 'Noto Sans Regular', 'Noto Sans Arabic Bold', 'Noto Sans SC Bold']],
  ['My Italic', ['Noto Sans Italic', 'Noto Sans Regular', 'Noto Sans Arabic Regular', 'Noto Sans SC Regular']],
])('behind %s stand the fonts of the gateway that look like it', (font, names) => {
  expect(fallbackNames(font)).toEqual(names)
})

test('ideographs are shipped in a regular and a bold weight', async () => {
  const [regular, bold] = ['Noto Sans SC Regular', 'Noto Sans SC Bold'].map((name) =>
    shippedFonts().find((font) => font.name === name),
  )
  const inkOf = async (font: typeof regular) => {
    const glyphs = await subsetRange(font?.path ?? '', font?.weight, 0x4e00)
    expect(glyphs.size).toBeGreaterThan(200)
    expect(glyphs.get(MIDDLE)).toMatchObject({ advance: 24 })
    return glyphs.get(MIDDLE)?.bitmap.reduce((sum, value) => sum + value, 0) ?? 0
  }
  expect(await inkOf(bold)).toBeGreaterThan((await inkOf(regular)) * 1.05)
})

test('only characters that draw something are missing, and a box replaces them', () => {
  expect(missingFrom(new Map(), 0)).not.toContain(0x20)
  expect(missingFrom(new Map(), 0)).toContain(0x41)
  // Tags, private use, and variation selectors draw nothing.
  expect([0xe000, 0xfe00].map((first) => missingFrom(new Map(), first).filter((id) => id < first + 16))).toEqual([
    [],
    [],
  ])
  const read = readGlyphRange(writeGlyphRange('Boxes', 0xf00, new Map([[0xf40, box(0xf40)]])), 0xf00)
  expect(read.get(0xf40)?.bitmap.some((value) => value > 192)).toBe(true)
})

function font(name: string, has: CodePoints, looks: Partial<SystemFont> = {}): SystemFont {
  const file = { kind: 'outlines', path: `/fonts/${name}`, root: '/fonts', face: null, fingerprint: '1' } as const
  return { ...file, name, has, isBold: false, isItalic: false, ...looks }
}

test('the system supplies fonts of any name that have what is missing, and those that look alike come first', () => {
  const tibetan: CodePoints = [[0xf00, 0xfff]]
  const fonts = [
    font('Serif', tibetan),
    font('Latin', [[0x20, 0x7e]]),
    font('Machine Sans Bold', tibetan, { isBold: true }),
    font('Machine Sans', [[0xf40, 0xf40]]),
  ]
  const named = (like: string) => chooseSystemFonts(fonts, [0xf40, 0xf41], like).map(({ name }) => name)
  expect(named('Noto Sans Regular')).toEqual(['Machine Sans', 'Serif'])
  expect(named('Noto Sans Bold')).toEqual(['Machine Sans Bold'])
  expect(chooseSystemFonts(fonts, [MIDDLE], 'Noto Sans Regular')).toEqual([])
})

test('fonts of this system are listed with the characters that they have', async () => {
  // A machine may have no font at all.
  for (const { path, has } of await findSystemFonts()) {
    expect(existsSync(path)).toBe(true)
    expect(has.every(([first, last]) => first <= last)).toBe(true)
  }
})
