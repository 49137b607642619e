import { type IndexField, quoted } from '../../index-file/index-description.js'
import { boxOf, isBox } from '../geometry.js'
import { type Expression, type Geometry, isDate, isTimestamp, type Operand, QueryError } from './expression.js'
import { dependsOnOrder } from './folding.js'

type Intersection = Extract<Expression, { readonly op: 's_intersects' }>

/** The name of the geometry in S_INTERSECTS, which takes no other property. */
export const GEOMETRY_NAME = 'geometry'

/** Returns the name of the geometry among properties: `geometry`, or `geometry_2` and so on if a field has that name. */
export function geometryNameAmong(isTaken: (name: string) => boolean): string {
  let name = GEOMETRY_NAME
  for (let n = 2; isTaken(name); n++) name = `${GEOMETRY_NAME}_${n}`
  return name
}

export type SqlValue = string | number | null

/** A condition, with `?` for each of `values` in their order. */
export interface Sql {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** The geometry in a query of the table `features`, or of `feature_texts`. */
export const OF_FEATURES = 'geom'
export const OF_TEXTS = '(SELECT geom FROM features WHERE features.fid = feature_texts.fid)'

/** Texts whose condition is as exact as the comparison, so that those that do not match can be searched. */
export type RestOf = 'folded' | 'unaccented'

export interface FoundTexts {
  readonly fids: readonly number[]
  /** true if these are the features with a text that does not match */
  readonly isRest: boolean
}

export interface CompileContext {
  readonly fields: ReadonlyMap<string, IndexField>
  /** the expression of the geometry */
  readonly geom: string
  /** called for each column of `features` in the condition, except the geometry */
  readonly onColumn?: () => void
  /** stores a literal, and returns its number for `gw_intersects` */
  readonly geometry: (geometry: Geometry) => number
  /** true if the R-tree finds few enough features in a box: west, south, east, north */
  readonly usesTree: (box: readonly [number, number, number, number]) => boolean
  /**
   * Returns the features whose folded text of a column matches a condition; null if the index has no such texts, or if many match. With `exact`, the
   * texts are those without accents, and the features that match `exact` are returned. With `rest`, those with a text that does not match are
   * returned if many match. Absent: there are no folded texts.
   */
  readonly findFolded?: (column: string, condition: Sql, exact: Sql | null, rest: RestOf | null) => FoundTexts | null
  /** true if the index has boxes that touch a box */
  readonly hasAny: (box: readonly [number, number, number, number]) => boolean
  /** default: that of the index, which is in SQLite */
  readonly dialect?: Dialect
}

export type Kind = 'string' | 'number' | 'boolean' | 'time' | 'json'

/** The differences between databases. The texts that it returns never contain input of a caller. */
export interface Dialect {
  truth(value: boolean): string
  /** A literal as a value of the statement. An instant is given as in RFC 3339, and a whole number that a double does not hold in digits. */
  literal(kind: Exclude<Kind, 'json'>, value: string | number | boolean): Sql
  /** The expression of a property in comparisons. */
  property(field: IndexField): string
  /** An expression of texts as the comparisons that have an order take it. */
  ordered(text: string): string
  casei(operand: Operand, text: string, context: CompileContext): string
  accenti(operand: Operand, text: string, context: CompileContext): string
  /** The condition that the geometry intersects a literal. */
  intersects(geometry: Geometry, context: CompileContext, orMissing: boolean, isNegated: boolean): Sql
  /** The condition that the geometry is between two heights, or has none. */
  atHeight(bottom: number, top: number, context: CompileContext): Sql
}

interface Value extends Sql {
  readonly kind: Kind
  /** as written by the caller, for messages */
  readonly shown: string
  readonly literal: boolean
}

export const KINDS: Readonly<Record<IndexField['type'], Kind>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  date: 'time',
  datetime: 'time',
  json: 'json',
}

/** Converts to Julian days exactly like SQLite's julianday(): from a whole number of milliseconds. */
function julianDay(instant: string): number {
  return (Date.parse(instant) + 210_866_760_000_000) / 86_400_000
}

const SQLITE: Dialect = {
  truth: (value) => (value ? '1' : '0'),
  literal: (kind, value) => ({
    text: kind === 'number' && typeof value === 'string' ? 'CAST(? AS INTEGER)' : '?',
    values: [kind === 'time' ? julianDay(String(value)) : typeof value === 'boolean' ? Number(value) : value],
  }),
  property: ({ column, type }) => (KINDS[type] === 'time' ? `julianday(${quoted(column)})` : quoted(column)),
  ordered: (text) => text,
  casei: foldedOf,
  accenti: unaccentedText,
  intersects: oneIntersection,
  atHeight: (bottom, top, { geom }) => ({ text: `gw_at_height(${geom}, ?, ?)`, values: [bottom, top] }),
}

