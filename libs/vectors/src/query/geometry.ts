import { NUMBERED_GEOMETRY_TYPES } from '@gateway/contracts/vector.js'
import { wkbOffset } from '../index-file/geopackage-geometry.js'
import type { Geometry } from './cql2/expression.js'

/** Converts a position from longitude and latitude to the order and units of a response; null: no conversion. */
export type Convert = ((x: number, y: number) => readonly [number, number]) | null

type TypeName = Exclude<(typeof NUMBERED_GEOMETRY_TYPES)[number], 'Geometry'>

/** The punctuation of one text encoding of geometries. */
interface Notation {
  readonly open: string
  readonly close: string
  readonly position: (x: number, y: number, z: number | null) => string
  readonly begin: (type: TypeName, hasZ: boolean) => string
  readonly end: (type: TypeName) => string
  readonly empty: string
}

const GEOJSON: Notation = {
  open: '[',
  close: ']',
  position: (x, y, z) => (z === null || Number.isNaN(z) ? `[${x},${y}]` : `[${x},${y},${z}]`),
  begin: (type) => `{"type":"${type}","${type === 'GeometryCollection' ? 'geometries' : 'coordinates'}":`,
  end: () => '}',
  empty: '[]',
}

const WKT: Notation = {
  open: '(',
  close: ')',
  position: (x, y, z) => (z === null ? `${x} ${y}` : `${x} ${y} ${z}`),
  begin: (type, hasZ) => `${type.toUpperCase()}${hasZ ? ' Z ' : ' '}`,
  end: () => '',
  empty: 'EMPTY',
}

/** Reads one geometry of a GeoPackage (OGC 12-128r19, section 2.1.3) with bounds checks: a RangeError means that the bytes end too early. */
class Reader {
  readonly #bytes: DataView
  #at = 0
  #little = true

  constructor(blob: Uint8Array) {
    this.#bytes = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
    this.#at = wkbOffset(blob)
  }

  head(): { type: TypeName; hasZ: boolean; hasM: boolean } {
    this.#little = this.#bytes.getUint8(this.#at) === 1
    const code = this.#bytes.getUint32(this.#at + 1, this.#little)
    this.#at += 5
    const thousands = Math.floor((code & 0x0fffffff) / 1000)
    const type = NUMBERED_GEOMETRY_TYPES[(code & 0x0fffffff) % 1000]
    if (type === undefined || type === 'Geometry') throw new RangeError(`the geometry type ${code} is not supported`)
    return {
      type,
      hasZ: thousands === 1 || thousands === 3 || (code & 0x80000000) !== 0,
      hasM: thousands === 2 || thousands === 3 || (code & 0x40000000) !== 0,
    }
  }

  count(): number {
    const count = this.#bytes.getUint32(this.#at, this.#little)
    this.#at += 4
    // A part has at least four bytes.
    if (count * 4 > this.#bytes.byteLength) throw new RangeError('a geometry names more parts than it has')
    return count
  }

  number(): number {
    const value = this.#bytes.getFloat64(this.#at, this.#little)
    this.#at += 8
    return value
  }
}

/** Returns the GeoJSON text of a stored geometry. Empty and unreadable geometries return `null`. */
export function geoJsonText(blob: Uint8Array | null, convert: Convert): string {
  return textOf(blob, convert, GEOJSON) ?? 'null'
}

/** Returns the well-known text of a stored geometry, or an empty text without one. */
export function wktText(blob: Uint8Array | null, convert: Convert): string {
  return textOf(blob, convert, WKT) ?? ''
}

function textOf(blob: Uint8Array | null, convert: Convert, notation: Notation): string | null {
  if (blob === null || blob.length < 13) return null
  try {
    return new Writer(new Reader(blob), convert, notation).geometry()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Writes the text of a geometry. Positions that are not numbers, such as those of empty points, are left out. */
class Writer {
  readonly #reader: Reader
  readonly #convert: Convert
  readonly #notation: Notation

  constructor(reader: Reader, convert: Convert, notation: Notation) {
    this.#reader = reader
    this.#convert = convert
    this.#notation = notation
  }

  geometry(): string | null {
    const { begin, end } = this.#notation
    const { type, hasZ, hasM } = this.#reader.head()
    const body = this.#body(type, hasZ, hasM)
    return body === null ? null : `${begin(type, hasZ)}${body}${end(type)}`
  }

  #body(type: TypeName, hasZ: boolean, hasM: boolean): string | null {
    if (type === 'Point') {
      const position = this.#position(hasZ, hasM)
      return position !== null && this.#notation === WKT ? `(${position})` : position
    }
    if (type === 'LineString') return this.#line(hasZ, hasM)
    let parts = ''
    for (let left = this.#reader.count(); left > 0; left--) {
      const part = type === 'Polygon' ? this.#line(hasZ, hasM) : this.#part(type)
      if (part !== null) parts += parts === '' ? part : `,${part}`
    }
    return this.#enclosed(parts)
  }

  /** Parts of the same kind are written without their type. */
  #part(type: TypeName): string | null {
    if (type === 'GeometryCollection') return this.geometry()
    const inner = this.#reader.head()
    return this.#body(inner.type, inner.hasZ, inner.hasM)
  }

  #line(hasZ: boolean, hasM: boolean): string {
    let positions = ''
    for (let left = this.#reader.count(); left > 0; left--) {
      const position = this.#position(hasZ, hasM)
      if (position !== null) positions += positions === '' ? position : `,${position}`
    }
    return this.#enclosed(positions)
  }

