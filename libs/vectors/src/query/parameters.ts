import { CodedError, coded } from '@gateway/contracts/messages.js'
import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import type { IndexDescription, IndexField } from '../index-file/index-description.js'
import { postgisDialect } from '../postgis/dialect.js'
import { type CompileContext, compile, GEOMETRY_NAME, OF_FEATURES } from './cql2/compile.js'
import {
  type Expression,
  isDate,
  isTimestamp,
  numberOperand,
  type Operand,
  type Position,
  QueryError,
  type Spatial,
} from './cql2/expression.js'
import { parseCql2Json } from './cql2/parse-json.js'
import { parseCql2Text } from './cql2/parse-text.js'
import { type Crs, crsListOf, DEFAULT_CRS, findCrs, fromCrs, roundingOf } from './crs.js'
import { converted } from './geometry.js'
import {
  type After,
  DEFAULT_LIMIT,
  FORMATS,
  type ItemsFormat,
  type ItemsQuery,
  MAX_ANSWER_BYTES,
  MAX_LIMIT,
  type SortKey,
} from './items-query.js'

export { QueryError }

/** Thrown for a cursor whose content has been replaced. */
export class ReplacedError extends CodedError {}

/** Parameters with a fixed meaning; a property with such a name can be compared only by `filter`. */
const ITEMS_PARAMETERS = [
  'limit',
  'offset',
  'cursor',
  'bbox',
  'bbox-crs',
  'crs',
  'datetime',
  'filter',
  'filter-lang',
  'filter-crs',
  'properties',
  'sortby',
  'f',
  'guard',
] as const
const ITEM_PARAMETERS = ['crs', 'properties', 'f'] as const
/** Parameters that carry a token. */
const CREDENTIALS: ReadonlySet<string> = new Set(['token', 'access_token'])

/** Media types of responses with features. */
export const ITEM_TYPES: Readonly<Record<ItemsFormat, string>> = {
  geojson: 'application/geo+json',
  csv: 'text/csv; charset=utf-8',
  fgb: 'application/flatgeobuf',
}

/** The data about a collection's index that the parameters of a request depend on. */
export interface QueriedIndex {
  readonly description: IndexDescription
  /** identifies the content */
  readonly revision: string
  readonly file: string
  /** absent: the features are those of the file */
  readonly table?: DatabaseTable
}

interface FieldsAndLayers {
  readonly fields: readonly IndexField[]
  readonly layers: readonly unknown[]
}

/**
 * Returns the fields as named in parameters and filters, including the layer if there are several. Fields of several layers that share a name, but have
 * different types, are told apart there; features show all of them by that name.
 */
export function fieldsOf({ fields, layers }: FieldsAndLayers): readonly IndexField[] {
  const names = new Map<string, number>()
  for (const { name } of fields) names.set(name, (names.get(name) ?? 0) + 1)
  const own = fields.map((field) =>
    names.get(field.name) === 1 ? field : { ...field, name: field.column, shown: field.name },
  )
  const isFree = !own.some((field) => [field.name, field.column, field.shown].includes('layer'))
  if (layers.length < 2 || !isFree) return own
  return [...own, { name: 'layer', column: 'layer', type: 'string', layers: [] }]
}

/** Returns the field that `datetime` selects by, or undefined if there is no such field. */
export function timeFieldOf(fields: readonly IndexField[]): IndexField | undefined {
  return fields.find(({ type }) => type === 'datetime') ?? fields.find(({ type }) => type === 'date')
}

