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

/** Kinds by their names; curves and surfaces become lines and polygons later. */
const KINDS: Readonly<Record<string, number>> = {
  POINT,
  LINESTRING: LINE,
  LINEARRING: LINE,
  POLYGON,
  MULTIPOINT: MULTI_POINT,
  MULTILINESTRING: MULTI_LINE,
  MULTIPOLYGON: MULTI_POLYGON,
  GEOMETRYCOLLECTION: COLLECTION,
  CIRCULARSTRING: 8,
  COMPOUNDCURVE: 9,
  CURVEPOLYGON: 10,
  MULTICURVE: 11,
  MULTISURFACE: 12,
  POLYHEDRALSURFACE: 15,
  TIN: 16,
  TRIANGLE: 17,
}
const MAX_DEPTH = 16
const TOKEN = /[A-Za-z]+|[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[(),]/y

/** Writes Well-Known Text. Returns false if it is not, so that nothing of use is written. */
export function writeWkt(text: string, writer: WkbWriter): boolean {
  const start = /^\s*(?:SRID\s*=\s*\d{1,8}\s*;)?/i.exec(text)?.[0].length ?? 0
  const reader = new WktReader(text, start, writer)
  try {
    reader.geometry(0)
    return reader.isAtEnd
  } catch (error) {
    if (error instanceof NoWkt) return false
    throw error
  }
}

class NoWkt extends Error {}

class WktReader {
  readonly #text: string
  readonly #writer: WkbWriter
  #at: number
  #token = ''

  constructor(text: string, at: number, writer: WkbWriter) {
    this.#text = text
    this.#at = at
    this.#writer = writer
    this.#next()
  }

  get isAtEnd(): boolean {
    return this.#token === ''
  }

  geometry(depth: number): void {
    const match = /^([A-Z]+?)(Z?M?)$/.exec(this.#token.toUpperCase())
    const whole = this.#token.toUpperCase()
    const kind = KINDS[whole] ?? KINDS[match?.[1] ?? '']
    if (kind === undefined || depth > MAX_DEPTH) throw new NoWkt()
    let flags = KINDS[whole] === undefined ? (match?.[2] ?? '') : ''
    this.#next()
    if (/^(?:Z|M|ZM)$/i.test(this.#token)) {
      flags = this.#token.toUpperCase()
      this.#next()
    }
    this.#body(kind, flags, depth)
  }

  #body(kind: number, flags: string, depth: number): void {
    if (this.#token.toUpperCase() === 'EMPTY') {
      this.#next()
      this.#writer.head(wkbCode(kind, flags.includes('Z'), flags.includes('M')))
      if (kind === POINT) for (let i = 2 + flags.length; i > 0; i--) this.#writer.number(Number.NaN)
      else this.#writer.count(0)
      return
    }
    // Without flags, the number of coordinates tells the dimensions.
    const size = flags === '' ? this.#sizeAhead() : 2 + flags.length
    const hasM = flags === '' ? size === 4 : flags.includes('M')
    this.#writer.head(wkbCode(kind, flags === '' ? size > 2 : flags.includes('Z'), hasM))
    if (kind === POINT) {
      this.#expect('(')
      this.#position(size)
      this.#expect(')')
    } else if (kind === LINE || kind === 8) this.#list(() => this.#position(size))
    else if (kind === POLYGON || kind === 17) this.#list(() => this.#list(() => this.#position(size)))
    else this.#list(() => this.#part(kind, flags, size, depth + 1))
  }

  /** Parts of the usual kind have no name. */
  #part(kind: number, flags: string, size: number, depth: number): void {
    if (this.#token !== '(' && !/^[-+.\d]/.test(this.#token) && this.#token.toUpperCase() !== 'EMPTY') {
      this.geometry(depth)
      return
    }
    const dimensions = flags !== '' ? flags : size === 4 ? 'ZM' : size === 3 ? 'Z' : ''
    const inner =
      kind === MULTI_POINT
        ? POINT
        : kind === MULTI_POLYGON || kind === 15 || kind === 12
          ? POLYGON
          : kind === 16
            ? 17
            : LINE
    if (inner === POINT && this.#token !== '(' && this.#token.toUpperCase() !== 'EMPTY') {
      this.#writer.head(wkbCode(POINT, dimensions.includes('Z'), dimensions.includes('M')))
      this.#position(size)
      return
    }
    if (kind === COLLECTION) throw new NoWkt()
    this.#body(kind === 10 ? LINE : inner, dimensions, depth)
  }

  #sizeAhead(): number {
    const first = /[-+.\d][-+.\deE\s]*/.exec(this.#text.slice(this.#at, this.#at + 200))?.[0] ?? ''
    return Math.min(4, Math.max(2, first.trim().split(/\s+/).length))
  }

  #list(take: () => void): void {
    this.#expect('(')
    const place = this.#writer.count(0)
    let count = 0
    for (;;) {
      take()
      count++
      if (this.#token !== ',') break
      this.#next()
    }
    this.#expect(')')
    this.#writer.setCount(place, count)
  }

  #position(size: number): void {
    for (let i = 0; i < size; i++) {
      if (!/^[-+.\d]/.test(this.#token)) throw new NoWkt()
      this.#writer.number(Number(this.#token))
      this.#next()
    }
  }

  #expect(token: string): void {
    if (this.#token !== token) throw new NoWkt()
    this.#next()
  }

  #next(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at] as string)) this.#at++
    if (this.#at >= this.#text.length) {
      this.#token = ''
      return
    }
    TOKEN.lastIndex = this.#at
    const match = TOKEN.exec(this.#text)
    if (match === null) throw new NoWkt()
    this.#token = match[0]
    this.#at = TOKEN.lastIndex
  }
}
