import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const NOTO = createRequire(import.meta.url).resolve('@gateway/styles/shipped-fonts.js')
const FONT = createRequire(NOTO).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')

/** Composite glyphs in the chain: each draws the one before it twice, so that the last takes 2^DEPTH drawings. */
const DEPTH = 60
const COMPOSITE_BYTES = 26
const TABLE_ENTRY_BYTES = 16

/** Returns a TrueType font in which every letter is a glyph whose drawing never ends. All its tables are well-formed. */
export function endlessFont(): Buffer {
  const font = readFileSync(FONT)
  const entryOf = (tag: string) => {
    for (let i = 0; i < font.readUInt16BE(4); i++) {
      const entry = 12 + i * TABLE_ENTRY_BYTES
      if (font.toString('latin1', entry, entry + 4) === tag) return entry
    }
    throw new Error(`the font has no table ${tag}`)
  }
  const offsetOf = (tag: string) => font.readUInt32BE(entryOf(tag) + 8)
  const glyphs = font.readUInt16BE(offsetOf('maxp') + 4)
  const [glyf, loca] = [Buffer.alloc(glyphs * COMPOSITE_BYTES), Buffer.alloc((glyphs + 1) * 4)]
  for (let id = 0; id < glyphs; id++) {
    loca.writeUInt32BE((id + 1) * COMPOSITE_BYTES, (id + 1) * 4)
    // The glyph after the chain has no contours.
    if (id === DEPTH) continue
    glyf.writeInt16BE(-1, id * COMPOSITE_BYTES)
    const component = id < DEPTH ? id + 1 : 0
    // Flags: offsets of a byte each; for the first component also that another one follows.
    const part = [0x0022, component, 0, 0x0002, component, 0]
    part.forEach((word, i) => void glyf.writeUInt16BE(word, id * COMPOSITE_BYTES + 10 + i * 2))
  }
  // The head says that `loca` has 32 bits.
  font.writeInt16BE(1, offsetOf('head') + 50)
  const place = (tag: string, offset: number, bytes: Buffer) => {
    font.writeUInt32BE(offset, entryOf(tag) + 8)
    font.writeUInt32BE(bytes.length, entryOf(tag) + 12)
  }
  place('glyf', font.length, glyf)
  place('loca', font.length + glyf.length, loca)
  return Buffer.concat([font, glyf, loca])
}
