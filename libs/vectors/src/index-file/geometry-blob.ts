import { linearised } from '../formats/linear.js'
import { wkbOffset } from './geopackage-geometry.js'

/**
 * Makes the geometries of an index: GeoPackage blobs (OGC 12-128r19, section 2.1.3) in longitude and latitude, whose rings run as RFC 7946 says and
 * whose header has the box.
 */

export const HEADER_BYTES = 8
const ENVELOPE_BYTES = 32
const LONGITUDE_LATITUDE = 4326

/** Maximum nesting of collections. */
const MAX_DEPTH = 16

/** Converts a position to longitude and latitude, or throws or returns no numbers if it has no place on the earth. */
export type Forward = (position: [number, number]) => readonly number[]

export interface Blob {
  readonly bytes: Uint8Array
  /** as a number of `NUMBERED_GEOMETRY_TYPES` */
  readonly kind: number
  readonly hasZ: boolean
  /** west, south, east, north; null: the geometry is empty */
  readonly box: readonly [number, number, number, number] | null
}

/** Maximum longitude: larger than 180, because some files extend beyond the antimeridian. */
export const MAX_LONGITUDE = 720
export const MAX_LATITUDE = 90.001

/** `damaged`: not Well-Known Binary, or of an unknown kind; `not_finite`: coordinates that are no numbers, or infinite; `off_earth`: no degrees */
export type NoBlob = 'damaged' | 'not_finite' | 'off_earth'

/** @param wkb Well-Known Binary of any byte order, with curves and surfaces. It is not changed. */
export function blobOf(wkb: Uint8Array, forward: Forward | null): Blob | NoBlob {
  return made(wkb, new BlobMaker(forward, LONGITUDE_LATITUDE))
}

/** Returns a blob of an index in another system. @param srsId its number in the file */
export function blobIn(blob: Uint8Array, convert: Forward | null, srsId: number): Blob | NoBlob {
  return made(blob.subarray(wkbOffset(blob)), new BlobMaker(convert, srsId))
}

function made(wkb: Uint8Array, maker: BlobMaker): Blob | NoBlob {
  try {
    return maker.make(linearised(wkb))
  } catch (error) {
    // The bytes end too early.
    if (error instanceof RangeError) return 'damaged'
    throw error
  }
}

class BlobMaker {
  readonly #forward: Forward | null
  readonly #srsId: number
  #view = new DataView(new ArrayBuffer(0))
  #at = 0
  #west = Infinity
  #south = Infinity
  #east = -Infinity
  #north = -Infinity
  #isFinite = true
  #hasZ = false

  constructor(forward: Forward | null, srsId: number) {
    this.#forward = forward
    this.#srsId = srsId
  }