/** Parses the parameters of `.../items`. Throws `QueryError` (400), and `ReplacedError` for a cursor of other content (410). */
export function parseItemsQuery(text: string, accept: string, index: QueriedIndex): ItemsQuery {
  const { description, revision, file, table } = index
  const fields = fieldsOf(description)
  const given = single(text, new Set([...ITEMS_PARAMETERS, ...fields.map(({ name }) => name)]))
  const crsList = crsListOf(description)
  const crsAt = (name: string) => crsOf(given, name, crsList)
  const sort = sortOf(given.get('sortby'), fields)
  const cursor = given.get('cursor')
  if (cursor !== undefined && given.has('offset')) throw new QueryError('query_cursor_offset')
  const bboxCrs = crsAt('bbox-crs')
  const filterCrs = crsAt('filter-crs')
  const conditions = [
    bboxOf(given.get('bbox'), bboxCrs),
    datetimeOf(given.get('datetime'), fields),
    filterOf(given.get('filter'), given.get('filter-lang'), filterCrs),
    ...equalities(given, fields),
  ].filter((condition) => condition !== null)
  const filter: Expression | null = conditions.length < 2 ? (conditions[0] ?? null) : { op: 'and', args: conditions }
  if (filter !== null) check(filter, fields, table)
  const selected = selectedOf(given.get('properties'), fields)
  const crs = crsAt('crs')
  const format = formatOf(given.get('f'), accept)
  const isGuarded = isGuardedBy(given.get('guard'), format)
  const isStored = format === 'geojson' && crs === DEFAULT_CRS && selected === fields && sort.length === 0
  return {
    index: file,
    table,
    fields,
    selected,
    geometryType: description.geometry_type,
    hasZ: description.has_z ?? false,
    filter,
    id: null,
    sort,
    limit: wholeNumber(given.get('limit'), 'limit', 1) ?? DEFAULT_LIMIT,
    offset: wholeNumber(given.get('offset'), 'offset', 0) ?? 0,
    after: cursor === undefined ? null : afterOf(cursor, revision, sort, table),
    crs,
    format,
    isGuarded,
    texts: isStored ? (description.texts ?? null) : null,
    maxBytes: MAX_ANSWER_BYTES,
  }
}

/** Parses the parameters of `.../items/{id}`. Throws `QueryError`. */
export function parseItemQuery(id: string, text: string, index: QueriedIndex): ItemsQuery {
  const { description, file, table } = index
  const fields = fieldsOf(description)
  const given = single(text, new Set(ITEM_PARAMETERS))
  if (id.includes('\0')) throw new QueryError('query_nul', { name: 'id' })
  const format = formatOf(given.get('f'), '')
  if (format !== 'geojson') throw new QueryError('query_one_as')
  return {
    index: file,
    table,
    fields,
    selected: selectedOf(given.get('properties'), fields),
    geometryType: description.geometry_type,
    hasZ: description.has_z ?? false,
    filter: null,
    id,
    sort: [],
    limit: 1,
    offset: 0,
    after: null,
    crs: crsOf(given, 'crs', crsListOf(description)),
    format,
    texts: null,
    maxBytes: MAX_ANSWER_BYTES,
  }
}

/** Returns the query for all features, as a download has them. */
export function everyItem(
  { description, file, table }: Omit<QueriedIndex, 'revision'>,
  { crs, isGuarded }: { readonly crs: Crs; readonly isGuarded: boolean },
  format: ItemsFormat,
): ItemsQuery {
  const fields = fieldsOf(description)
  const isStored = format === 'geojson' && crs.uri === DEFAULT_CRS.uri
  return {
    ...{ index: file, table, fields, selected: fields, crs, format, isGuarded },
    geometryType: description.geometry_type,
    hasZ: description.has_z ?? false,
    texts: isStored ? (description.texts ?? null) : null,
    ...{ limit: Number.MAX_SAFE_INTEGER - 1, offset: 0, maxBytes: Number.POSITIVE_INFINITY },
    ...{ filter: null, id: null, sort: [], after: null },
  }
}

/** Refuses all other parameters, and `f` with another value than `json`. Throws `QueryError`. */
export function checkDocumentParameters(text: string): void {
  const format = single(text, new Set(['f'])).get('f')
  if (format !== undefined && format !== 'json') throw new QueryError('query_document_as')
}

/** Parses the CRS of a download in another format. Throws `QueryError`. */
export function parseFormParameters(
  text: string,
  form: string,
  description: IndexDescription,
): { readonly crs: Crs; readonly isGuarded: boolean } {
  const given = single(text, new Set(form === 'csv' ? ['crs', 'guard'] : ['crs']))
  return { crs: crsOf(given, 'crs', crsListOf(description)), isGuarded: isGuardedBy(given.get('guard'), form) }
}

function isGuardedBy(guard: string | undefined, format: string): boolean {
  if (guard === undefined) return false
  if (guard !== 'formulas' || format !== 'csv') throw new QueryError('query_guard')
  return true
}

/** Parses parameters, each of which may occur once. */
function single(text: string, known: ReadonlySet<string>): ReadonlyMap<string, string> {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (CREDENTIALS.has(name)) continue
    const shown = name.slice(0, 80)
    if (!known.has(name))
      throw new QueryError('query_no_parameter', { name: shown, names: [...known].slice(0, 40).join(', ') })
    if (value.includes('\0')) throw new QueryError('query_nul', { name: shown })
    if (given.has(name)) throw new QueryError('query_parameter_twice', { name: shown })
    given.set(name, value)
  }
  return given
}

