import { PbfReader, PbfWriter } from 'pbf'

/** A glyph in MapLibre's range format: 24 pixels to the em, with a border of 3. */
export interface Glyph {
  readonly id: number
  /** distances, (width + 6) x (height + 6) bytes; empty: the glyph draws nothing */
  readonly bitmap: Uint8Array
  readonly width: number
  readonly height: number
  readonly left: number
  readonly top: number
  readonly advance: number
}

/** Maximum bytes of a range that is read. The largest ones of CJK fonts have 300 kB. */
export const MAX_RANGE_BYTES = 4 * 1024 * 1024
/** Maximum pixels of a glyph's side; labels are never larger. */
const MAX_SIDE = 512
const BORDER = 3

/** Returns the glyphs of a range by code point. Throws for other content. */
export function readGlyphRange(bytes: Uint8Array, first: number): Map<number, Glyph> {
  const glyphs = new Map<number, Glyph>()
  new PbfReader(bytes).readFields((tag, into, range) => {
    if (tag === 1) range.readFields(readStackField, into, range.readVarint() + range.pos)
  }, glyphs)
  for (const id of glyphs.keys()) if (id < first || id > first + 255) glyphs.delete(id)
  return glyphs
}

function readStackField(tag: number, into: Map<number, Glyph>, stack: PbfReader): void {
  if (tag !== 3) return
  const glyph = readGlyph(stack, stack.readVarint() + stack.pos)
  if (!into.has(glyph.id)) into.set(glyph.id, glyph)
}

function readGlyph(reader: PbfReader, end: number): Glyph {
  const glyph = { id: 0, bitmap: new Uint8Array(0), width: 0, height: 0, left: 0, top: 0, advance: 0 }
  reader.readFields(
    (tag, into, at) => {
      if (tag === 1) into.id = at.readVarint()
      else if (tag === 2) into.bitmap = at.readBytes().slice()
      else if (tag === 3) into.width = at.readVarint()
      else if (tag === 4) into.height = at.readVarint()
      else if (tag === 5) into.left = at.readSVarint()
      else if (tag === 6) into.top = at.readSVarint()
      else if (tag === 7) into.advance = at.readVarint()
    },
    glyph,
    end,
  )
  const { bitmap, width, height } = glyph
  const expected = (width + 2 * BORDER) * (height + 2 * BORDER)
  if (width > MAX_SIDE || height > MAX_SIDE || (bitmap.length > 0 && bitmap.length !== expected))
    throw new Error(`the glyph ${glyph.id} has another size than it says`)
  return glyph
}

/** Writes the message that MapLibre reads, with glyphs in the order of their code points. */
export function writeGlyphRange(name: string, first: number, glyphs: ReadonlyMap<number, Glyph>): Uint8Array {
  const writer = new PbfWriter()
  const ordered = [...glyphs.values()].sort((a, b) => a.id - b.id)
  writer.writeMessage(
    1,
    (_, stack) => {
      stack.writeStringField(1, name)
      stack.writeStringField(2, `${first}-${first + 255}`)
      for (const glyph of ordered) stack.writeMessage(3, writeGlyph, glyph)
    },
    null,
  )
  return writer.finish()
}

function writeGlyph({ id, bitmap, width, height, left, top, advance }: Glyph, writer: PbfWriter): void {
  writer.writeVarintField(1, id)
  if (bitmap.length > 0) writer.writeBytesField(2, bitmap)
  writer.writeVarintField(3, width)
  writer.writeVarintField(4, height)
  writer.writeSVarintField(5, left)
  writer.writeSVarintField(6, top)
  writer.writeVarintField(7, advance)
}

/** Merges the ranges of several fonts: for each glyph, the first font that has it wins. */
export function mergeGlyphs(fonts: readonly ReadonlyMap<number, Glyph>[]): Map<number, Glyph> {
  const merged = new Map<number, Glyph>()
  for (const font of fonts) for (const [id, glyph] of font) if (!merged.has(id)) merged.set(id, glyph)
  return merged
}