  make(wkb: Uint8Array): Blob | NoBlob {
    if (wkb.length < 5) return 'damaged'
    const isLittle = wkb[0] === 1
    const isPoint = (isLittle ? wkb[1] : wkb[4]) === 1 && (isLittle ? wkb[2] : wkb[3]) === 0
    const start = isPoint ? HEADER_BYTES : HEADER_BYTES + ENVELOPE_BYTES
    const bytes = new Uint8Array(start + wkb.length)
    bytes.set(wkb, start)
    this.#view = new DataView(bytes.buffer)
    this.#at = start
    const kind = this.#geometry(0)
    if (kind < 0) return 'damaged'
    const isEmpty = this.#west > this.#east
    if (!this.#isFinite) return 'not_finite'
    if (!isEmpty && this.#srsId === LONGITUDE_LATITUDE) {
      if (this.#west < -MAX_LONGITUDE || this.#east > MAX_LONGITUDE) return 'off_earth'
      if (this.#south < -MAX_LATITUDE || this.#north > MAX_LATITUDE) return 'off_earth'
    }
    bytes[0] = 0x47
    bytes[1] = 0x50
    bytes[3] = 1 | (isPoint || isEmpty ? 0 : 2) | (isEmpty ? 16 : 0)
    this.#view.setInt32(4, this.#srsId, true)
    if (isEmpty) return { bytes: isPoint ? bytes : withoutEnvelope(bytes), kind, hasZ: this.#hasZ, box: null }
    const box = [this.#west, this.#south, this.#east, this.#north] as const
    if (!isPoint) {
      this.#view.setFloat64(8, box[0], true)
      this.#view.setFloat64(16, box[2], true)
      this.#view.setFloat64(24, box[1], true)
      this.#view.setFloat64(32, box[3], true)
    }
    return { bytes, kind, hasZ: this.#hasZ, box }
  }

  #geometry(depth: number): number {
    if (depth > MAX_DEPTH) return -1
    const view = this.#view
    const little = view.getUint8(this.#at) === 1
    const code = view.getUint32(this.#at + 1, little)
    this.#at += 5
    const kind = (code & 0x0fffffff) % 1000
    const thousands = Math.floor((code & 0x0fffffff) / 1000)
    const hasZ = (code & 0x80000000) !== 0 || thousands === 1 || thousands === 3
    const hasM = (code & 0x40000000) !== 0 || thousands >= 2
    const size = 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)
    this.#hasZ ||= hasZ
    if (kind === 1) this.#positions(1, size, little, true)
    else if (kind === 2) this.#positions(this.#count(little), size, little, false)
    else if (kind === 3) {
      const rings = this.#count(little)
      for (let i = 0; i < rings; i++) this.#ring(size, little, i === 0)
    } else if (kind >= 4 && kind <= 7) {
      const parts = this.#count(little)
      for (let i = 0; i < parts; i++) if (this.#geometry(depth + 1) < 0) return -1
    } else return -1
    return kind
  }

  #count(little: boolean): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4, little)
  }

  /** Converts and measures the positions. Those of an empty point are NaN. */
  #positions(count: number, size: number, little: boolean, isPoint: boolean): void {
    const view = this.#view
    const step = 8 * size
    const end = this.#at + count * step
    if (end > view.byteLength) throw new RangeError('the geometry is cut off')
    for (let at = this.#at; at < end; at += step) {
      let x = view.getFloat64(at, little)
      let y = view.getFloat64(at + 8, little)
      if (isPoint && Number.isNaN(x) && Number.isNaN(y)) continue
      if (this.#forward !== null) {
        ;[x, y] = this.#converted(x, y)
        view.setFloat64(at, x, little)
        view.setFloat64(at + 8, y, little)
      }
      if (!(Math.abs(x) < Infinity && Math.abs(y) < Infinity)) this.#isFinite = false
      if (x < this.#west) this.#west = x
      if (x > this.#east) this.#east = x
      if (y < this.#south) this.#south = y
      if (y > this.#north) this.#north = y
    }
    this.#at = end
  }

  #converted(x: number, y: number): readonly [number, number] {
    try {
      const [longitude, latitude] = (this.#forward as Forward)([x, y])
      return [longitude as number, latitude as number]
    } catch {
      return [Number.NaN, Number.NaN]
    }
  }

  #ring(size: number, little: boolean, isOuter: boolean): void {
    const count = this.#count(little)
    const start = this.#at
    this.#positions(count, size, little, false)
    const area = this.#area(start, count, size, little)
    if (area !== 0 && area > 0 !== isOuter) this.#reverse(start, count, size, little)
  }

  /** Returns twice the area of a ring, positive if it runs counterclockwise. */
  #area(start: number, count: number, size: number, little: boolean): number {
    if (count < 3) return 0
    const view = this.#view
    const step = 8 * size
    // Relative to the first position, since coordinates far from 0 lose their last digits.
    const x0 = view.getFloat64(start, little)
    const y0 = view.getFloat64(start + 8, little)
    let [sum, ax, ay] = [0, 0, 0]
    for (let i = 1; i < count; i++) {
      const bx = view.getFloat64(start + i * step, little) - x0
      const by = view.getFloat64(start + i * step + 8, little) - y0
      sum += ax * by - bx * ay
      ax = bx
      ay = by
    }
    return sum
  }

  #reverse(start: number, count: number, size: number, little: boolean): void {
    const step = 8 * size
    for (let a = start, b = start + (count - 1) * step; a < b; a += step, b -= step) {
      for (let k = 0; k < step; k += 8) {
        const value = this.#view.getFloat64(a + k, little)
        this.#view.setFloat64(a + k, this.#view.getFloat64(b + k, little), little)
        this.#view.setFloat64(b + k, value, little)
      }
    }
  }
}

function withoutEnvelope(bytes: Uint8Array): Uint8Array {
  const shorter = new Uint8Array(bytes.length - ENVELOPE_BYTES)
  shorter.set(bytes.subarray(0, HEADER_BYTES))
  shorter.set(bytes.subarray(HEADER_BYTES + ENVELOPE_BYTES), HEADER_BYTES)
  return shorter
}