const dialectOf = ({ dialect }: CompileContext): Dialect => dialect ?? SQLITE

/**
 * Returns the condition of a filter in the dialect of the context. Input of the caller is passed only in the values, never in the text. Throws
 * `QueryError` for unknown properties, and for comparisons of different types.
 */
export function compile(expression: Expression, context: CompileContext): Sql {
  return condition(expression, context, false)
}

function condition(expression: Expression, context: CompileContext, isNegated: boolean): Sql {
  if (typeof expression === 'boolean') return { text: dialectOf(context).truth(expression), values: [] }
  switch (expression.op) {
    case 'and':
    case 'or':
      return balanced(
        expression.args.map((arg) => condition(arg, context, isNegated)),
        expression.op === 'and' ? 'AND' : 'OR',
      )
    case 'not':
      return wrapped('NOT (', condition(expression.args[0], context, true), ')')
    case 'isNull': {
      const [arg] = expression.args
      if (typeof arg === 'object' && 'property' in arg && arg.property === geometryName(context))
        return { text: `${context.geom} IS NULL`, values: [] }
      const value = operandOf(arg, context)
      return value.literal
        ? { text: dialectOf(context).truth(false), values: [] }
        : wrapped('', { ...value, text: columnOf(arg, context) }, ' IS NULL')
    }
    case 's_intersects':
      return intersection(expression, context, isNegated)
    case 'like': {
      const found =
        amongFolded(expression.args, ([left, pattern]) => `${left} LIKE ${pattern} ESCAPE '\\'`, context, isNegated) ??
        amongUnaccented(expression, expression.args, context, isNegated)
      if (found !== null) return found
      const [left, pattern] = expression.args.map((arg) => operandOf(arg, context)) as [Value, Value]
      for (const one of [left, pattern]) {
        if (one.kind !== 'string') throw new QueryError('query_like', { found: one.shown })
      }
      return { text: `${left.text} LIKE ${pattern.text} ESCAPE '\\'`, values: [...left.values, ...pattern.values] }
    }
    case 'between': {
      const [left, from, to] = alike(expression.args, context).map((one) => inOrder(one, context)) as [
        Value,
        Value,
        Value,
      ]
      const values = [...left.values, ...from.values, ...to.values]
      // In Postgres, an operand of BETWEEN has no COLLATE outside of parentheses.
      return { text: `${left.text} BETWEEN (${from.text}) AND (${to.text})`, values }
    }
    case 'in': {
      const operands = [expression.args[0], ...expression.args[1]]
      const found =
        amongFolded(operands, ([first, ...rest]) => `${first} IN (${rest.join(', ')})`, context, isNegated) ??
        amongUnaccented(expression, operands, context, isNegated)
      if (found !== null) return found
      const [left, ...list] = alike([expression.args[0], ...expression.args[1]], context) as [Value, ...Value[]]
      const values = [left, ...list].flatMap((one) => one.values)
      return { text: `${left.text} IN (${list.map(({ text }) => text).join(', ')})`, values }
    }
    default: {
      const { op } = expression
      // The texts that are equal can be searched; those that are not would be nearly all.
      const isOfTexts = expression.args.some((arg) => typeof arg === 'object' && 'op' in arg)
      if (op === '<>' && isOfTexts)
        return wrapped('NOT (', condition({ op: '=', args: expression.args }, context, true), ')')
      const found =
        amongFolded(expression.args, ([left, right]) => `${left} ${op} ${right}`, context, isNegated) ??
        amongUnaccented(expression, expression.args, context, isNegated)
      if (found !== null) return found
      const isEquality = op === '=' || op === '<>'
      const [left, right] = alike(expression.args, context).map((one) =>
        isEquality ? one : inOrder(one, context),
      ) as [Value, Value]
      return { text: `${left.text} ${op} ${right.text}`, values: [...left.values, ...right.values] }
    }
  }
}

function inOrder(value: Value, context: CompileContext): Value {
  const isText = value.kind === 'string' || value.kind === 'json'
  return isText ? { ...value, text: dialectOf(context).ordered(value.text) } : value
}

