import { LINE, MULTI_LINE, MULTI_POINT, MULTI_POLYGON, POINT, POLYGON, type WkbWriter, wkbCode } from './wkb-writer.js'

/** Types of shapes (ESRI Shapefile Technical Description, July 1998), without the tens digit that denotes Z or M. */
const NULL_SHAPE = 0
const POINTS = 8
const MULTI_PATCH = 31
/** Values of a measure below this one mean a missing measure. */
const NO_MEASURE = -1e38

const TRIANGLE_STRIP = 0
const TRIANGLE_FAN = 1
const OUTER_RING = 2
const FIRST_RING = 4

/** A ring or line: the numbers of its first position, and of the one behind its last. */
interface Part {
  readonly from: number
  readonly to: number
}

/** Writes the content of a record, behind its head. Returns null for a null shape, and throws RangeError if the record is damaged. */
export function writeShape(record: Buffer, writer: WkbWriter): true | null {
  const type = record.readInt32LE(0)
  if (type === NULL_SHAPE) return null
  const shape = new Shape(record, type)
  if (type === MULTI_PATCH) shape.multiPatch(writer)
  else if (type % 10 === 1) shape.point(writer)
  else if (type % 10 === POINTS) shape.points(writer)
  else if (type % 10 === 3) shape.lines(writer)
  else if (type % 10 === 5) shape.polygons(writer)
  else throw new RangeError(`there is no shape of type ${type}`)
  return true
}

class Shape {
  readonly #record: Buffer
  readonly #hasZ: boolean
  #hasM: boolean
  #positionsAt = 0
  #zAt = 0
  #mAt = 0