function wholeNumber(text: string | undefined, name: string, least: number): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text) || Number(text) < least)
    throw new QueryError('query_whole_number', { name, limit: least })
  // A larger limit is not an error (OGC 17-069r4, section 7.15.2).
  return name === 'limit' ? Math.min(Number(text), MAX_LIMIT) : Number(text)
}

function crsOf(given: ReadonlyMap<string, string>, name: string, list: readonly Crs[]): Crs {
  const wanted = given.get(name)
  if (wanted === undefined) return DEFAULT_CRS
  const found = findCrs(list, wanted)
  if (found === undefined) {
    const names = list.map(({ uri }) => uri).join(', ')
    throw new QueryError('query_crs', { name, found: wanted.slice(0, 80), names })
  }
  return found
}

/** Chooses the format by `f`, or else by the first acceptable type in `Accept`. */
function formatOf(f: string | undefined, accept: string): ItemsFormat {
  if (f !== undefined) {
    const format = f === 'json' ? 'geojson' : FORMATS.find((known) => known === f)
    if (format === undefined) throw new QueryError('query_format', { names: FORMATS.join(', ') })
    return format
  }
  const weighed = accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const q = parameters.find((one) => one.startsWith('q='))
    return { type, weight: q === undefined ? 1 : Number(q.slice(2)) || 0 }
  })
  const wanted = weighed.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  for (const { type } of wanted) {
    if (type === 'text/csv') return 'csv'
    if (type === 'application/flatgeobuf' || type === 'application/vnd.flatgeobuf') return 'fgb'
    if (type === 'application/geo+json' || type === 'application/json' || type === '*/*' || type === 'application/*')
      return 'geojson'
  }
  return 'geojson'
}

function fieldNamed(name: string, fields: readonly IndexField[], parameter: string): IndexField {
  const field = fields.find((one) => one.name === name)
  if (field === undefined) throw new QueryError('query_no_property', { parameter, name: name.slice(0, 80) })
  return field
}

function selectedOf(text: string | undefined, fields: readonly IndexField[]): readonly IndexField[] {
  if (text === undefined) return fields
  const names = text.split(',').filter((name) => name !== '')
  const wanted = new Set(names.map((name) => fieldNamed(name, fields, 'properties')))
  return fields.filter((field) => wanted.has(field))
}

/** Maximum number of sort keys. */
const MAX_SORT_KEYS = 8

function sortOf(text: string | undefined, fields: readonly IndexField[]): readonly SortKey[] {
  if (text === undefined || text === '') return []
  // A plus sign in a query is decoded as a space.
  const parts = text.split(',').map((part) => part.trim())
  if (parts.length > MAX_SORT_KEYS) throw new QueryError('query_sort_keys', { limit: MAX_SORT_KEYS })
  return parts.map((part) => {
    const descending = part.startsWith('-')
    const field = fieldNamed(part.replace(/^[-+]/, ''), fields, 'sortby')
    if (field.type === 'json') throw new QueryError('query_no_order', { name: field.name })
    return { field, descending }
  })
}