  #enclosed(parts: string): string {
    const { open, close, empty } = this.#notation
    return parts === '' ? empty : `${open}${parts}${close}`
  }

  #position(hasZ: boolean, hasM: boolean): string | null {
    const x = this.#reader.number()
    const y = this.#reader.number()
    const z = hasZ ? this.#reader.number() : null
    if (hasM) this.#reader.number()
    if (!Number.isFinite(x) || !Number.isFinite(y)) return null
    if (this.#convert === null) return this.#notation.position(x, y, z)
    const [a, b] = this.#convert(x, y)
    return Number.isFinite(a) && Number.isFinite(b) ? this.#notation.position(a, b, z) : null
  }
}

/** Returns the geometry as GeoJSON objects, or null if it is missing or unreadable. */
export function geometryOf(blob: Uint8Array | null, convert: Convert): Geometry | null {
  const text = geoJsonText(blob, convert)
  return text === 'null' ? null : (JSON.parse(text) as Geometry)
}

/** Returns west, south, east, north from the geometry's header or its point; null without either. */
export function envelopeOf(blob: Uint8Array): [number, number, number, number] | null {
  if (blob.length < 13) return null
  const bytes = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const flags = bytes.getUint8(3)
  const kind = (flags >> 1) & 7
  if (kind === 0) {
    if (blob.length < 29) return null
    const little = bytes.getUint8(8) === 1
    if (bytes.getUint32(9, little) % 1000 !== 1) return null
    const x = bytes.getFloat64(13, little)
    const y = bytes.getFloat64(21, little)
    return [x, y, x, y]
  }
  const little = (flags & 1) === 1
  const at = (i: number) => bytes.getFloat64(8 + i * 8, little)
  return blob.length < 40 ? null : [at(0), at(2), at(1), at(3)]
}

/** Returns the box around a geometry: west, south, east, north. */
export function boxOf(geometry: Geometry): [number, number, number, number] {
  const box: [number, number, number, number] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  eachPosition(geometry, ([x = 0, y = 0]) => {
    box[0] = Math.min(box[0], x)
    box[1] = Math.min(box[1], y)
    box[2] = Math.max(box[2], x)
    box[3] = Math.max(box[3], y)
  })
  return box
}

/** True if a geometry is a rectangle along the axes. */
export function isBox(geometry: Geometry): boolean {
  if (geometry.type !== 'Polygon' || geometry.coordinates.length !== 1) return false
  const ring = geometry.coordinates[0] ?? []
  const [a, b, c, d, e] = ring
  if (ring.length !== 5 || !a || !b || !c || !d || !e || a[0] !== e[0] || a[1] !== e[1]) return false
  const isAlong = (first: 0 | 1, second: 0 | 1) =>
    a[second] === b[second] && b[first] === c[first] && c[second] === d[second] && d[first] === a[first]
  return isAlong(0, 1) || isAlong(1, 0)
}

function eachPosition(geometry: Geometry, take: (position: readonly number[]) => void): void {
  if (geometry.type === 'GeometryCollection') {
    for (const inner of geometry.geometries) eachPosition(inner, take)
    return
  }
  const walk = (value: unknown): void => {
    if (typeof (value as unknown[])[0] === 'number') take(value as number[])
    else for (const inner of value as unknown[]) walk(inner)
  }
  walk(geometry.coordinates)
}

/** True if a geometry has a position between two heights, or no heights. */
export function isAtHeight(geometry: Geometry, bottom: number, top: number): boolean {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  eachPosition(geometry, ([, , z]) => {
    if (z === undefined) return
    lowest = Math.min(lowest, z)
    highest = Math.max(highest, z)
  })
  return lowest > highest || (lowest <= top && highest >= bottom)
}

/** Returns the geometry with every position converted, in two dimensions. */
export function converted(geometry: Geometry, convert: (x: number, y: number) => readonly [number, number]): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map((inner) => converted(inner, convert)) }
  }
  const walk = (value: unknown): unknown =>
    typeof (value as unknown[])[0] === 'number'
      ? convert((value as number[])[0] as number, (value as number[])[1] as number)
      : (value as unknown[]).map(walk)
  return { type: geometry.type, coordinates: walk(geometry.coordinates) } as Geometry
}
