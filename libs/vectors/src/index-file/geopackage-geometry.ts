/**
 * The geometries of a GeoPackage: a header (GeoPackage 1.3, section 2.1.3) and Well-Known Binary. Supports the kinds 1 to 7, with dimensions
 * numbered as in ISO and in PostGIS.
 */

/** Envelope sizes in bytes, by bits 1 to 3 of a geometry's flags. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64] as const

/** Maximum nesting of collections. */
const MAX_DEPTH = 16

/** Returns the offset of the Well-Known Binary in a GeoPackage blob, or -1 if the blob is not valid. */
export function wkbOffset(blob: Uint8Array): number {
  if (blob.length < 13 || blob[0] !== 0x47 || blob[1] !== 0x50) return -1
  return 8 + (ENVELOPE_BYTES[((blob[3] as number) >> 1) & 7] ?? 0)
}

/** Returns the kind of a geometry by its head, as a number of `NUMBERED_GEOMETRY_TYPES`, or -1 if the blob is not valid. */
export function kindOfBlob(blob: Uint8Array): number {
  const start = wkbOffset(blob)
  if (start < 0 || blob.length < start + 5) return -1
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  return (view.getUint32(start + 1, view.getUint8(start) === 1) & 0x0fffffff) % 1000
}

/** Callbacks for the parts of a geometry. Coordinates are passed as an array with `size` numbers for each point. */
export interface GeometryVisitor {
  points(coordinates: Float64Array, size: number): void
  line(coordinates: Float64Array, size: number): void
  /** the rings of a polygon follow one another, the outer ring first */
  ring(coordinates: Float64Array, size: number, isOuter: boolean, at: RingPlace): void
}

/** The location of a ring's coordinates in the blob, for visitors that change them. */
export interface RingPlace {
  readonly view: DataView
  readonly offset: number
  readonly littleEndian: boolean
}

/** Visits the parts of a geometry. Returns its kind, as a number of `NUMBERED_GEOMETRY_TYPES`, or -1 if the geometry is damaged or a curve. */
export function visitGeometry(blob: Uint8Array, visitor: GeometryVisitor): number {
  const start = wkbOffset(blob)
  if (start < 0) return -1
  const reader = new Reader(blob, start)
  try {
    return reader.geometry(visitor, 0)
  } catch (error) {
    // The blob ends too early.
    if (error instanceof RangeError) return -1
    throw error
  }
}

class Reader {
  readonly #view: DataView
  #at: number

  constructor(blob: Uint8Array, at: number) {
    this.#view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
    this.#at = at
  }

  geometry(visitor: GeometryVisitor, depth: number): number {
    if (depth > MAX_DEPTH) throw new RangeError()
    const littleEndian = this.#view.getUint8(this.#at) === 1
    const code = this.#view.getUint32(this.#at + 1, littleEndian)
    this.#at += 5
    const kind = (code & 0x0fffffff) % 1000
    const thousands = Math.floor((code & 0x0fffffff) / 1000)
    const more = (code & 0x80000000) !== 0 || thousands === 1 || thousands === 3 ? 1 : 0
    const measured = (code & 0x40000000) !== 0 || thousands >= 2 ? 1 : 0
    const size = 2 + more + measured
    if (kind === 1) visitor.points(this.#coordinates(1, size, littleEndian), size)
    else if (kind === 2) visitor.line(this.#coordinates(this.#count(littleEndian), size, littleEndian), size)
    else if (kind === 3) {
      const rings = this.#count(littleEndian)
      for (let i = 0; i < rings; i++) {
        const count = this.#count(littleEndian)
        const offset = this.#at
        const coordinates = this.#coordinates(count, size, littleEndian)
        visitor.ring(coordinates, size, i === 0, { view: this.#view, offset, littleEndian })
      }
    } else if (kind >= 4 && kind <= 7) {
      const parts = this.#count(littleEndian)
      for (let i = 0; i < parts; i++) if (this.geometry(visitor, depth + 1) < 0) return -1
    } else return -1
    return kind
  }

  #count(littleEndian: boolean): number {
    const count = this.#view.getUint32(this.#at, littleEndian)
    this.#at += 4
    return count
  }

  #coordinates(count: number, size: number, littleEndian: boolean): Float64Array {
    const numbers = count * size
    if (this.#at + numbers * 8 > this.#view.byteLength) throw new RangeError()
    const coordinates = new Float64Array(numbers)
    for (let i = 0; i < numbers; i++) coordinates[i] = this.#view.getFloat64(this.#at + i * 8, littleEndian)
    this.#at += numbers * 8
    return coordinates
  }
}

/** Returns twice the area of a ring, positive if it runs counterclockwise. */
export function ringArea(coordinates: ArrayLike<number>, size: number): number {
  let sum = 0
  const n = coordinates.length
  // Relative to the first point, since coordinates far from 0 lose their last digits.
  const x0 = coordinates[0] as number
  const y0 = coordinates[1] as number
  for (let i = size; i + size < n; i += size) {
    const ax = (coordinates[i] as number) - x0
    const ay = (coordinates[i + 1] as number) - y0
    const bx = (coordinates[i + size] as number) - x0
    const by = (coordinates[i + size + 1] as number) - y0
    sum += ax * by - bx * ay
  }
  return sum
}