const DECIMAL = /^[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?$/

function bboxOf(text: string | undefined, crs: Crs): Expression | null {
  if (text === undefined) return null
  const numbers = text.split(',').map((part) => (DECIMAL.test(part.trim()) ? Number(part) : Number.NaN))
  if ((numbers.length !== 4 && numbers.length !== 6) || !numbers.every(Number.isFinite)) {
    throw new QueryError('query_bbox')
  }
  const touches: Expression = {
    op: 's_intersects',
    args: [{ property: GEOMETRY_NAME }, { bbox: numbers }],
  }
  return inCrs84({ ...touches, orMissing: true }, crs, 'bbox')
}

/** Half of the world in EPSG:3857, whose boxes are boxes in degrees too; `toLonLat` would turn back longitudes beyond the antimeridian. */
const WORLD_METRES = 20_037_508.342789244

/** Number of positions along an edge of a box that becomes a curve. */
const EDGE_STEPS = 16

/** Converts the literals of a filter from their CRS to longitude and latitude. */
function inCrs84(expression: Expression, crs: Crs, name: string): Expression {
  if (typeof expression === 'boolean') return expression
  if (expression.op === 'and' || expression.op === 'or') {
    return { op: expression.op, args: expression.args.map((arg) => inCrs84(arg, crs, name)) }
  }
  if (expression.op === 'not') return { op: 'not', args: [inCrs84(expression.args[0], crs, name)] }
  if (expression.op !== 's_intersects') return expression
  const [a, b] = expression.args
  const heights = heightsOf(a, name) ?? heightsOf(b, name)
  return {
    ...expression,
    args: [spatialInCrs84(a, crs, name), spatialInCrs84(b, crs, name)],
    ...(heights === null ? {} : { heights }),
  }
}

/** Returns the bottom and the top of a box of six numbers. */
function heightsOf(spatial: Spatial, name: string): readonly [number, number] | null {
  if (!('bbox' in spatial) || spatial.bbox.length !== 6) return null
  const [, , bottom = 0, , , top = 0] = spatial.bbox
  if (bottom > top) throw new QueryError('query_heights', { name })
  return [bottom, top]
}

function spatialInCrs84(spatial: Spatial, crs: Crs, name: string): Spatial {
  if ('property' in spatial) return spatial
  const back = fromCrs(crs)
  const toLonLat = (a: number, b: number): readonly [number, number] => {
    let position: readonly [number, number]
    try {
      position = back(a, b)
    } catch {
      position = [Number.NaN, Number.NaN]
    }
    if (!position.every(Number.isFinite))
      throw new QueryError('query_position', { name, position: `${a},${b}`, crs: crs.uri })
    if (crs.proj4 === null && Math.abs(position[1]) > 90)
      throw new QueryError('query_pole', { name, latitude: position[1] })
    return position
  }
  if ('type' in spatial) return converted(spatial, toLonLat)
  const margin = roundingOf(crs)
  const [left, bottom] = spatial.bbox as [number, number]
  const [right, top] = spatial.bbox.slice(spatial.bbox.length / 2) as [number, number]
  if (crs.proj4 !== null && (left > right || bottom > top)) throw new QueryError('query_corners', { name })
  const [a, b, c, d] = [left - margin, bottom - margin, right + margin, top + margin]
  if (crs.isGeographic && crs.proj4 === null) {
    const [west, south] = toLonLat(a, b)
    const [east, north] = toLonLat(c, d)
    if (south > north) throw new QueryError('query_south', { name })
    const isWorld = (value: number) => value >= -540 && value <= 540
    if (!isWorld(west) || !isWorld(east)) throw new QueryError('query_longitude', { name })
    return { bbox: [west, south, east, north] }
  }
  if (crs.proj4 === 'EPSG:3857') {
    const longitude = (x: number) => (x / WORLD_METRES) * 180
    if (longitude(a) < -540 || longitude(c) > 540) throw new QueryError('query_longitude', { name })
    return { bbox: [longitude(a), toLonLat(0, b)[1], longitude(c), toLonLat(0, d)[1]] }
  }
  return outline(a, b, c, d, toLonLat)
}

function outline(
  a: number,
  b: number,
  c: number,
  d: number,
  toLonLat: (a: number, b: number) => readonly [number, number],
): Spatial {
  const corners: readonly (readonly [number, number])[] = [
    [a, b],
    [c, b],
    [c, d],
    [a, d],
    [a, b],
  ]
  const ring: Position[] = []
  for (let i = 1; i < corners.length; i++) {
    const [x, y] = corners[i - 1] as readonly [number, number]
    const [toX, toY] = corners[i] as readonly [number, number]
    for (let step = 0; step < EDGE_STEPS; step++) {
      const part = step / EDGE_STEPS
      ring.push(toLonLat(x + (toX - x) * part, y + (toY - y) * part))
    }
  }
  ring.push(ring[0] as Position)
  return { type: 'Polygon', coordinates: [ring] }
}

function filterOf(text: string | undefined, language: string | undefined, crs: Crs): Expression | null {
  if (language !== undefined && language !== 'cql2-text' && language !== 'cql2-json') {
    throw new QueryError('query_filter_lang')
  }
  if (text === undefined) return null
  const isJson = language === 'cql2-json' || (language === undefined && text.trimStart().startsWith('{'))
  return inCrs84(isJson ? parseCql2Json(text) : parseCql2Text(text), crs, 'filter')
}

/** Converts each property given as a parameter to an equality. */
function equalities(given: ReadonlyMap<string, string>, fields: readonly IndexField[]): Expression[] {
  const reserved: ReadonlySet<string> = new Set(ITEMS_PARAMETERS)
  return fields
    .filter(({ name }) => given.has(name) && !reserved.has(name))
    .map((field) => ({ op: '=', args: [{ property: field.name }, literalOf(field, given.get(field.name) as string)] }))
}

function literalOf({ name, type }: IndexField, text: string): Operand {
  switch (type) {
    case 'number':
    case 'integer':
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw new QueryError('query_number_value', { name })
      return numberOperand(text.trim())
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new QueryError('query_boolean_value', { name })
      return text === 'true'
    case 'date':
    case 'datetime':
      if (isDate(text)) return { date: text }
      if (isTimestamp(text)) return { timestamp: text }
      throw new QueryError('query_instant_value', { name })
    default:
      return text
  }
}

const DAY_MS = 86_400_000

function datetimeOf(text: string | undefined, fields: readonly IndexField[]): Expression | null {
  if (text === undefined) return null
  const ends = text.split('/')
  if (ends.length > 2) throw new QueryError('query_interval')
  const [start, end] = ends.map(endOf)
  if (start === null && (ends.length === 1 || end === null)) throw new QueryError('query_interval_open')
  const from = start ?? null
  const to = ends.length === 1 ? from : (end ?? null)
  if (from !== null && to !== null && from.first > to.last) throw new QueryError('query_interval_order')
  const field = timeFieldOf(fields)
  // A feature without a time is of every time (OGC 17-069r4, /req/core/fc-time-response), and so are all features of a collection without dates.
  if (field === undefined) return null
  const property = { property: field.name }
  const conditions: Expression[] = []
  const isDay = field.type === 'date'
  if (from !== null) conditions.push({ op: '>=', args: [property, literal(from.first, isDay)] })
  if (to !== null) conditions.push({ op: '<=', args: [property, literal(to.last, isDay)] })
  const within: Expression = conditions.length === 1 ? (conditions[0] as Expression) : { op: 'and', args: conditions }
  return { op: 'or', args: [within, { op: 'isNull', args: [property] }] }
}

function literal(instantMs: number, isDay: boolean): Operand {
  const text = new Date(instantMs).toISOString()
  return isDay ? { date: text.slice(0, 10) } : { timestamp: text }
}

/** Returns the first and the last millisecond; null: open. */
function endOf(text: string): { first: number; last: number } | null {
  if (text === '' || text === '..') return null
  if (isDate(text)) return { first: Date.parse(text), last: Date.parse(text) + DAY_MS - 1 }
  if (isTimestamp(text)) return { first: Date.parse(text), last: Date.parse(text) }
  throw new QueryError('query_datetime', { found: text.slice(0, 40) })
}

/** Throws `QueryError` for filters that the query process would refuse. */
function check(filter: Expression, fields: readonly IndexField[], table: DatabaseTable | undefined): void {
  const context: CompileContext = {
    fields: new Map(fields.map((field) => [field.name, field])),
    geom: OF_FEATURES,
    geometry: () => 0,
    usesTree: () => true,
    hasAny: () => true,
    ...(table !== undefined && { dialect: postgisDialect(table) }),
  }
  compile(filter, context)
}

/** Returns the cursor of the next page: opaque to clients, bound to one content and one order. */
export function cursorOf(after: After, revision: string, sort: readonly SortKey[]): string {
  return Buffer.from(JSON.stringify([1, revision, orderName(sort), after])).toString('base64url')
}

function orderName(sort: readonly SortKey[]): string {
  return sort.map(({ field, descending }) => `${descending ? '-' : ''}${field.name}`).join(',')
}

function afterOf(cursor: string, revision: string, sort: readonly SortKey[], table: DatabaseTable | undefined): After {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    value = null
  }
  const [version, made, order, after] = Array.isArray(value) ? (value as unknown[]) : []
  const keys = table?.key.length ?? 0
  const isAfter =
    Array.isArray(after) &&
    after.length === sort.length + Math.max(1, keys) &&
    after.every((one) => one === null || typeof one === 'string' || typeof one === 'number') &&
    (keys > 0
      ? after.every((one) => one === null || typeof one === 'string')
      : Number.isSafeInteger(after[after.length - 1]))
  if (version !== 1 || typeof made !== 'string') throw new QueryError('query_cursor_unknown')
  if (made !== revision) throw new ReplacedError(coded('query_cursor_replaced'))
  if (order !== orderName(sort) || !isAfter) throw new QueryError('query_cursor_order')
  return after as After
}
