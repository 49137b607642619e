import fs from 'node:fs'
import type { Geometry } from '../query/cql2/expression.js'

/** Added to the type of shapes with heights. */
const WITH_Z = 10
const HEADER_BYTES = 100
/** A point with a height has a place for a measure; values below -10^38 mean none. */
const NO_MEASURE = -1e39
const BUFFER_BYTES = 1024 * 1024

type Position = readonly number[]

/** A column of a dBASE table. */
export interface DbfColumn {
  readonly name: string
  readonly type: 'C' | 'N' | 'L' | 'D'
  readonly width: number
  readonly decimals: number
}

/** Writes the three files of a shapefile (ESRI Shapefile Technical Description, July 1998) at the same time. */
export class ShapeWriter {
  readonly #type: number
  readonly #hasZ: boolean
  readonly #columns: readonly DbfColumn[]
  readonly #shp: File
  readonly #shx: File
  readonly #dbf: File
  readonly #box = [Infinity, Infinity, -Infinity, -Infinity] as [number, number, number, number]
  readonly #heights = [Infinity, -Infinity] as [number, number]
  #count = 0

  /** @param path without an extension. @param type of a shape without heights */
  constructor(path: string, type: number, hasZ: boolean, columns: readonly DbfColumn[]) {
    this.#type = type + (hasZ ? WITH_Z : 0)
    this.#hasZ = hasZ
    this.#columns = columns
    this.#shp = new File(`${path}.shp`)
    this.#shx = new File(`${path}.shx`)
    this.#dbf = new File(`${path}.dbf`)
    this.#shp.add(Buffer.alloc(HEADER_BYTES))
    this.#shx.add(Buffer.alloc(HEADER_BYTES))
    this.#dbf.add(this.#dbfHeader())
  }