/** Builds a binary tree, because SQLite limits the depth of expressions. */
function balanced(parts: readonly Sql[], operator: string): Sql {
  if (parts.length === 1) return wrapped('(', parts[0] as Sql, ')')
  const middle = parts.length >> 1
  const left = balanced(parts.slice(0, middle), operator)
  const right = balanced(parts.slice(middle), operator)
  return { text: `(${left.text} ${operator} ${right.text})`, values: [...left.values, ...right.values] }
}

function wrapped(before: string, { text, values }: Sql, after: string): Sql {
  return { text: `${before}${text}${after}`, values }
}

/** Converts the operands of one comparison to the same type. */
function alike(operands: readonly Operand[], context: CompileContext): Value[] {
  const values = operands.map((operand) => operandOf(operand, context))
  const time = values.some(({ kind }) => kind === 'time')
  const taken = values.map((value, i) => (time ? asTime(value, operands[i] as Operand, context) : value))
  const first = taken[0] as Value
  for (const one of taken) {
    const isText = (kind: Kind) => kind === 'string' || kind === 'json'
    if (one.kind !== first.kind && !(isText(one.kind) && isText(first.kind)))
      throw new QueryError('query_kinds', {
        left: first.shown,
        left_kind: first.kind,
        right: one.shown,
        right_kind: one.kind,
      })
  }
  return taken
}

/** Converts a text that is compared with a date, if it is a valid date. */
function asTime(value: Value, operand: Operand, context: CompileContext): Value {
  if (typeof operand !== 'string' || !(isDate(operand) || isTimestamp(operand))) return value
  return { ...value, kind: 'time', ...dialectOf(context).literal('time', operand) }
}

function operandOf(operand: Operand, context: CompileContext): Value {
  // SQLite would compare only the text in front of it.
  if (typeof operand === 'string' && operand.includes('\0')) throw new QueryError('query_nul', { name: 'filter' })
  const dialect = dialectOf(context)
  const literal = (kind: Exclude<Kind, 'json'>, value: string | number | boolean, shown: string): Value => ({
    kind,
    shown,
    literal: true,
    ...dialect.literal(kind, value),
  })
  if (typeof operand === 'string') return literal('string', operand, `'${operand.slice(0, 40)}'`)
  if (typeof operand === 'number') return literal('number', operand, String(operand))
  if (typeof operand === 'boolean') return literal('boolean', operand, String(operand))
  if ('integer' in operand) return literal('number', operand.integer, operand.integer)
  if ('date' in operand || 'timestamp' in operand) {
    const instant = 'date' in operand ? operand.date : operand.timestamp
    return literal('time', instant, `'${instant}'`)
  }
  if ('property' in operand) {
    const field = fieldOf(operand.property, context)
    context.onColumn?.()
    const text = dialect.property(field)
    return { kind: KINDS[field.type], text, values: [], shown: operand.property, literal: false }
  }
  const [arg] = operand.args
  const inner = operandOf(arg, context)
  if (inner.kind !== 'string')
    throw new QueryError('query_casei', { name: operand.op.toUpperCase(), found: inner.shown })
  if (operand.op === 'casei') return { ...inner, text: dialect.casei(arg, inner.text, context) }
  return hasNoAccents(arg, context) ? inner : { ...inner, text: dialect.accenti(arg, inner.text, context) }
}

/**
 * Returns a comparison of CASEI of a property with CASEI of literals as a search of the folded texts; null if it is another comparison, if the index has
 * no folded texts of the property, or if many match.
 */
function amongFolded(
  operands: readonly Operand[],
  compared: (operands: readonly string[]) => string,
  context: CompileContext,
  isNegated: boolean,
): Sql | null {
  const folded = operands.map((one) =>
    typeof one === 'object' && 'op' in one && one.op === 'casei' ? one.args[0] : null,
  )
  const literals = folded.slice(1)
  const [first] = folded
  if (first === null || first === undefined || typeof first !== 'object' || !('property' in first)) return null
  if (!literals.every((one): one is string => typeof one === 'string' && !one.includes('\0'))) return null
  const { type, column } = fieldOf(first.property, context)
  if (type !== 'string') return null
  const name = quoted(column)
  const condition = { text: compared([name, ...literals.map(() => 'gw_casei(?)')]), values: literals }
  const found = context.findFolded?.(column, condition, null, isNegated ? 'folded' : null) ?? null
  return found === null ? null : amongFids(found, name, context, isNegated)
}

