import { WkbWriter } from './wkb-writer.js'

/** Kinds of ISO 13249 above those of simple features. */
const CIRCULAR_STRING = 8
const COMPOUND_CURVE = 9
const CURVE_POLYGON = 10
const MULTI_CURVE = 11
const MULTI_SURFACE = 12
const POLYHEDRAL_SURFACE = 15
const TIN = 16
const TRIANGLE = 17

/** Steps of an arc in radians: 4 degrees, as other programs draw it. */
const STEP = (4 * Math.PI) / 180
const MAX_DEPTH = 16

/** The simple kind that each kind becomes. */
const SIMPLE: Readonly<Record<number, number>> = {
  [CIRCULAR_STRING]: 2,
  [COMPOUND_CURVE]: 2,
  [CURVE_POLYGON]: 3,
  [MULTI_CURVE]: 5,
  [MULTI_SURFACE]: 6,
  [POLYHEDRAL_SURFACE]: 6,
  [TIN]: 6,
  [TRIANGLE]: 3,
}

/** Returns Well-Known Binary whose curves are lines and whose surfaces are polygons; the same bytes if it has none. Throws RangeError for damaged bytes. */
export function linearised(wkb: Uint8Array): Uint8Array {
  const view = new DataView(wkb.buffer, wkb.byteOffset, wkb.byteLength)
  const kind = (view.getUint32(1, view.getUint8(0) === 1) & 0x0fffffff) % 1000
  // A collection may contain curves.
  if (kind < 7 || (kind === 7 && !hasCurves(wkb))) return wkb
  const writer = new WkbWriter()
  writer.begin()
  new Lineariser(view, writer).geometry(0)
  return writer.end()
}

function hasCurves(wkb: Uint8Array): boolean {
  const writer = new WkbWriter()
  writer.begin()
  const lineariser = new Lineariser(new DataView(wkb.buffer, wkb.byteOffset, wkb.byteLength), writer)
  lineariser.geometry(0)
  return lineariser.found
}

/** Positions of one line, `size` numbers each. */
type Line = number[]

class Lineariser {
  readonly #view: DataView
  readonly #writer: WkbWriter
  /** true if a kind was met that is not simple */
  found = false
  #at = 0
  #little = true
  #size = 2

  constructor(view: DataView, writer: WkbWriter) {
    this.#view = view
    this.#writer = writer
  }

  geometry(depth: number): void {
    if (depth > MAX_DEPTH) throw new RangeError('it is nested too deeply')
    const { kind, dimensions } = this.#head()
    const simple = SIMPLE[kind]
    this.found ||= simple !== undefined
    this.#writer.head((simple ?? kind) + dimensions)
    if (kind === 1) this.#write(this.#positions(1))
    else if (simple === 2 || kind === 2) this.#writeLine(this.#line(kind, depth))
    else if (simple === 3 || kind === 3) this.#rings(kind, depth)
    else if (kind === MULTI_CURVE || kind === 5) this.#each(() => this.#partAsLine(depth))
    else this.#each(() => this.geometry(depth + 1))
  }

