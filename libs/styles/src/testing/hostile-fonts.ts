import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { deflateSync } from 'node:zlib'

const FONT = createRequire(import.meta.url).resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf')

/** Composite glyphs in the chain: each draws the one before it twice, so that the last takes 2^DEPTH drawings. */
const DEPTH = 60
const COMPOSITE_BYTES = 26
const ENTRY_BYTES = 16
const HEAD_BYTES = 12

type Tables = ReadonlyMap<string, Buffer>

function readTables(): Tables {
  const font = readFileSync(FONT)
  const tables = new Map<string, Buffer>()
  for (let i = 0; i < font.readUInt16BE(4); i++) {
    const entry = HEAD_BYTES + i * ENTRY_BYTES
    const [at, length] = [font.readUInt32BE(entry + 8), font.readUInt32BE(entry + 12)]
    tables.set(font.toString('latin1', entry, entry + 4), Buffer.from(font.subarray(at, at + length)))
  }
  return tables
}

function fontOf(tables: Tables): Buffer {
  const head = Buffer.alloc(HEAD_BYTES + tables.size * ENTRY_BYTES)
  head.writeUInt32BE(0x00010000)
  head.writeUInt16BE(tables.size, 4)
  const bodies: Buffer[] = []
  let at = head.length
  for (const [i, [tag, body]] of [...tables].entries()) {
    const entry = HEAD_BYTES + i * ENTRY_BYTES
    head.write(tag, entry, 'latin1')
    head.writeUInt32BE(at, entry + 8)
    head.writeUInt32BE(body.length, entry + 12)
    const padded = Buffer.alloc(Math.ceil(body.length / 4) * 4)
    body.copy(padded)
    bodies.push(padded)
    at += padded.length
  }
  return Buffer.concat([head, ...bodies])
}

/** A character map of 32 bits with these groups (OpenType, `cmap`, format 12). */
function mapOf(groups: readonly (readonly [first: number, last: number, glyph: number])[]): Buffer {
  const map = Buffer.alloc(12 + 16 + groups.length * 12)
  map.writeUInt16BE(1, 2)
  map.writeUInt16BE(3, 4)
  map.writeUInt16BE(10, 6)
  map.writeUInt32BE(12, 8)
  map.writeUInt16BE(12, 12)
  map.writeUInt32BE(map.length - 12, 16)
  map.writeUInt32BE(groups.length, 24)
  for (const [i, [first, last, glyph]] of groups.entries()) {
    map.writeUInt32BE(first, 28 + i * 12)
    map.writeUInt32BE(last, 32 + i * 12)
    map.writeUInt32BE(glyph, 36 + i * 12)
  }
  return map
}

/** Replaces all glyphs by composite ones; `partsOf` names the two glyphs that each one draws. */
function composites(partsOf: (id: number) => readonly [number, number] | null): Buffer {
  const tables = new Map(readTables())
  const glyphs = (tables.get('maxp') as Buffer).readUInt16BE(4)
  const [glyf, loca] = [Buffer.alloc(glyphs * COMPOSITE_BYTES), Buffer.alloc((glyphs + 1) * 4)]
  for (let id = 0; id < glyphs; id++) {
    loca.writeUInt32BE((id + 1) * COMPOSITE_BYTES, (id + 1) * 4)
    const parts = partsOf(id)
    // Without parts it has no contours.
    if (parts === null) continue
    glyf.writeInt16BE(-1, id * COMPOSITE_BYTES)
    // Flags: offsets of a byte each; for the first part also that another one follows.
    const words = [0x0022, parts[0], 0, 0x0002, parts[1], 0]
    words.forEach((word, i) => void glyf.writeUInt16BE(word, id * COMPOSITE_BYTES + 10 + i * 2))
  }
  // The head says that `loca` has 32 bits.
  ;(tables.get('head') as Buffer).writeInt16BE(1, 50)
  return fontOf(tables.set('glyf', glyf).set('loca', loca))
}

/** Returns a TrueType font in which every letter is a glyph whose drawing never ends. All its tables are well-formed. */
export function endlessFont(): Buffer {
  return composites((id) => (id === DEPTH ? null : id < DEPTH ? [id + 1, id + 1] : [0, 0]))
}

/** A WOFF whose tables unpack to many times their size. */
function woffOf(tag: string, packed: Buffer, unpackedBytes: number): Buffer {
  const head = Buffer.alloc(44 + 20)
  head.write('wOFF', 0, 'latin1')
  head.writeUInt32BE(0x00010000, 4)
  head.writeUInt32BE(head.length + packed.length, 8)
  head.writeUInt16BE(1, 12)
  head.write(tag, 44, 'latin1')
  head.writeUInt32BE(head.length, 48)
  head.writeUInt32BE(packed.length, 52)
  head.writeUInt32BE(unpackedBytes, 56)
  return Buffer.concat([head, packed])
}

const GIGABYTE = 1024 * 1024 * 1024

/** Fonts that no program should trust, by what is wrong with them. */
export const HOSTILE_FONTS: Readonly<Record<string, () => Buffer>> = {
  'one group of all code points of 32 bits': () =>
    fontOf(new Map(readTables()).set('cmap', mapOf([[0, 0xffffffff, 1]]))),
  'thousands of groups that overlap': () =>
    fontOf(new Map(readTables()).set('cmap', mapOf(Array.from({ length: 5000 }, () => [0, 0x10ffff, 1] as const)))),
  'a group that ends before it begins': () => fontOf(new Map(readTables()).set('cmap', mapOf([[0x41, 0x20, 1]]))),
  'glyphs whose drawing never ends': endlessFont,
  'glyphs that draw themselves': () => composites((id) => [id, id]),
  'more glyphs than its tables': () => {
    const tables = new Map(readTables())
    tables.get('maxp')?.writeUInt16BE(0xffff, 4)
    return fontOf(tables.set('loca', Buffer.alloc(8)))
  },
  'a WOFF that says it unpacks to gigabytes': () => woffOf('head', deflateSync(Buffer.alloc(1024)), 3 * GIGABYTE),
  'a WOFF whose table unpacks to many times its size': () =>
    woffOf('cmap', deflateSync(Buffer.alloc(300 * 1024 * 1024)), 300 * 1024 * 1024),
  'a collection of millions of fonts': () => {
    const head = Buffer.alloc(16)
    head.write('ttcf', 0, 'latin1')
    head.writeUInt32BE(0x00010000, 4)
    head.writeUInt32BE(0x0fffffff, 8)
    return Buffer.concat([head, Buffer.alloc(4096)])
  },
}
