import type { MessageCode, MessageParams } from '@gateway/contracts/messages.js'
import { idOf, parseJson } from '../../formats/json-values.js'
import {
  Budget,
  COMPARISONS,
  type Expression,
  faultOf,
  type Geometry,
  isDate,
  isTimestamp,
  type Operand,
  QueryError,
  type Spatial,
} from './expression.js'

const OPERATORS = ['and', 'or', 'not', ...COMPARISONS, 'like', 'between', 'in', 'isNull', 's_intersects'] as const
const DEPTHS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 1,
  LineString: 1,
  MultiLineString: 2,
  Polygon: 2,
  MultiPolygon: 3,
}

/** @param problem the code of a clause */
function wrong(path: string, problem: MessageCode): never {
  return fail(path, 'query_at', { problem })
}

function fail(path: string, code: MessageCode, params: MessageParams): never {
  throw new QueryError(code, { place: path === '' ? 'said.query_top' : path, ...params })
}

/** Parses CQL2 JSON. Throws `QueryError` with the position as a JSON pointer. */
export function parseCql2Json(text: string): Expression {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw new QueryError('query_not_json', { reason: (error as Error).message })
  }
  return expressionOf(value, '', 0, new Budget())
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function expressionOf(value: unknown, path: string, depth: number, budget: Budget): Expression {
  budget.take(depth)
  if (typeof value === 'boolean') return value
  if (!isObject(value) || typeof value.op !== 'string') return wrong(path, 'said.query_object_expected')
  const op = OPERATORS.find((known) => known === value.op)
  if (op === undefined) return fail(`${path}/op`, 'query_at_operator', { name: value.op.slice(0, 40) })
  const { args } = value
  if (!Array.isArray(args)) return wrong(`${path}/args`, 'said.query_list_expected')
  const count = (least: number, most = least) => {
    if (args.length < least || args.length > most)
      fail(`${path}/args`, most > least ? 'query_at_arguments_least' : 'query_at_arguments', {
        op,
        count: least,
        found: args.length,
      })
  }
  const operand = (i: number) => operandOf(args[i], `${path}/args/${i}`, depth + 1, budget)
  switch (op) {
    case 'and':
    case 'or':
      count(2, Number.POSITIVE_INFINITY)
      return { op, args: args.map((arg, i) => expressionOf(arg, `${path}/args/${i}`, depth + 1, budget)) }
    case 'not':
      count(1)
      return { op, args: [expressionOf(args[0], `${path}/args/0`, depth + 1, budget)] }
    case 'between':
      count(3)
      return { op, args: [operand(0), operand(1), operand(2)] }
    case 'isNull':
      count(1)
      return { op, args: [operand(0)] }
    case 'in': {
      count(2)
      const list: unknown = args[1]
      if (!Array.isArray(list) || list.length === 0) return wrong(`${path}/args/1`, 'said.query_values_expected')
      const values = list.map((one, i) => operandOf(one, `${path}/args/1/${i}`, depth + 1, budget))
      return { op, args: [operand(0), values] }
    }
    case 's_intersects': {
      count(2)
      const spatial = (i: number) => spatialOf(args[i], `${path}/args/${i}`, depth + 1, budget)
      return { op, args: [spatial(0), spatial(1)] }
    }
    default:
      count(2)
      return { op, args: [operand(0), operand(1)] }
  }
}

function operandOf(value: unknown, path: string, depth: number, budget: Budget): Operand {
  budget.take(depth)
  // A long number has been parsed as an id of that kind.
  const long = typeof value === 'string' ? idOf(value) : null
  if (typeof long === 'bigint') return { integer: String(long) }
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (isObject(value)) {
    if (typeof value.property === 'string') return { property: value.property }
    if (typeof value.date === 'string') {
      return isDate(value.date) ? { date: value.date } : wrong(`${path}/date`, 'said.query_not_date')
    }
    if (typeof value.timestamp === 'string') {
      const { timestamp } = value
      return isTimestamp(timestamp) ? { timestamp } : wrong(`${path}/timestamp`, 'said.query_not_instant')
    }
    if ((value.op === 'casei' || value.op === 'accenti') && Array.isArray(value.args) && value.args.length === 1) {
      return { op: value.op, args: [operandOf(value.args[0], `${path}/args/0`, depth + 1, budget)] }
    }
    if (typeof value.op === 'string') return fail(`${path}/op`, 'query_at_function', { name: value.op.slice(0, 40) })
  }
  return wrong(path, 'said.query_value_expected')
}

function spatialOf(value: unknown, path: string, depth: number, budget: Budget): Spatial {
  budget.take(depth)
  if (!isObject(value)) return wrong(path, 'said.query_geometry_expected')
  if (typeof value.property === 'string') return { property: value.property }
  if (Array.isArray(value.bbox)) {
    const { bbox } = value
    const isBox = (bbox.length === 4 || bbox.length === 6) && bbox.every((one) => Number.isFinite(one))
    return isBox ? { bbox: bbox as number[] } : wrong(`${path}/bbox`, 'said.query_numbers_expected')
  }
  return geometryOf(value, path, depth, budget)
}

function geometryOf(value: Record<string, unknown>, path: string, depth: number, budget: Budget): Geometry {
  const type = String(value.type)
  if (type === 'GeometryCollection' && Array.isArray(value.geometries)) {
    const geometries = value.geometries.map((one, i) => {
      const inner = `${path}/geometries/${i}`
      budget.take(depth)
      return isObject(one) ? geometryOf(one, inner, depth + 1, budget) : wrong(inner, 'said.query_geometry_expected')
    })
    return { type, geometries }
  }
  if (!Object.hasOwn(DEPTHS, type)) return wrong(`${path}/type`, 'said.query_not_type')
  checkPositions(value.coordinates, `${path}/coordinates`, DEPTHS[type] as number, budget)
  const geometry = { type, coordinates: value.coordinates } as Geometry
  const fault = faultOf(geometry)
  return fault === null ? geometry : wrong(`${path}/coordinates`, fault)
}

function checkPositions(value: unknown, path: string, nesting: number, budget: Budget): void {
  budget.take(0)
  if (!Array.isArray(value) || value.length === 0) wrong(path, 'said.query_list_expected')
  if (nesting > 0) {
    for (const [i, one] of value.entries()) checkPositions(one, `${path}/${i}`, nesting - 1, budget)
    return
  }
  const isPosition = value.length >= 2 && value.length <= 4 && value.every((one) => Number.isFinite(one))
  if (!isPosition) wrong(path, 'said.query_position_expected')
}
