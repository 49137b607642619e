import type { DatabaseColumn, DatabaseTable } from '@gateway/contracts/postgis.js'
import { blobOf } from '../index-file/geometry-blob.js'
import { type IndexField, quoted } from '../index-file/index-description.js'
import { storedId } from '../index-file/own-id.js'
import { compile, type Sql, type SqlValue } from '../query/cql2/compile.js'
import type { After, ItemsQuery, Row, SqlRow } from '../query/items-query.js'
import { columnOf, sentValue, shown } from './columns.js'
import { postgisDialect } from './dialect.js'
import { inDegrees } from './places.js'

/** A statement whose parameters are `$1` to `$n`, all of them texts. */
export interface Statement {
  readonly text: string
  readonly values: readonly (string | null)[]
}

/** Names in quotes and literals, which keep their question marks; or the place of a parameter. */
const PLACES = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\?/g

/** Numbers the places of parameters. */
export function numbered({ text, values }: Sql): Statement {
  let n = 0
  const numberedText = text.replaceAll(PLACES, (part) => (part === '?' ? `$${++n}` : part))
  return { text: numberedText, values: values.map((value) => (value === null ? null : String(value))) }
}

export const tableName = ({ schema, table }: DatabaseTable): string => `${quoted(schema)}.${quoted(table)}`

/** Returns a statement with the name of its table in front: of one that goes on, the database shows no more than the first kilobyte. */
export function named(table: DatabaseTable, text: string): string {
  // No name can end the comment.
  return `/* ${tableName(table).replaceAll('*', '')} */ ${text}`
}

/** Separates the parts of the id of a feature whose key has several columns. */
const SEPARATOR = ','
const ESCAPED = /[\\,]/g

/** Returns the id of a feature as in addresses. */
function idOf(key: readonly (string | null)[]): string {
  if (key.length === 1) return key[0] ?? ''
  return key.map((part) => (part ?? '').replaceAll(ESCAPED, '\\$&')).join(SEPARATOR)
}

/** Returns the values of a key; null: the id has another number of parts. */
function keyOf(id: string, { key }: DatabaseTable): readonly string[] | null {
  if (key.length === 1) return [id]
  const parts = ['']
  for (let i = 0; i < id.length; i++) {
    const letter = id[i] as string
    if (letter === SEPARATOR) parts.push('')
    else parts[parts.length - 1] += letter === '\\' ? (id[++i] ?? '') : letter
  }
  return parts.length === key.length ? parts : null
}

/** The columns that a statement selects of each feature. */
export interface Selection {
  readonly columns: readonly string[]
  /** Returns a statement around the one for the columns. Its values precede those of the inner one. */
  around(text: string): Sql
}

/** Selects the key, the geometry in degrees, the selected values, and the values of the sort keys. */
export function selectValues({ selected, sort }: ItemsQuery, table: DatabaseTable): Selection {
  const columns = [
    ...table.key.map(asText),
    `ST_AsBinary(${inDegrees(table)})`,
    ...selected.map((field) => shown(columnOf(table, field))),
    ...sort.map(({ field }) => asText(columnOf(table, field))),
  ]
  return { columns, around: (text) => ({ text, values: [] }) }
}

/**
 * Returns the statement for the features of a query. One feature more than the limit shows if there are more. null: no feature has that id.
 * @param hasMissing see `postgisDialect`
 */
export function selectFeatures(
  query: ItemsQuery,
  table: DatabaseTable,
  { columns, around }: Selection,
  hasMissing = true,
): Statement | null {
  const { sort, limit, offset, after, id } = query
  const filter = filterOf(query, table, hasMissing)
  const wanted = id === null ? null : keyOf(id, table)
  if (id !== null && (wanted === null || table.key.length === 0)) return null
  const conditions = [
    filter,
    wanted === null ? null : hasKey(table.key, wanted),
    after === null || table.key.length === 0 ? null : behind(table, sort, after),
  ].filter((one) => one !== null)
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ text }) => `(${text})`).join(' AND ')}`
  const order = [
    ...sort.map(({ field, descending }) => `${inOrder(columnOf(table, field))}${descending ? ' DESC' : ''} NULLS LAST`),
    ...table.key.map(inOrder),
  ]
  // Without a key, the last part of a cursor is the number of features in front of the next one.
  const skipped = table.key.length === 0 && after !== null ? Number(after.at(-1)) : offset
  const whole = around(
    `SELECT ${columns.join(', ')} FROM ${tableName(table)} AS t${where}${order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`} LIMIT ?::text::bigint OFFSET ?::text::bigint`,
  )
  const own = conditions.flatMap(({ values }) => values)
  return numbered({
    text: whole.text,
    values: [...whole.values, ...own, String(limit + 1), String(skipped)],
  })
}