  add(geometry: Geometry | null, cells: readonly (string | null)[]): void {
    const shape = geometry === null || geometry.type === 'GeometryCollection' ? NULL_SHAPE : this.#shape(geometry)
    const head = Buffer.alloc(8)
    head.writeInt32BE(++this.#count, 0)
    head.writeInt32BE(shape.length / 2, 4)
    const entry = Buffer.alloc(8)
    entry.writeInt32BE(this.#shp.size / 2, 0)
    entry.writeInt32BE(shape.length / 2, 4)
    // Offsets are counted in units of two bytes, in 32 bits.
    if (this.#shp.size + shape.length > 2 ** 32 - 1) throw new RangeError('a shapefile holds at most 4 GiB')
    this.#shx.add(entry)
    this.#shp.add(head)
    this.#shp.add(shape)
    this.#dbf.add(this.#record(cells))
  }

  finish(): void {
    this.#dbf.add(Buffer.from([0x1a]))
    this.#dbf.replace(this.#dbfHeader())
    for (const file of [this.#shp, this.#shx]) file.replace(this.#header(file.size))
  }

  close(): void {
    for (const file of [this.#shp, this.#shx, this.#dbf]) file.close()
  }

  #header(size: number): Buffer {
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeInt32BE(9994, 0)
    header.writeInt32BE(size / 2, 24)
    header.writeInt32LE(1000, 28)
    header.writeInt32LE(this.#type, 32)
    if (this.#box[0] <= this.#box[2]) this.#box.forEach((value, i) => void header.writeDoubleLE(value, 36 + 8 * i))
    if (this.#heights[0] <= this.#heights[1])
      this.#heights.forEach((value, i) => void header.writeDoubleLE(value, 68 + 8 * i))
    return header
  }

  #shape(geometry: Exclude<Geometry, { type: 'GeometryCollection' }>): Buffer {
    const { type, coordinates } = geometry
    if (type === 'Point') return coordinates.length < 2 ? NULL_SHAPE : this.#point(coordinates as Position)
    if (type === 'MultiPoint') return this.#several([coordinates as Position[]], false)
    const lines = type.startsWith('Multi')
      ? (coordinates as Position[][])
      : type === 'LineString'
        ? [coordinates as Position[]]
        : (coordinates as Position[][])
    const parts = type === 'MultiPolygon' ? (coordinates as unknown as Position[][][]).flat() : lines
    const rings = parts.filter((part) => part.length > 0)
    // Outer rings run clockwise here, and counterclockwise in the index.
    return this.#several(type.endsWith('Polygon') ? rings.map((ring) => [...ring].reverse()) : rings, true)
  }

  #point(position: Position): Buffer {
    this.#extend(position)
    const record = Buffer.alloc(this.#hasZ ? 36 : 20)
    record.writeInt32LE(this.#type, 0)
    record.writeDoubleLE(position[0] as number, 4)
    record.writeDoubleLE(position[1] as number, 12)
    if (this.#hasZ) {
      record.writeDoubleLE(heightOf(position), 20)
      record.writeDoubleLE(NO_MEASURE, 28)
    }
    return record
  }

  #several(parts: readonly (readonly Position[])[], hasParts: boolean): Buffer {
    const positions = parts.flat()
    if (positions.length === 0) return NULL_SHAPE
    const head = hasParts ? 44 + 4 * parts.length : 40
    const record = Buffer.alloc(head + 16 * positions.length + (this.#hasZ ? 16 + 8 * positions.length : 0))
    record.writeInt32LE(this.#type, 0)
    if (hasParts) {
      record.writeInt32LE(parts.length, 36)
      record.writeInt32LE(positions.length, 40)
      let from = 0
      for (const [i, part] of parts.entries()) {
        record.writeInt32LE(from, 44 + 4 * i)
        from += part.length
      }
    } else record.writeInt32LE(positions.length, 36)
    const box = [Infinity, Infinity, -Infinity, -Infinity] as [number, number, number, number]
    const heights = [Infinity, -Infinity] as [number, number]
    for (const [i, position] of positions.entries()) {
      this.#extend(position)
      const [x, y] = position as [number, number]
      record.writeDoubleLE(x, head + 16 * i)
      record.writeDoubleLE(y, head + 16 * i + 8)
      extend(box, x, y)
      if (!this.#hasZ) continue
      const z = heightOf(position)
      record.writeDoubleLE(z, head + 16 * positions.length + 16 + 8 * i)
      heights[0] = Math.min(heights[0], z)
      heights[1] = Math.max(heights[1], z)
    }
    box.forEach((value, i) => void record.writeDoubleLE(value, 4 + 8 * i))
    if (this.#hasZ)
      heights.forEach((value, i) => void record.writeDoubleLE(value, head + 16 * positions.length + 8 * i))
    return record
  }

  #extend(position: Position): void {
    extend(this.#box, position[0] as number, position[1] as number)
    if (!this.#hasZ) return
    this.#heights[0] = Math.min(this.#heights[0], heightOf(position))
    this.#heights[1] = Math.max(this.#heights[1], heightOf(position))
  }

  #dbfHeader(): Buffer {
    const columns = this.#columns
    const header = Buffer.alloc(32 + 32 * columns.length + 1)
    header.writeUInt8(3, 0)
    header.writeUInt8(126, 1)
    header.writeUInt8(1, 2)
    header.writeUInt8(1, 3)
    header.writeUInt32LE(this.#count, 4)
    header.writeUInt16LE(header.length, 8)
    header.writeUInt16LE(1 + columns.reduce((sum, { width }) => sum + width, 0), 10)
    for (const [i, { name, type, width, decimals }] of columns.entries()) {
      header.write(name, 32 + 32 * i, 'utf8')
      header.write(type, 32 + 32 * i + 11, 'latin1')
      header.writeUInt8(width, 32 + 32 * i + 16)
      header.writeUInt8(decimals, 32 + 32 * i + 17)
    }
    header.writeUInt8(0x0d, header.length - 1)
    return header
  }

  #record(cells: readonly (string | null)[]): Buffer {
    const parts = this.#columns.map(({ type, width, decimals }, i) => {
      const cell = cells[i] ?? null
      const bytes = Buffer.alloc(width, ' ')
      if (cell === null) {
        if (type === 'L') bytes.write('?')
        return bytes
      }
      const text = type === 'N' && decimals > 0 ? numberText(Number(cell), width) : cut(cell, width)
      bytes.write(text, type === 'N' ? Math.max(0, width - text.length) : 0)
      return bytes
    })
    return Buffer.concat([Buffer.from(' '), ...parts])
  }
}

const NULL_SHAPE = Buffer.alloc(4)

/** Returns the shortest text of a number, which reads as the same one. */
function numberText(value: number, width: number): string {
  const text = String(value)
  return text.length <= width ? text : value.toPrecision(width - 8)
}

function heightOf(position: Position): number {
  return position[2] ?? 0
}

function extend(box: [number, number, number, number], x: number, y: number): void {
  if (x < box[0]) box[0] = x
  if (y < box[1]) box[1] = y
  if (x > box[2]) box[2] = x
  if (y > box[3]) box[3] = y
}

/** A file that is written in large pieces, and whose beginning is replaced at the end. */
class File {
  readonly #fd: number
  #parts: Uint8Array[] = []
  #waiting = 0
  size = 0

  constructor(path: string) {
    this.#fd = fs.openSync(path, 'wx')
  }

  add(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#waiting += bytes.length
    this.size += bytes.length
    if (this.#waiting >= BUFFER_BYTES) this.#flush()
  }

  replace(beginning: Uint8Array): void {
    this.#flush()
    fs.writeSync(this.#fd, beginning, 0, beginning.length, 0)
  }

  close(): void {
    fs.closeSync(this.#fd)
  }

  #flush(): void {
    const whole = Buffer.concat(this.#parts)
    for (let done = 0; done < whole.length; )
      done += fs.writeSync(this.#fd, whole, done, whole.length - done, this.size - whole.length + done)
    this.#parts = []
    this.#waiting = 0
  }
}

/** Cuts a text between two characters. */
export function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  let end = bytes
  while (end > 0 && ((whole[end] as number) & 0xc0) === 0x80) end--
  return whole.toString('utf8', 0, end)
}