function amongFids({ fids, isRest }: FoundTexts, name: string, context: CompileContext, isNegated: boolean): Sql {
  const among = isRest ? 'NOT IN' : 'IN'
  const found = { text: `fid ${among} (SELECT value FROM json_each(?))`, values: [JSON.stringify(fids)] }
  if (!isNegated) return found
  context.onColumn?.()
  // Without a value the result is unknown, and stays unknown when negated.
  return wrapped(`CASE WHEN ${name} IS NULL THEN NULL ELSE `, found, ' END')
}

/**
 * Returns a comparison of ACCENTI of a property, with or without CASEI, with literals as a search of the texts without case and accents; null if it is
 * another comparison, if the index has no such texts of the property, or if many match.
 */
function amongUnaccented(
  comparison: Exclude<Expression, boolean>,
  operands: readonly Operand[],
  context: CompileContext,
  isNegated: boolean,
): Sql | null {
  const { op } = comparison
  const { findFolded, onColumn: _, ...rest } = context
  const [first, ...literals] = operands.map(innermost)
  if (findFolded === undefined || (op !== '=' && op !== 'in' && op !== 'like')) return null
  if (typeof first !== 'object' || !('property' in first) || !hasFunction(operands[0], 'accenti')) return null
  if (!literals.every((one): one is string => typeof one === 'string' && !dependsOnOrder(one))) return null
  const { type, column } = fieldOf(first.property, context)
  if (type !== 'string') return null
  const name = quoted(column)
  // Folding makes two characters of some, so the place of one character becomes that of any.
  const wanted =
    op === 'like' ? literals.map((one) => one.replace(/\\.|_/gsu, (it) => (it === '_' ? '%' : it))) : literals
  const parts = wanted.map(() => (op === 'like' ? `${name} LIKE ${UNACCENTED} ESCAPE '\\'` : `${name} = ${UNACCENTED}`))
  const exact = condition(comparison, rest, false)
  // Then the search is as exact as the comparison.
  const isFolded =
    operands.every((one) => hasBoth(one)) && !(op === 'like' && literals.some((one) => one.includes('_')))
  const restOf = isNegated && isFolded ? 'unaccented' : null
  const found = findFolded(column, { text: `(${parts.join(' OR ')})`, values: wanted }, exact, restOf)
  return found === null ? null : amongFids(found, name, context, isNegated)
}

const UNACCENTED = 'gw_casei(gw_accenti(?))'

function innermost(operand: Operand): Operand {
  return typeof operand === 'object' && 'op' in operand ? innermost(operand.args[0]) : operand
}

function hasFunction(operand: Operand | undefined, name: 'accenti' | 'casei'): boolean {
  return typeof operand === 'object' && 'op' in operand && (operand.op === name || hasFunction(operand.args[0], name))
}

function hasBoth(operand: Operand): boolean {
  return hasFunction(operand, 'accenti') && hasFunction(operand, 'casei')
}

/** True if SQLite's texts of an operand are the same without accents: letters of ASCII and ideographs. */
function hasNoAccents(operand: Operand, context: CompileContext): boolean {
  const inner = innermost(operand)
  return typeof inner === 'object' && 'property' in inner && fieldOf(inner.property, context).ascii_folding === true
}

/** SQLite's lower() takes a tenth of the time of a call of JavaScript, and is right for ASCII. */
function foldedOf(operand: Operand, text: string, context: CompileContext): string {
  return unlessAscii(operand, `gw_casei(${text})`, `lower(${text})`, context)
}

function unaccentedText(operand: Operand, text: string, context: CompileContext): string {
  return unlessAscii(operand, `gw_accenti(${text})`, text, context)
}

/** Returns an expression of a property for texts of ASCII, and another one for all others. */
function unlessAscii(operand: Operand, whole: string, ascii: string, context: CompileContext): string {
  const inner = innermost(operand)
  if (typeof inner !== 'object' || !('property' in inner)) return whole
  const { column, ascii_folding: isFoldedByAscii } = fieldOf(inner.property, context)
  return isFoldedByAscii === true
    ? ascii
    : `CASE WHEN ${quoted(column)} GLOB '*[^ -~]*' THEN ${whole} ELSE ${ascii} END`
}

function columnOf(operand: Operand, context: CompileContext): string {
  if (typeof operand === 'object' && 'property' in operand) {
    context.onColumn?.()
    return quoted(fieldOf(operand.property, context).column)
  }
  return operandOf(operand, context).text
}

function geometryName({ fields }: CompileContext): string {
  return geometryNameAmong((name) => fields.has(name))
}

