import type { MessageCode, MessageParams } from '@gateway/contracts/messages.js'
import {
  Budget,
  COMPARISONS,
  type ComparisonOperator,
  type Expression,
  faultOf,
  type Geometry,
  isDate,
  isTimestamp,
  numberOperand,
  type Operand,
  type Position,
  QueryError,
  type Spatial,
} from './expression.js'

interface Token {
  readonly kind: 'word' | 'quoted' | 'text' | 'number' | 'sign' | 'end'
  /** without quotes and escapes; the original text of a word */
  readonly text: string
  /** position of the first character, counted from 1 */
  readonly at: number
}

const SPACE = /[\s]/
const WORD_START = /[\p{L}_:]/u
const WORD = /[\p{L}\p{N}\p{M}_.:-]/u
const DIGIT = /[0-9]/

function wrong(at: number, code: MessageCode, params: MessageParams = {}): never {
  throw new QueryError(code, { at, ...params })
}

/** @param expected text of the query, or the code of a clause */
function expecting(expected: string, { kind, text, at }: Token): never {
  if (kind === 'end') wrong(at, 'query_expected_end', { expected })
  wrong(at, 'query_expected', { expected, found: shown(text) })
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let i = 0
  const at = (index: number) => text.charAt(index)
  while (i < text.length) {
    const start = i
    const c = String.fromCodePoint(text.codePointAt(i) as number)
    if (SPACE.test(c)) i++
    else if (c === "'") {
      let value = ''
      for (i++; ; i++) {
        if (i >= text.length) wrong(start + 1, 'query_text_open')
        if ((at(i) === "'" || at(i) === '\\') && at(i + 1) === "'") i++
        else if (at(i) === "'") break
        value += at(i)
      }
      i++
      tokens.push({ kind: 'text', text: value, at: start + 1 })
    } else if (c === '"') {
      const end = text.indexOf('"', i + 1)
      if (end === -1) wrong(start + 1, 'query_name_open')
      tokens.push({ kind: 'quoted', text: text.slice(i + 1, end), at: start + 1 })
      i = end + 1
    } else if (DIGIT.test(c) || ((c === '-' || c === '+' || c === '.') && /[0-9.]/.test(at(i + 1)))) {
      const matched = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/.exec(text.slice(i, i + 64))
      if (matched === null) wrong(start + 1, 'query_no_number', { found: c })
      i += matched[0].length
      tokens.push({ kind: 'number', text: matched[0], at: start + 1 })
    } else if (WORD_START.test(c)) {
      let end = i + c.length
      while (end < text.length) {
        const next = String.fromCodePoint(text.codePointAt(end) as number)
        if (!WORD.test(next)) break
        end += next.length
      }
      tokens.push({ kind: 'word', text: text.slice(i, end), at: start + 1 })
      i = end
    } else {
      const two = text.slice(i, i + 2)
      const sign = two === '<>' || two === '<=' || two === '>=' ? two : c
      if (!['(', ')', ',', '=', '<', '>', '<>', '<=', '>='].includes(sign))
        wrong(start + 1, 'query_unexpected', { found: sign })
      tokens.push({ kind: 'sign', text: sign, at: start + 1 })
      i += sign.length
    }
  }
  tokens.push({ kind: 'end', text: '', at: text.length + 1 })
  return tokens
}

const GEOMETRIES: ReadonlyMap<string, Exclude<Geometry['type'], 'GeometryCollection'>> = new Map([
  ['POINT', 'Point'],
  ['LINESTRING', 'LineString'],
  ['POLYGON', 'Polygon'],
  ['MULTIPOINT', 'MultiPoint'],
  ['MULTILINESTRING', 'MultiLineString'],
  ['MULTIPOLYGON', 'MultiPolygon'],
])
const RESERVED = new Set(['AND', 'OR', 'NOT', 'LIKE', 'BETWEEN', 'IN', 'IS', 'NULL', 'TRUE', 'FALSE'])
/** Operators of other conformance classes. */
const UNSUPPORTED = /^(INTERVAL|DIV|[ST]_[A-Z]+|A_(CONTAINS|CONTAINEDBY|EQUALS|OVERLAPS))$/

/** Parses CQL2 Text. Throws `QueryError` with the position of the character. */
export function parseCql2Text(text: string): Expression {
  return new Parser(tokensOf(text)).parse()
}

