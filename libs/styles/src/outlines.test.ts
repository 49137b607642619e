import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { fontFault, generateRange, openOutlines } from './outlines.js'

/** Subsets of Noto Sans CJK (OFL 1.1) with "A" and "骨", which has another shape in Japanese and in Chinese. */
const fixture = (name: string) => readFileSync(new URL(`testing/${name}`, import.meta.url))
const OTF = 'noto-sans-sc-subset.otf'
const TTC = 'noto-sans-jp-sc-subset.ttc'
const BONE = 0x9aa8
const glyphOf = (name: string, face: string | null, id: number) =>
  generateRange(openOutlines(fixture(name), face), id - (id % 256)).get(id)

test('an .otf file, whose curves are cubic, gives glyphs of the size that the em says', () => {
  const latin = glyphOf(OTF, null, 0x41)
  expect(latin).toMatchObject({ id: 0x41, height: 18, left: 0, advance: 15 })
  const { width = 0, height = 0, advance } = glyphOf(OTF, null, BONE) ?? {}
  expect(advance).toBe(24)
  expect([width > 19 && width < 25, height > 19 && height < 26]).toEqual([true, true])
})

test('a range that a font has nothing of is empty', () => {
  expect(generateRange(openOutlines(fixture(OTF), null), 0x600).size).toBe(0)
})

test('a .ttc file gives the face that is named, and else its first one', () => {
  const [named, japanese, first] = ['NotoSansCJKsc-Regular', 'NotoSansCJKjp-Regular', null].map((face) =>
    glyphOf(TTC, face, BONE),
  )
  expect(named).toEqual(glyphOf(OTF, null, BONE))
  expect(japanese).toEqual(first)
  expect(japanese?.bitmap).not.toEqual(named?.bitmap)
})

test('a combining mark of a .ttf file has no width, and stands left of where the next letter begins', () => {
  const file = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')
  const acute = generateRange(openOutlines(readFileSync(file), null), 0x300).get(0x301)
  expect(acute).toMatchObject({ advance: 0 })
  expect(acute?.left).toBeLessThan(0)
})

test('a file that is no font throws', () => {
  expect(() => openOutlines(Buffer.from('<html>not found</html>'), null)).toThrow()
})

test('a font that no label can be drawn from is told with the reason', () => {
  expect([OTF, TTC].map((name) => fontFault(fixture(name)))).toEqual([null, null])
  expect(fontFault(Buffer.from('<html>not found</html>'))).toMatch(/not a TrueType or OpenType/)
  const cut = fixture(OTF).subarray(0, 900)
  expect(fontFault(cut)).toMatch(/outlines|not a TrueType/)
})
