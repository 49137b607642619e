import { CodedError, coded, type MessageCode, type MessageParams } from '@gateway/contracts/messages.js'
import { wholeNumber } from '../../formats/json-values.js'

/**
 * A CQL2 filter (OGC 21-065r2) in the form of its JSON encoding, to which the text encoding is parsed as well. Supports Basic CQL2, the
 * advanced comparison operators, comparison without case and accents, and S_INTERSECTS with literals of every kind.
 */
export type Expression =
  | boolean
  | { readonly op: 'and' | 'or'; readonly args: readonly Expression[] }
  | { readonly op: 'not'; readonly args: readonly [Expression] }
  | { readonly op: ComparisonOperator; readonly args: readonly [Operand, Operand] }
  | { readonly op: 'like'; readonly args: readonly [Operand, Operand] }
  | { readonly op: 'between'; readonly args: readonly [Operand, Operand, Operand] }
  | { readonly op: 'in'; readonly args: readonly [Operand, readonly Operand[]] }
  | { readonly op: 'isNull'; readonly args: readonly [Operand] }
  | {
      readonly op: 's_intersects'
      readonly args: readonly [Spatial, Spatial]
      /** features without a geometry match too, as those of `bbox` do (OGC 17-069r4, /req/core/fc-bbox-response) */
      readonly orMissing?: boolean
      /** bottom and top of a box of six numbers; features without heights are at all heights */
      readonly heights?: readonly [number, number]
    }

export const COMPARISONS = ['=', '<>', '<', '>', '<=', '>='] as const
export type ComparisonOperator = (typeof COMPARISONS)[number]

export type Operand =
  | string
  | number
  | boolean
  | Integer
  | Property
  | { readonly date: string }
  | { readonly timestamp: string }
  | { readonly op: 'casei' | 'accenti'; readonly args: readonly [Operand] }

/** A whole number of 64 bits that a double does not hold, in digits. */
export interface Integer {
  readonly integer: string
}

/** Returns a number as an operand, without a loss of digits. */
export function numberOperand(text: string): number | Integer {
  const whole = wholeNumber(text)
  return typeof whole === 'bigint' ? { integer: text } : Number(text)
}

export interface Property {
  readonly property: string
}

export type Position = readonly number[]

/** As in GeoJSON, except that the coordinates are in the order of the filter's CRS. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

export type Spatial = Property | Geometry | { readonly bbox: readonly number[] }

/** Limits of one filter: the depth of nesting, and the number of operators, operands and coordinates together. */
export const MAX_DEPTH = 32
export const MAX_NODES = 2_000

/** Returns the fault of a geometry; null if its lines and rings have the positions that they need (RFC 7946, 3.1). */
export function faultOf(geometry: Geometry): MessageCode | null {
  const isShort = (line: readonly Position[]) => line.length < 2
  const isOpen = (ring: readonly Position[]) => ring.length < 4 || !isSame(ring[0], ring[ring.length - 1])
  const { type } = geometry
  const lines = type === 'LineString' ? [geometry.coordinates] : type === 'MultiLineString' ? geometry.coordinates : []
  const rings = type === 'Polygon' ? geometry.coordinates : type === 'MultiPolygon' ? geometry.coordinates.flat() : []
  if (lines.some(isShort)) return 'said.query_line_short'
  return rings.some(isOpen) ? 'said.query_ring_open' : null
}

function isSame(a: Position | undefined, b: Position | undefined): boolean {
  return a !== undefined && a[0] === b?.[0] && a[1] === b?.[1]
}

/** A query that cannot be answered as the caller wrote it; its message names the fault and its place in the text. */
export class QueryError extends CodedError {
  constructor(code: MessageCode, params: MessageParams = {}) {
    super(coded(code, params))
  }
}

/** Counts the parts of a filter, and refuses a filter that is too large. */
export class Budget {
  #nodes = 0

  take(depth: number): void {
    if (depth > MAX_DEPTH) throw new QueryError('query_depth', { limit: MAX_DEPTH })
    if (++this.#nodes > MAX_NODES) throw new QueryError('query_size', { limit: MAX_NODES })
  }
}

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

export function isDate(text: string): boolean {
  return DATE.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
}

/** True for an instant of RFC 3339. */
export function isTimestamp(text: string): boolean {
  const matched = TIMESTAMP.exec(text)
  return matched !== null && isDate(matched[1] as string) && !Number.isNaN(Date.parse(text))
}
