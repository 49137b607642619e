import type { Geometry } from './cql2/expression.js'

/** Converts a position from longitude and latitude to the order and units of a response; null: no conversion. */
export type Convert = ((x: number, y: number) => readonly [number, number]) | null

/** Envelope sizes in bytes, by bits 1 to 3 of a GeoPackage geometry's flags. */
const ENVELOPE_BYTES = [0, 32, 48, 48, 64]
const TYPES = [
  '',
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const
type TypeName = Exclude<(typeof TYPES)[number], ''>

/** The punctuation of one text encoding of geometries. */
interface Notation {
  readonly open: string
  readonly close: string
  readonly between: string
  readonly position: (x: number, y: number, z: number | null) => string
  readonly begin: (type: TypeName, hasZ: boolean) => string
  readonly end: (type: TypeName) => string
  readonly empty: string
}

const GEOJSON: Notation = {
  open: '[',
  close: ']',
  between: ',',
  position: (x, y, z) => (z === null || Number.isNaN(z) ? `[${x},${y}]` : `[${x},${y},${z}]`),
  begin: (type) => `{"type":"${type}","${type === 'GeometryCollection' ? 'geometries' : 'coordinates'}":`,
  end: () => '}',
  empty: '[]',
}

const WKT: Notation = {
  open: '(',
  close: ')',
  between: ',',
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
    const flags = this.#bytes.getUint8(3)
    this.#at = 8 + (ENVELOPE_BYTES[(flags >> 1) & 7] ?? 0)
  }

  head(): { type: TypeName; hasZ: boolean; hasM: boolean } {
    this.#little = this.#bytes.getUint8(this.#at) === 1
    const code = this.#bytes.getUint32(this.#at + 1, this.#little)
    this.#at += 5
    const thousands = Math.floor((code & 0x0fffffff) / 1000)
    const type = TYPES[(code & 0x0fffffff) % 1000]
    if (type === undefined || type === '') throw new RangeError(`the geometry type ${code} is not supported`)
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
    return write(new Reader(blob), convert, notation)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Returns null for a point without a position, or with NaN coordinates. */
function write(reader: Reader, convert: Convert, notation: Notation): string | null {
  const { type, hasZ, hasM } = reader.head()
  const { open, close, between, empty } = notation
  const position = (): string | null => {
    const x = reader.number()
    const y = reader.number()
    const z = hasZ ? reader.number() : null
    if (hasM) reader.number()
    if (!Number.isFinite(x) || !Number.isFinite(y)) return null
    if (convert === null) return notation.position(x, y, z)
    const [a, b] = convert(x, y)
    return Number.isFinite(a) && Number.isFinite(b) ? notation.position(a, b, z) : null
  }
  const list = (part: () => string | null): string => {
    const parts: string[] = []
    for (let left = reader.count(); left > 0; left--) {
      const text = part()
      if (text !== null) parts.push(text)
    }
    return parts.length === 0 ? empty : `${open}${parts.join(between)}${close}`
  }
  const lines = () => list(position)
  const inner = (): string | null => {
    const text = write(reader, convert, notation)
    if (text === null) return null
    // Parts of the same kind are written without their type.
    return type === 'GeometryCollection' ? text : bare(text, notation)
  }
  let body: string | null
  if (type === 'Point') {
    const point = position()
    body = point !== null && notation === WKT ? `(${point})` : point
  } else if (type === 'LineString') body = lines()
  else if (type === 'Polygon') body = list(lines)
  else body = list(inner)
  return body === null ? null : `${notation.begin(type, hasZ)}${body}${notation.end(type)}`
}

function bare(text: string, notation: Notation): string {
  if (notation === WKT) return text.slice(text.search(/[(]|EMPTY/))
  return text.slice(text.indexOf('"coordinates":') + '"coordinates":'.length, -1)
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