/** Returns the condition of a query's filter; null without one. */
export function filterOf(
  { filter, fields }: Pick<ItemsQuery, 'filter' | 'fields'>,
  table: DatabaseTable,
  hasMissing = true,
): Sql | null {
  if (filter === null) return null
  return compile(filter, {
    fields: new Map(fields.map((field) => [field.name, field])),
    geom: quoted(table.geometry),
    geometry: () => 0,
    usesTree: () => true,
    hasAny: (box) => box[2] >= -180 && box[0] <= 180,
    dialect: postgisDialect(table, hasMissing),
  })
}

export function asText({ name }: DatabaseColumn): string {
  return `${quoted(name)}::text`
}

/** Texts are in the order of their code points, and every other type is in its own order. */
function inOrder({ name, form }: DatabaseColumn): string {
  if (form === 'text') return `${quoted(name)}::text COLLATE "C"`
  // A bare name would mean the selected column of that name.
  return form === 'json' || form === 'other_json'
    ? `${shown({ name, form, type: '' })} COLLATE "C"`
    : `t.${quoted(name)}`
}

/** A value of `asText` in the type of `inOrder`. */
function asOrdered({ form, type }: DatabaseColumn): string {
  return form === 'text' || form === 'json' || form === 'other_json' ? '?::text' : `?::text::${type}`
}

function hasKey(key: readonly DatabaseColumn[], values: readonly string[]): Sql {
  const text = key.map(({ name, type }) => `${quoted(name)} = ?::text::${type}`).join(' AND ')
  return { text, values }
}

/** The condition for features after the one with these keys, in the order of the query. */
function behind(table: DatabaseTable, sort: ItemsQuery['sort'], after: After): Sql {
  const keys = [
    ...sort.map(({ field, descending }) => ({ column: columnOf(table, field), descending })),
    ...table.key.map((column) => ({ column, descending: false })),
  ]
  const parts: string[] = []
  const values: SqlValue[] = []
  for (const [i, { column, descending }] of keys.entries()) {
    const value = after[i] ?? null
    // Absent values sort last, so only the following keys can differ.
    if (value === null) continue
    const equal = keys.slice(0, i).map((one) => `${inOrder(one.column)} IS NOT DISTINCT FROM ${asOrdered(one.column)}`)
    const later = `${inOrder(column)} ${descending ? '<' : '>'} ${asOrdered(column)}`
    parts.push([...equal, i < sort.length ? `(${later} OR ${inOrder(column)} IS NULL)` : later].join(' AND '))
    values.push(...after.slice(0, i), value)
  }
  // Nothing sorts behind a feature all of whose keys are absent.
  return { text: parts.map((part) => `(${part})`).join(' OR ') || 'FALSE', values }
}

/** A row of `selectFeatures` as encoders take it. */
export interface ReadFeature {
  readonly row: Row
  readonly values: SqlRow
  readonly position: After
  /** the geometry as the database returns it */
  readonly wkb: Uint8Array | null
}

/** @param place number of features in front of it, for tables without a key */
export function readFeature(
  raw: readonly unknown[],
  { selected, sort }: { readonly selected: readonly IndexField[]; readonly sort: ItemsQuery['sort'] },
  table: DatabaseTable,
  layer: string,
  place: number,
): ReadFeature {
  const keys = table.key.length
  const key = raw.slice(0, keys) as (string | null)[]
  const wkb = raw[keys] as Uint8Array | null
  const blob = wkb === null ? null : blobOf(wkb, null)
  const geometry = blob === null || typeof blob === 'string' ? null : blob.bytes
  const values = selected.map((field, i) => sentValue(columnOf(table, field), raw[keys + 1 + i]))
  const sorted = raw.slice(keys + 1 + selected.length, keys + 1 + selected.length + sort.length) as (string | null)[]
  const isNumber = keys === 1 && table.key[0]?.form === 'integer'
  const ownId = keys === 0 ? null : isNumber ? String(key[0]) : storedId(idOf(key))
  return {
    row: { fid: null, ownId, geometry, layer },
    wkb,
    values,
    position: keys === 0 ? [...sorted, place + 1] : [...sorted, ...key],
  }
}