  constructor(record: Buffer, type: number) {
    this.#record = record
    this.#hasZ = type > 10 && type < 20
    this.#hasM = type > 20 && type < 30
    if (type === MULTI_PATCH) [this.#hasZ, this.#hasM] = [true, false]
  }

  point(writer: WkbWriter): void {
    const [x, y] = [this.#record.readDoubleLE(4), this.#record.readDoubleLE(12)]
    this.#zAt = 20
    this.#mAt = this.#hasZ ? 28 : 20
    this.#checkMeasures(1)
    this.#positionsAt = 4
    writer.head(this.#code(POINT))
    // A point far below is one without a place.
    if (x < NO_MEASURE || y < NO_MEASURE) for (let i = this.#size; i > 0; i--) writer.number(Number.NaN)
    else this.#position(0, writer)
  }

  points(writer: WkbWriter): void {
    const count = this.#record.readInt32LE(36)
    this.#place(40, count)
    writer.head(this.#code(MULTI_POINT))
    writer.count(count)
    for (let i = 0; i < count; i++) {
      writer.head(this.#code(POINT))
      this.#position(i, writer)
    }
  }

  lines(writer: WkbWriter): void {
    const parts = this.#parts(44)
    if (parts.length !== 1) {
      writer.head(this.#code(MULTI_LINE))
      writer.count(parts.length)
    }
    for (const part of parts) {
      writer.head(this.#code(LINE))
      this.#line(part, writer)
    }
  }

  polygons(writer: WkbWriter): void {
    this.#writePolygons(this.#grouped(this.#parts(44).filter(({ from, to }) => to > from)), writer)
  }

  multiPatch(writer: WkbWriter): void {
    const count = this.#record.readInt32LE(36)
    const parts = this.#parts(44 + 4 * count)
    const polygons: Part[][] = []
    for (const [i, part] of parts.entries()) {
      const type = this.#record.readInt32LE(44 + 4 * count + 4 * i)
      if (type === TRIANGLE_STRIP || type === TRIANGLE_FAN) {
        for (let at = part.from; at + 2 < part.to; at++)
          this.#triangles.push([type === TRIANGLE_FAN ? part.from : at, at + 1, at + 2])
      } else if (type === OUTER_RING || type === FIRST_RING || polygons.length === 0) polygons.push([part])
      else polygons.at(-1)?.push(part)
    }
    this.#writePolygons(polygons, writer)
  }

  readonly #triangles: [number, number, number][] = []

  get #size(): number {
    return 2 + (this.#hasZ ? 1 : 0) + (this.#hasM ? 1 : 0)
  }

  #code(kind: number): number {
    return wkbCode(kind, this.#hasZ, this.#hasM)
  }

  /** @param at first byte behind the numbers of parts and positions, and behind the types of patches */
  #parts(at: number): Part[] {
    const [count, positions] = [this.#record.readInt32LE(36), this.#record.readInt32LE(40)]
    if (count < 0 || at + 4 * count > this.#record.length) throw new RangeError('the record is cut off')
    this.#place(at + 4 * count, positions)
    return Array.from({ length: count }, (_, i) => {
      const from = this.#record.readInt32LE(44 + 4 * i)
      const to = i + 1 < count ? this.#record.readInt32LE(44 + 4 * (i + 1)) : positions
      if (from < 0 || to < from || to > positions) throw new RangeError('a part is outside of its record')
      return { from, to }
    })
  }

  #place(at: number, count: number): void {
    if (count < 0 || at + 16 * count > this.#record.length) throw new RangeError('the record is cut off')
    this.#positionsAt = at
    const end = at + 16 * count
    // Boxes of two numbers precede the heights and the measures.
    this.#zAt = end + 16
    this.#mAt = (this.#hasZ ? this.#zAt + 8 * count : end) + 16
    if (this.#hasZ && this.#zAt + 8 * count > this.#record.length) throw new RangeError('the heights are cut off')
    this.#checkMeasures(count)
  }

  /** A shape with heights may have measures too, and often has their place without values. */
  #checkMeasures(count: number): void {
    const isThere = this.#mAt + 8 * count <= this.#record.length
    if (this.#hasM && !isThere) this.#hasM = false
    if (!this.#hasZ || this.#hasM || !isThere) return
    for (let i = 0; i < count; i++) {
      if (
        this.#record.readDoubleLE(this.#mAt + 8 * i) > NO_MEASURE &&
        this.#record.readDoubleLE(this.#mAt + 8 * i) !== 0
      ) {
        this.#hasM = true
        return
      }
    }
  }

  #x(i: number): number {
    return this.#record.readDoubleLE(this.#positionsAt + 16 * i)
  }

  #y(i: number): number {
    return this.#record.readDoubleLE(this.#positionsAt + 16 * i + 8)
  }

  #position(i: number, writer: WkbWriter): void {
    writer.pair(this.#x(i), this.#y(i))
    if (this.#hasZ) writer.number(this.#record.readDoubleLE(this.#zAt + 8 * i))
    if (!this.#hasM) return
    const measure = this.#record.readDoubleLE(this.#mAt + 8 * i)
    writer.number(measure > NO_MEASURE ? measure : Number.NaN)
  }

  #line({ from, to }: Part, writer: WkbWriter): void {
    writer.count(to - from)
    for (let i = from; i < to; i++) this.#position(i, writer)
  }

  #writePolygons(polygons: readonly (readonly Part[])[], writer: WkbWriter): void {
    const count = polygons.length + this.#triangles.length
    if (count !== 1) {
      writer.head(this.#code(MULTI_POLYGON))
      writer.count(count)
    }
    for (const rings of polygons) {
      writer.head(this.#code(POLYGON))
      writer.count(rings.length)
      for (const ring of rings) this.#line(ring, writer)
    }
    for (const [a, b, c] of this.#triangles) {
      writer.head(this.#code(POLYGON))
      writer.count(1)
      writer.count(4)
      for (const i of [a, b, c, a]) this.#position(i, writer)
    }
  }

  /**
   * Groups rings into polygons. Outer rings run clockwise, and a hole belongs to the smallest outer ring around it. If no ring runs clockwise, those
   * that lie in no other one are the outer rings.
   */
  #grouped(rings: readonly Part[]): Part[][] {
    if (rings.length === 1) return [[rings[0] as Part]]
    const areas = rings.map((ring) => this.#area(ring))
    let outer = rings.filter((_, i) => (areas[i] as number) <= 0)
    if (outer.length === 0)
      outer = rings.filter((ring) => !rings.some((other) => other !== ring && this.#contains(other, ring)))
    if (outer.length === 0) outer = [...rings]
    const polygons = new Map(outer.map((ring) => [ring, [ring]]))
    const sizes = new Map(rings.map((ring, i) => [ring, Math.abs(areas[i] as number)]))
    const bySize = [...outer].sort((a, b) => (sizes.get(a) as number) - (sizes.get(b) as number))
    // Writers put holes behind their ring, so it is looked at first.
    let last: Part | undefined
    for (const ring of rings) {
      if (polygons.has(ring)) {
        last = ring
        continue
      }
      const isAround = (one: Part) =>
        (sizes.get(one) as number) >= (sizes.get(ring) as number) && this.#contains(one, ring)
      const isBehind = outer.length === 1 || (last !== undefined && isAround(last))
      const around = isBehind ? (last ?? outer[0]) : bySize.find(isAround)
      const polygon = polygons.get(around ?? last ?? ring)
      // A hole that lies in no ring becomes a polygon.
      if (around === undefined || polygon === undefined) polygons.set(ring, [ring])
      else polygon.push(ring)
    }
    return [...polygons.values()]
  }

  /** Returns twice the area of a ring, negative if it runs clockwise. */
  #area({ from, to }: Part): number {
    const [x0, y0] = [this.#x(from), this.#y(from)]
    let sum = 0
    for (let i = from + 1; i + 1 < to; i++)
      sum += (this.#x(i) - x0) * (this.#y(i + 1) - y0) - (this.#x(i + 1) - x0) * (this.#y(i) - y0)
    return sum
  }

  /** True if a ring lies in another one, by the first of its positions that is not on it. */
  #contains(outer: Part, inner: Part): boolean {
    for (let k = inner.from; k < inner.to; k++) {
      const side = this.#sideOf(outer, this.#x(k), this.#y(k))
      if (side !== 0) return side > 0
    }
    return true
  }

  /** 1: inside, -1: outside, 0: on a corner of the ring */
  #sideOf({ from, to }: Part, x: number, y: number): number {
    let isInside = false
    for (let i = from, j = to - 1; i < to; j = i++) {
      const [ax, ay, bx, by] = [this.#x(i), this.#y(i), this.#x(j), this.#y(j)]
      if (ax === x && ay === y) return 0
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside
    }
    return isInside ? 1 : -1
  }
}
