import type { ColumnForm, DatabaseColumn, DatabaseTable } from '@gateway/contracts/postgis.js'
import { type IndexField, quoted } from '../index-file/index-description.js'
import type { SqlRow } from '../query/items-query.js'

const NUMBERS: Readonly<Record<string, ColumnForm>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  oid: 'integer',
  float4: 'single',
  float8: 'float',
  numeric: 'numeric',
  bool: 'boolean',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  json: 'json',
  jsonb: 'json',
  hstore: 'other_json',
}
/** Types without a form that clients read. */
const LEFT_OUT: ReadonlySet<string> = new Set(['bytea', 'geometry', 'geography', 'raster', 'tsvector', 'tsquery'])

/**
 * Returns how values of a type are read; null: they are not published.
 * @param base name of the type, or of the type below a domain
 * @param category of the type (`pg_type.typcategory`)
 */
export function formOf(base: string, category: string, isComposite: boolean): ColumnForm | null {
  if (LEFT_OUT.has(base)) return null
  return NUMBERS[base] ?? (category === 'A' || isComposite ? 'other_json' : 'text')
}

const FIELD_TYPES: Readonly<Record<ColumnForm, IndexField['type']>> = {
  integer: 'integer',
  float: 'number',
  single: 'number',
  numeric: 'number',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'datetime',
  timestamptz: 'datetime',
  json: 'json',
  other_json: 'json',
  text: 'string',
}

export function fieldOf({ name, form }: DatabaseColumn): IndexField {
  return { name, column: name, type: FIELD_TYPES[form], layers: [] }
}

/** Returns the column of a field of `fieldOf`. */
export function columnOf(
  { columns }: Pick<DatabaseTable, 'columns'>,
  field: Pick<IndexField, 'column'>,
): DatabaseColumn {
  const column = columns.find(({ name }) => name === field.column)
  if (column === undefined) throw new Error(`the table has no column ${field.column}`)
  return column
}

/** Returns the expression that selects a column's values for responses. Numbers of any length are texts. */
export function shown({ name, form }: DatabaseColumn): string {
  const column = quoted(name)
  switch (form) {
    case 'integer':
    case 'float':
      return column
    case 'boolean':
      return `${column}::integer`
    case 'timestamptz':
      return `replace(to_jsonb(${column}) #>> '{}', '+00:00', 'Z')`
    case 'timestamp':
      return `(to_jsonb(${column}) #>> '{}') || CASE WHEN isfinite(${column}) THEN 'Z' ELSE '' END`
    case 'other_json':
      return `to_jsonb(${column})::text`
    // The shortest text that is this number in single precision; as a double it would have digits that nobody wrote.
    default:
      return `${column}::text`
  }
}

/** Returns the expression that selects a column's values for tiles, whose encoder knows texts, whole numbers, doubles and booleans. */
export function tiled({ name, form }: DatabaseColumn): string {
  const column = quoted(name)
  if (form === 'integer' || form === 'float' || form === 'boolean') return column
  if (form === 'numeric') return `${column}::float8`
  if (form === 'single') return `${column}::text::float8`
  return shown({ name, form, type: '' })
}

const DECIMAL = /^-?\d+(\.\d+)?$/

/** Converts the values that the client returns to those of an index: numbers that a double holds are numbers. */
export function sentValue({ form }: DatabaseColumn, value: unknown): SqlRow[number] {
  if (value === null || value === undefined) return null
  if (form === 'integer') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (form !== 'single' && form !== 'numeric' && form !== 'float') return value as SqlRow[number]
  const number = Number(value)
  if (!Number.isFinite(number)) return null
  return form === 'numeric' && DECIMAL.test(String(value)) && String(number) !== value ? String(value) : number
}