function fieldOf(name: string, { fields }: CompileContext): IndexField {
  const field = fields.get(name)
  if (field !== undefined) return field
  if (name === geometryNameAmong((taken) => fields.has(taken))) throw new QueryError('query_geometry_only')
  // A hyphen belongs to a name, so what looks like a subtraction is one.
  const hyphen = name.search(/-[\d.]/)
  if (hyphen > 0 && fields.has(name.slice(0, hyphen)))
    throw new QueryError('query_space', { name: name.slice(0, 80), rest: name.slice(hyphen, hyphen + 80) })
  throw new QueryError('query_no_queryable', { name: name.slice(0, 80) })
}

function intersection(
  { args: [a, b], orMissing = false, heights }: Intersection,
  context: CompileContext,
  isNegated: boolean,
): Sql {
  const literal = 'property' in a ? b : a
  const property = 'property' in a ? a : b
  if (!('property' in property) || 'property' in literal)
    throw new QueryError('query_intersects', { name: GEOMETRY_NAME })
  const name = geometryName(context)
  if (property.property !== GEOMETRY_NAME && property.property !== name)
    throw new QueryError('query_no_geometry', { found: property.property.slice(0, 80), name })
  const parts = 'bbox' in literal ? rectanglesOf(literal.bbox, context.hasAny) : [literal]
  const found = balanced(
    parts.map((geometry) => dialectOf(context).intersects(geometry, context, orMissing, isNegated)),
    'OR',
  )
  if (heights === undefined) return found
  return balanced([found, dialectOf(context).atHeight(...heights, context)], 'AND')
}

/** Features whose boxes touch, or are within, a box. */
const TOUCHING = 'SELECT id FROM rtree_features_geom WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ?'
const WITHIN = 'SELECT id FROM rtree_features_geom WHERE minx >= ? AND maxx <= ? AND miny >= ? AND maxy <= ?'
/** The last part of a list of numbers, because a list keeps their order: SQLite would sort the results of an OR. */
const MISSING = ' UNION ALL SELECT fid FROM features WHERE geom IS NULL'

function oneIntersection(geometry: Geometry, context: CompileContext, orMissing: boolean, isNegated: boolean): Sql {
  const { geom } = context
  const box = boxOf(geometry)
  const exact: Sql = {
    text: orMissing ? `(${geom} IS NULL OR gw_intersects(${geom}, ?))` : `gw_intersects(${geom}, ?)`,
    values: [context.geometry(geometry)],
  }
  if (!context.usesTree(box)) return exact
  const [west, south, east, north] = box
  const candidates: Sql = {
    text: `fid IN (${TOUCHING}${orMissing ? MISSING : ''})`,
    values: [west, east, south, north],
  }
  // The geometry of a feature whose box is within the box of the query need not be read.
  const matching = isBox(geometry)
    ? wrapped(`(fid IN (${WITHIN}) OR `, { text: exact.text, values: [west, east, south, north, ...exact.values] }, ')')
    : exact
  const found = balanced([candidates, matching], 'AND')
  // Without a geometry the result is unknown, and stays unknown when negated.
  return isNegated ? wrapped('(', found, ` OR CASE WHEN ${geom} IS NULL THEN NULL ELSE 0 END)`) : found
}

/** The world on which features are stored, with one turn further on both sides. */
const [FIRST_LONGITUDE, LAST_LONGITUDE] = [-540, 540]

/**
 * Returns a box as the polygons of the same place on every turn of the world, as far as the index has something there: features beyond the antimeridian
 * may be stored on either side of it. Returns at least one.
 */
function rectanglesOf(bbox: readonly number[], hasAny: CompileContext['hasAny']): readonly Geometry[] {
  const [west = 0, south = 0] = bbox
  const [given = 0, north = 0] = bbox.length === 6 ? bbox.slice(3) : bbox.slice(2)
  const east = given < west ? given + 360 * Math.ceil((west - given) / 360) : given
  const places: (readonly [number, number, number, number])[] = []
  for (let turn = -720; turn <= 720; turn += 360) {
    if (east + turn > FIRST_LONGITUDE && west + turn < LAST_LONGITUDE)
      places.push([west + turn, south, east + turn, north])
  }
  const found = east - west >= 360 ? [[FIRST_LONGITUDE, south, LAST_LONGITUDE, north] as const] : places.filter(hasAny)
  return (found.length > 0 ? found : [[west, south, east, north] as const]).map((box) => rectangle(...box))
}

function rectangle(west: number, south: number, east: number, north: number): Geometry {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
