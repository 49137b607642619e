import { expect, test } from 'vitest'
import { parseFontStack, parseGlyphRange } from './fonts.js'
import { type Glyph, mergeGlyphs, readGlyphRange, writeGlyphRange } from './glyph-range.js'

function glyph(id: number, advance: number): Glyph {
  return { id, bitmap: new Uint8Array(8 * 9).fill(id), width: 2, height: 3, left: -1, top: -8, advance }
}

const of = (...glyphs: Glyph[]) => new Map(glyphs.map((one) => [one.id, one]))

test('a range is read as written', () => {
  const glyphs = of(glyph(65, 12), { ...glyph(32, 6), bitmap: new Uint8Array(0), width: 0, height: 0 })
  expect(readGlyphRange(writeGlyphRange('Noto', 0, glyphs), 0)).toEqual(new Map([...glyphs].sort(([a], [b]) => a - b)))
})

test('the first font of a stack that has a glyph supplies it, glyph by glyph', () => {
  const merged = mergeGlyphs([of(glyph(65, 1)), of(glyph(65, 2), glyph(66, 2)), of(glyph(66, 3), glyph(67, 3))])
  expect([...merged].map(([id, { advance }]) => [id, advance])).toEqual([
    [65, 1],
    [66, 2],
    [67, 3],
  ])
})

test('invalid data, or a bitmap of another size, is refused', () => {
  expect(() => readGlyphRange(Buffer.from('<html>not found</html>'), 0)).toThrow()
  const wrong = writeGlyphRange('Noto', 0, of({ ...glyph(65, 1), width: 30 }))
  expect(() => readGlyphRange(wrong, 0)).toThrow(/another size/)
})

test.each([
  ['0-255', 0],
  ['19968-20223', 19968],
  ['65280-65535', 65280],
  ['65536-65791', null],
  ['1-256', null],
  ['0-256', null],
  ['00-255', null],
  ['-1-254', null],
])('the range %s begins at %s', (range, first) => expect(parseGlyphRange(range)).toBe(first))

test('a stack has trimmed, distinct names, and not too many', () => {
  expect(parseFontStack('A B, C,A B')).toEqual(['A B', 'C'])
  expect(parseFontStack('A,,B')).toBeNull()
  expect(parseFontStack('')).toBeNull()
  expect(parseFontStack(Array.from({ length: 11 }, (_, i) => `F${i}`).join(','))).toBeNull()
})
