import type { FlatTable } from './flatbuffer.js'
import { LINE, MULTI_LINE, MULTI_POINT, POINT, POLYGON, type WkbWriter, wkbCode } from './wkb-writer.js'

/** Fields of a geometry, in the order of the schema. */
const GEOMETRY = { ends: 0, xy: 1, z: 2, m: 3, type: 6, parts: 7 }
const CIRCULAR_STRING = 8
const TIN = 16
const TRIANGLE = 17
const POSITION_BYTES = 16
const MAX_DEPTH = 16

/** Writes a geometry of FlatGeobuf, whose types have the numbers of Well-Known Binary. Returns false if it is empty. Throws RangeError for damaged ones. */
export function writeFlatGeometry(
  table: FlatTable,
  headerType: number,
  hasZ: boolean,
  writer: WkbWriter,
  depth = 0,
): boolean {
  const type = headerType === 0 ? table.byte(GEOMETRY.type) : headerType
  if (depth > MAX_DEPTH || type < POINT || type > TRIANGLE)
    throw new RangeError(`the geometry type ${type} is not known`)
  const parts = table.tables(GEOMETRY.parts)
  const xy = table.bytes(GEOMETRY.xy, 8)
  // The triangles of a surface are its parts, or as GDAL writes them, the ends of a single one.
  const hasParts = type > MULTI_LINE && type !== CIRCULAR_STRING && type !== TRIANGLE && (type !== TIN || xy === null)
  if (hasParts) {
    writer.head(wkbCode(type, hasZ, false))
    writer.count(parts?.length ?? 0)
    for (const part of parts ?? []) {
      // Each part names its type, except polygons of several ones.
      const own = part.byte(GEOMETRY.type)
      writeFlatGeometry(part, own === 0 ? (type === 6 ? POLYGON : 0) : own, hasZ, writer, depth + 1)
    }
    return depth > 0 || (parts?.length ?? 0) > 0
  }
  if (xy === null || xy.length === 0) {
    if (depth === 0) return false
    writer.head(type)
    if (type === POINT) writer.pair(Number.NaN, Number.NaN)
    else writer.count(0)
    return true
  }
  new Positions(table, xy).write(type, writer)
  return true
}

class Positions {
  readonly #xy: Buffer
  readonly #z: Buffer | null
  readonly #m: Buffer | null
  readonly #ends: Buffer | null
  readonly #count: number

  constructor(table: FlatTable, xy: Buffer) {
    this.#xy = xy
    this.#count = Math.floor(xy.length / POSITION_BYTES)
    this.#z = this.#whole(table.bytes(GEOMETRY.z, 8))
    this.#m = this.#whole(table.bytes(GEOMETRY.m, 8))
    this.#ends = table.bytes(GEOMETRY.ends, 4)
  }

  /** Further dimensions have one number for each position. */
  #whole(numbers: Buffer | null): Buffer | null {
    return numbers !== null && numbers.length >= this.#count * 8 ? numbers : null
  }

  write(type: number, writer: WkbWriter): void {
    const code = (kind: number) => wkbCode(kind, this.#z !== null, this.#m !== null)
    writer.head(code(type))
    if (type === POINT) this.#range(0, 1, writer)
    else if (type === LINE || type === CIRCULAR_STRING) this.#line(0, this.#count, writer)
    else if (type === MULTI_POINT) {
      writer.count(this.#count)
      for (let i = 0; i < this.#count; i++) {
        writer.head(code(POINT))
        this.#range(i, i + 1, writer)
      }
    } else {
      const ends = this.#parts()
      writer.count(ends.length)
      let from = 0
      for (const to of ends) {
        if (type === MULTI_LINE) writer.head(code(LINE))
        if (type === TIN) {
          writer.head(code(TRIANGLE))
          writer.count(1)
        }
        this.#line(from, to, writer)
        from = to
      }
    }
  }

  /** One part has no ends. */
  #parts(): number[] {
    if (this.#ends === null || this.#ends.length === 0) return [this.#count]
    const ends = Array.from({ length: this.#ends.length / 4 }, (_, i) => (this.#ends as Buffer).readUInt32LE(4 * i))
    if (ends.some((end, i) => end < (ends[i - 1] ?? 0) || end > this.#count)) throw new RangeError('a part is outside')
    return ends
  }

  #line(from: number, to: number, writer: WkbWriter): void {
    writer.count(to - from)
    if (this.#z === null && this.#m === null) writer.raw(this.#xy.subarray(from * POSITION_BYTES, to * POSITION_BYTES))
    else this.#range(from, to, writer)
  }

  #range(from: number, to: number, writer: WkbWriter): void {
    for (let i = from; i < to; i++) {
      writer.raw(this.#xy.subarray(i * POSITION_BYTES, (i + 1) * POSITION_BYTES))
      if (this.#z !== null) writer.raw(this.#z.subarray(i * 8, i * 8 + 8))
      if (this.#m !== null) writer.raw(this.#m.subarray(i * 8, i * 8 + 8))
    }
  }
}