  #head(): { kind: number; dimensions: number } {
    this.#little = this.#view.getUint8(this.#at) === 1
    const code = this.#view.getUint32(this.#at + 1, this.#little)
    this.#at += 5
    const kind = (code & 0x0fffffff) % 1000
    const thousands = Math.floor((code & 0x0fffffff) / 1000)
    const hasZ = (code & 0x80000000) !== 0 || thousands === 1 || thousands === 3
    const hasM = (code & 0x40000000) !== 0 || thousands >= 2
    if (kind < 1 || kind > TRIANGLE || kind === 13 || kind === 14) throw new RangeError(`the kind ${kind} is not known`)
    this.#size = 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)
    return { kind, dimensions: (hasZ ? 1000 : 0) + (hasM ? 2000 : 0) }
  }

  #each(take: () => void): void {
    const count = this.#count()
    this.#writer.count(count)
    for (let i = 0; i < count; i++) take()
  }

  #partAsLine(depth: number): void {
    const { kind, dimensions } = this.#head()
    this.#writer.head(2 + dimensions)
    this.#writeLine(this.#line(kind, depth + 1))
  }

  #rings(kind: number, depth: number): void {
    this.#each(() => {
      const part = kind === CURVE_POLYGON ? this.#head().kind : 2
      this.#writeLine(this.#line(part, depth + 1))
    })
  }

  /** Reads a curve behind its head. */
  #line(kind: number, depth: number): Line {
    if (depth > MAX_DEPTH) throw new RangeError('it is nested too deeply')
    const count = this.#count()
    if (kind === 2) return this.#positions(count)
    if (kind === CIRCULAR_STRING) return this.#arcs(this.#positions(count))
    if (kind !== COMPOUND_CURVE) throw new RangeError(`the kind ${kind} is no curve`)
    const line: Line = []
    for (let i = 0; i < count; i++) {
      const part = this.#line(this.#head().kind, depth + 1)
      // Each part begins where the previous one ends.
      for (let k = line.length === 0 ? 0 : this.#size; k < part.length; k++) line.push(part[k] as number)
    }
    return line
  }

  #arcs(positions: Line): Line {
    const size = this.#size
    if (positions.length < 3 * size) return positions
    const line = positions.slice(0, size)
    for (let at = 0; at + 2 * size < positions.length; at += 2 * size) addArc(line, positions, at, size)
    return line
  }

  #count(): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4, this.#little)
  }

  #positions(count: number): Line {
    const numbers = count * this.#size
    if (this.#at + numbers * 8 > this.#view.byteLength) throw new RangeError('the geometry is cut off')
    const line: Line = []
    for (let i = 0; i < numbers; i++, this.#at += 8) line.push(this.#view.getFloat64(this.#at, this.#little))
    return line
  }

  #writeLine(line: Line): void {
    this.#writer.count(line.length / this.#size)
    this.#write(line)
  }

  #write(line: Line): void {
    for (const value of line) this.#writer.number(value)
  }
}

/** Adds the positions of an arc through three positions, without the first one. Further dimensions change evenly. */
function addArc(line: Line, positions: Line, at: number, size: number): void {
  const [x1, y1, x2, y2, x3, y3] = [0, 1, size, size + 1, 2 * size, 2 * size + 1].map(
    (i) => positions[at + i] as number,
  ) as [number, number, number, number, number, number]
  const middle = positions.slice(at + size, at + 2 * size)
  const last = positions.slice(at + 2 * size, at + 3 * size)
  const isCircle = x1 === x3 && y1 === y3
  const cross = 2 * ((x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1))
  if (!isCircle && Math.abs(cross) < 1e-14 * Math.max(1, Math.abs(x1), Math.abs(y1))) {
    line.push(...middle, ...last)
    return
  }
  const square2 = (x2 - x1) ** 2 + (y2 - y1) ** 2
  const square3 = (x3 - x1) ** 2 + (y3 - y1) ** 2
  // Equal ends mean a circle, and the second position is opposite to them.
  const cx = isCircle ? (x1 + x2) / 2 : x1 + (square2 * (y3 - y1) - square3 * (y2 - y1)) / cross
  const cy = isCircle ? (y1 + y2) / 2 : y1 + (square3 * (x2 - x1) - square2 * (x3 - x1)) / cross
  const radius = Math.hypot(x1 - cx, y1 - cy)
  const begin = Math.atan2(y1 - cy, x1 - cx)
  const turn = 2 * Math.PI
  const between = (angle: number) => (((angle - begin) % turn) + turn) % turn
  const [toMiddle, toEnd] = [between(Math.atan2(y2 - cy, x2 - cx)), between(Math.atan2(y3 - cy, x3 - cx))]
  const sweep = isCircle ? turn : toMiddle <= toEnd ? toEnd : toEnd - turn
  const steps = Math.max(2, Math.ceil(Math.abs(sweep) / STEP))
  for (let i = 1; i < steps; i++) {
    const angle = begin + (sweep * i) / steps
    line.push(cx + radius * Math.cos(angle), cy + radius * Math.sin(angle))
    for (let k = 2; k < size; k++) {
      const from = positions[at + k] as number
      line.push(from + (((last[k] as number) - from) * i) / steps)
    }
  }
  line.push(...last)
}
