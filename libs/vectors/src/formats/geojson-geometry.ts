import {
  COLLECTION,
  LINE,
  MULTI_LINE,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
  POLYGON,
  type WkbWriter,
  wkbCode,
} from './wkb-writer.js'

/** Maximum nesting of collections, which readers of the index limit too. */
const MAX_DEPTH = 16

const KINDS: ReadonlyMap<unknown, number> = new Map([
  ['Point', POINT],
  ['LineString', LINE],
  ['Polygon', POLYGON],
  ['MultiPoint', MULTI_POINT],
  ['MultiLineString', MULTI_LINE],
  ['MultiPolygon', MULTI_POLYGON],
  ['GeometryCollection', COLLECTION],
])

interface ParsedGeometry {
  readonly type?: unknown
  readonly coordinates?: unknown
  readonly geometries?: unknown
}

/** A geometry that is not as RFC 7946 describes it. */
class NoGeometry extends Error {}

/** Writes a parsed geometry of GeoJSON. Returns false if it is damaged. */
export function writeGeoJson(geometry: unknown, writer: WkbWriter): boolean {
  try {
    write(geometry as ParsedGeometry, writer, 0)
    return true
  } catch (error) {
    if (error instanceof NoGeometry) return false
    throw error
  }
}

function write(geometry: ParsedGeometry, writer: WkbWriter, depth: number): void {
  const kind = KINDS.get(geometry?.type)
  if (kind === undefined || depth > MAX_DEPTH) throw new NoGeometry()
  if (kind === COLLECTION) {
    const parts = listOf(geometry.geometries)
    writer.head(COLLECTION)
    writer.count(parts.length)
    for (const part of parts) write(part as ParsedGeometry, writer, depth + 1)
    return
  }
  const coordinates = listOf(geometry.coordinates)
  writeKind(kind, coordinates, hasHeight(coordinates), writer)
}

/** Position, line or polygon by its nesting. A position without a height, among others with one, gets NaN. */
function writeKind(kind: number, coordinates: readonly unknown[], hasZ: boolean, writer: WkbWriter): void {
  writer.head(wkbCode(kind, hasZ, false))
  if (kind === POINT) {
    if (coordinates.length === 0) for (let i = hasZ ? 3 : 2; i > 0; i--) writer.number(Number.NaN)
    else position(coordinates, hasZ, writer)
  } else if (kind === LINE) line(coordinates, hasZ, false, writer)
  else if (kind === POLYGON) {
    writer.count(coordinates.length)
    for (const ring of coordinates) line(listOf(ring), hasZ, true, writer)
  } else {
    writer.count(coordinates.length)
    for (const part of coordinates) writeKind(kind - 3, listOf(part), hasZ, writer)
  }
}

function line(positions: readonly unknown[], hasZ: boolean, isRing: boolean, writer: WkbWriter): void {
  const { length } = positions
  const isOpen = isRing && length > 0 && !isSame(positions[0], positions[length - 1])
  // Two positions enclose nothing, however the ring is closed.
  if (isRing && length > 0 && length < 3) throw new NoGeometry()
  writer.count(isOpen ? length + 1 : length)
  for (const one of positions) position(one as readonly unknown[], hasZ, writer)
  if (isOpen) position(positions[0] as readonly unknown[], hasZ, writer)
}

function position(one: readonly unknown[], hasZ: boolean, writer: WkbWriter): void {
  if (!Array.isArray(one)) throw new NoGeometry()
  const [x, y, z] = one as readonly unknown[]
  if (typeof x !== 'number' || typeof y !== 'number') throw new NoGeometry()
  writer.pair(x, y)
  if (hasZ) writer.number(typeof z === 'number' ? z : Number.NaN)
}

function isSame(a: unknown, b: unknown): boolean {
  const [first, last] = [listOf(a), listOf(b)]
  return first[0] === last[0] && first[1] === last[1] && first[2] === last[2]
}

function hasHeight(coordinates: readonly unknown[]): boolean {
  const [first] = coordinates
  if (!Array.isArray(first)) return coordinates.length > 2
  for (const inner of coordinates) if (Array.isArray(inner) && hasHeight(inner)) return true
  return false
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new NoGeometry()
  return value
}