class Parser {
  readonly #tokens: readonly Token[]
  readonly #budget = new Budget()
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): Expression {
    const expression = this.#or(0)
    const rest = this.#peek()
    if (rest.kind !== 'end') wrong(rest.at, 'query_unexpected', { found: shown(rest.text) })
    return expression
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)] as Token
  }

  #take(): Token {
    const token = this.#peek()
    this.#next++
    return token
  }

  #isWord(word: string, ahead = 0): boolean {
    const { kind, text } = this.#peek(ahead)
    return kind === 'word' && text.toUpperCase() === word
  }

  #isSign(sign: string, ahead = 0): boolean {
    const { kind, text } = this.#peek(ahead)
    return kind === 'sign' && text === sign
  }

  #takesWord(word: string): boolean {
    const found = this.#isWord(word)
    if (found) this.#next++
    return found
  }

  #expectWord(word: string): void {
    if (!this.#takesWord(word)) expecting(word, this.#peek())
  }

  #expectSign(sign: string): void {
    if (!this.#isSign(sign)) expecting(sign, this.#peek())
    this.#next++
  }

  #or(depth: number): Expression {
    return this.#joined('or', () => this.#joined('and', () => this.#not(depth)))
  }

  #joined(op: 'and' | 'or', part: () => Expression): Expression {
    const args = [part()]
    while (this.#takesWord(op.toUpperCase())) args.push(part())
    return args.length === 1 ? (args[0] as Expression) : { op, args }
  }

  #not(depth: number): Expression {
    this.#budget.take(depth)
    if (this.#takesWord('NOT')) return { op: 'not', args: [this.#not(depth + 1)] }
    if (this.#isSign('(')) {
      this.#next++
      const inner = this.#or(depth + 1)
      this.#expectSign(')')
      return inner
    }
    if (this.#isWord('S_INTERSECTS') && this.#isSign('(', 1)) return this.#intersects(depth)
    const start = this.#peek()
    if ((this.#isWord('TRUE') || this.#isWord('FALSE')) && !isOperator(this.#peek(1))) {
      this.#next++
      return start.text.toUpperCase() === 'TRUE'
    }
    return this.#predicate(this.#operand(depth + 1), depth)
  }

  #predicate(left: Operand, depth: number): Expression {
    const { kind, text } = this.#peek()
    const comparison = COMPARISONS.find((op) => kind === 'sign' && op === text)
    if (comparison !== undefined) {
      this.#next++
      return { op: comparison as ComparisonOperator, args: [left, this.#operand(depth + 1)] }
    }
    if (this.#takesWord('IS')) {
      const isNot = this.#takesWord('NOT')
      this.#expectWord('NULL')
      return negatedIf(isNot, { op: 'isNull', args: [left] })
    }
    const isNot = this.#takesWord('NOT')
    if (this.#takesWord('LIKE')) {
      return negatedIf(isNot, { op: 'like', args: [left, this.#operand(depth + 1)] })
    }
    if (this.#takesWord('BETWEEN')) {
      const from = this.#operand(depth + 1)
      this.#expectWord('AND')
      return negatedIf(isNot, { op: 'between', args: [left, from, this.#operand(depth + 1)] })
    }
    if (this.#takesWord('IN')) {
      this.#expectSign('(')
      const values = [this.#operand(depth + 1)]
      while (this.#isSign(',')) {
        this.#next++
        values.push(this.#operand(depth + 1))
      }
      this.#expectSign(')')
      return negatedIf(isNot, { op: 'in', args: [left, values] })
    }
    return expecting('said.query_comparison', this.#peek())
  }

  #operand(depth: number): Operand {
    this.#budget.take(depth)
    const token = this.#take()
    const { kind, text, at } = token
    if (kind === 'text') return text
    if (kind === 'number') return numberOperand(text)
    if (kind === 'quoted') return { property: text }
    if (kind !== 'word') expecting('said.query_value', token)
    const word = text.toUpperCase()
    if (this.#isSign('(')) {
      if (word === 'CASEI' || word === 'ACCENTI') {
        this.#next++
        const inner = this.#operand(depth + 1)
        this.#expectSign(')')
        return { op: word === 'CASEI' ? 'casei' : 'accenti', args: [inner] }
      }
      if (word === 'DATE' || word === 'TIMESTAMP') return this.#instant(word)
      wrong(at, UNSUPPORTED.test(word) ? 'query_unsupported' : 'query_no_function', { name: text })
    }
    if (word === 'TRUE' || word === 'FALSE') return word === 'TRUE'
    if (RESERVED.has(word)) expecting('said.query_value', token)
    return { property: text }
  }

  #instant(word: 'DATE' | 'TIMESTAMP'): Operand {
    this.#expectSign('(')
    const { kind, text, at } = this.#take()
    if (kind !== 'text')
      wrong(at, 'query_instant_of', { word, example: `2026-11-24${word === 'DATE' ? '' : 'T02:45:00Z'}` })
    this.#expectSign(')')
    if (word === 'DATE') return isDate(text) ? { date: text } : wrong(at, 'query_no_date', { text })
    return isTimestamp(text) ? { timestamp: text } : wrong(at, 'query_no_instant', { text })
  }

  #intersects(depth: number): Expression {
    this.#next++
    this.#expectSign('(')
    const left = this.#spatial(depth + 1)
    this.#expectSign(',')
    const right = this.#spatial(depth + 1)
    this.#expectSign(')')
    return { op: 's_intersects', args: [left, right] }
  }

  #spatial(depth: number): Spatial {
    this.#budget.take(depth)
    const token = this.#take()
    if (token.kind === 'quoted') return { property: token.text }
    if (token.kind !== 'word') expecting('said.query_geometry', token)
    const word = token.text.toUpperCase()
    if (word === 'BBOX' && this.#isSign('(')) return this.#box()
    const isGeometry = GEOMETRIES.has(word) || word === 'GEOMETRYCOLLECTION'
    const hasZ = isGeometry && this.#takesWord('Z')
    if (!isGeometry || !this.#isSign('(')) return { property: token.text }
    const geometry = this.#geometry(word, hasZ, depth)
    const fault = faultOf(geometry)
    return fault === null ? geometry : wrong(token.at, 'query_fault', { problem: fault })
  }

  #box(): Spatial {
    const { at } = this.#peek()
    const bbox = this.#list(() => this.#number())
    if (bbox.length !== 4 && bbox.length !== 6) wrong(at, 'query_fault', { problem: 'said.query_box' })
    return { bbox }
  }

  #geometry(word: string, hasZ: boolean, depth: number): Geometry {
    if (word === 'GEOMETRYCOLLECTION') {
      const geometries = this.#list(() => {
        const inner = this.#spatial(depth + 1)
        return 'type' in inner
          ? inner
          : wrong(this.#peek().at, 'query_fault', { problem: 'said.query_geometry_expected' })
      })
      return { type: 'GeometryCollection', geometries }
    }
    const position = () => this.#position(hasZ)
    const positions = () => this.#list(position)
    const rings = () => this.#list(positions)
    const type = GEOMETRIES.get(word) as Exclude<Geometry['type'], 'GeometryCollection'>
    switch (type) {
      case 'Point': {
        this.#expectSign('(')
        const coordinates = position()
        this.#expectSign(')')
        return { type, coordinates }
      }
      case 'MultiPoint':
        return {
          type,
          coordinates: this.#list(() => (this.#isSign('(') ? (this.#list(position)[0] as Position) : position())),
        }
      case 'LineString':
        return { type, coordinates: positions() }
      case 'MultiLineString':
      case 'Polygon':
        return { type, coordinates: rings() }
      case 'MultiPolygon':
        return { type, coordinates: this.#list(rings) }
    }
  }

  #list<Part>(part: () => Part): Part[] {
    this.#expectSign('(')
    const parts = [part()]
    while (this.#isSign(',')) {
      this.#next++
      parts.push(part())
    }
    this.#expectSign(')')
    return parts
  }

  #position(hasZ: boolean): Position {
    this.#budget.take(0)
    const position = [this.#number(), this.#number()]
    if (hasZ || this.#peek().kind === 'number') position.push(this.#number())
    return position
  }

  #number(): number {
    const token = this.#take()
    if (token.kind !== 'number') expecting('said.query_number', token)
    const value = Number(token.text)
    return Number.isFinite(value) ? value : wrong(token.at, 'query_too_large', { number: token.text })
  }
}

function isOperator({ kind, text }: Token): boolean {
  if (kind === 'sign') return COMPARISONS.some((op) => op === text)
  return kind === 'word' && ['IS', 'NOT', 'LIKE', 'BETWEEN', 'IN'].includes(text.toUpperCase())
}

function negatedIf(isNot: boolean, expression: Expression): Expression {
  return isNot ? { op: 'not', args: [expression] } : expression
}

function shown(text: string): string {
  return text.slice(0, 40)
}
