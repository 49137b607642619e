import type { DatabaseColumn, DatabaseTable } from '@gateway/contracts/postgis.js'
import { MAX_LATITUDE, MAX_LONGITUDE } from '../index-file/geometry-blob.js'
import { quoted } from '../index-file/index-description.js'
import { DEFAULT_CRS } from '../query/crs.js'
import type { ItemsQuery } from '../query/items-query.js'
import { columnOf, shown } from './columns.js'
import { inDegrees } from './places.js'
import { asText, type Selection } from './select-features.js'

/**
 * Features as texts of GeoJSON that the database writes, letter for letter as `geoJsonOf` does. Numbers are those of JavaScript: the shortest digits,
 * without an exponent from 1e-6 up to 1e21. Postgres writes more digits of a double above 2^53 whose shortest ones lie half-way to the next double.
 */

/** Limit of Postgres: arguments of a function, with some to spare. */
const MAX_ARGUMENTS = 90
/** Powers of ten from which texts of numbers have an exponent: those of `real`, and of `double precision`. */
const EXPONENT_FROM = { single: '1e6', float: '1e15' } as const
/** From here on a number is infinite as a double: half a step above the largest one. */
const INFINITE = 2n ** 1024n - 2n ** 970n

/** Returns true if the features of a query can be written by the database. */
export function hasTexts({ format, crs }: Pick<ItemsQuery, 'format' | 'crs'>): boolean {
  return format === 'geojson' && crs.uri === DEFAULT_CRS.uri
}

/** True if the database writes the geometries too: points without heights. */
export function writesPoints({ geometryType }: Pick<ItemsQuery, 'geometryType'>, { hasZ }: DatabaseTable): boolean {
  return geometryType === 'Point' && !hasZ
}

/**
 * Returns the selection of texts: the key, the values of the sort keys, then the text of a feature behind a comma. A geometry that is not written by the
 * database divides the text, and comes as Well-Known Binary between both parts.
 */
export function selectTexts(query: ItemsQuery, table: DatabaseTable): Selection {
  const { selected, sort } = query
  const inner = [
    ...table.key.map((column, i) => `${asText(column)} AS gw_k${i}`),
    `${inDegrees(table)} AS gw_g`,
    ...table.key.slice(0, hasNumber(table.key) ? 1 : 0).map((column) => `${wholeNumber(column)} AS gw_i`),
    ...sort.map(({ field }, i) => `${asText(columnOf(table, field))} AS gw_s${i}`),
    ...selected.map((field, i) => `${jsonValueOf(columnOf(table, field))} AS gw_v${i}`),
  ]
  const values: string[] = []
  const given = (text: string) => {
    values.push(text)
    return '?::text'
  }
  const id = idOf(table.key)
  const head = [given(`,{"type":"Feature",${id === null ? '' : '"id":'}`), ...(id === null ? [] : [id])]
  const before = given(`${id === null ? '' : ','}"geometry":`)
  const isPoint = writesPoints(query, table)
  const geometry = isPoint ? [POINT] : []
  const properties = selected.flatMap(({ name, shown: label = name }, i) => [
    given(`${i === 0 ? ',"properties":{' : ','}${JSON.stringify(label)}:`),
    `gw_v${i}`,
  ])
  const rest = [...properties, given(selected.length === 0 ? ',"properties":{}}' : '}}')]
  const parts = isPoint
    ? [joined([...head, before, ...geometry, ...rest])]
    : [joined([...head, before]), 'ST_AsBinary(gw_g)', joined(rest)]
  const columns = [...table.key.map((_, i) => `gw_k${i}`), ...sort.map((_, i) => `gw_s${i}`), ...parts]
  return {
    columns: inner,
    around: (text) => ({ text: `SELECT ${columns.join(', ')} FROM (${text}) AS f`, values }),
  }
}

/** A geometry of no place on the earth is null. */
const POINT = `CASE WHEN ST_X(gw_g) BETWEEN -${MAX_LONGITUDE} AND ${MAX_LONGITUDE} AND ST_Y(gw_g) BETWEEN -${MAX_LATITUDE} AND ${MAX_LATITUDE} THEN concat('{"type":"Point","coordinates":[', ${numberOf('ST_X(gw_g)', 'ST_X(gw_g)', 'float')}, ',', ${numberOf('ST_Y(gw_g)', 'ST_Y(gw_g)', 'float')}, ']}') ELSE 'null' END`

function joined(parts: readonly string[]): string {
  if (parts.length <= MAX_ARGUMENTS) return `concat(${parts.join(', ')})`
  const groups: string[] = []
  for (let i = 0; i < parts.length; i += MAX_ARGUMENTS) groups.push(joined(parts.slice(i, i + MAX_ARGUMENTS)))
  return joined(groups)
}

const hasNumber = (key: readonly DatabaseColumn[]) => key.length === 1 && key[0]?.form === 'integer'

/** The id as JSON: a number if the key is a whole number. */
function idOf(key: readonly DatabaseColumn[]): string | null {
  if (key.length === 0) return null
  if (hasNumber(key)) return `coalesce(gw_i, '"null"')`
  if (key.length === 1) return `to_json(coalesce(gw_k0, ''))`
  const part = (_: DatabaseColumn, i: number) => `replace(replace(coalesce(gw_k${i}, ''), '\\', '\\\\'), ',', '\\,')`
  return `to_json(${key.map(part).join(` || ',' || `)})`
}

/** A whole number as JSON. `to_json` writes an `oid` as a text. */
const wholeNumber = ({ name, type }: DatabaseColumn) =>
  `to_json(${quoted(name)}${type === 'oid' ? '::bigint' : ''})::text`

/**
 * A value as JSON, by the rules of `sentValue` and `jsonOf`. If the type of the column has changed since the scan, it is JSON too, or the database knows
 * no function for it, which shows that the table has changed.
 */
function jsonValueOf(column: DatabaseColumn): string {
  const { name, form } = column
  const own = quoted(name)
  switch (form) {
    case 'integer':
      return `coalesce(${wholeNumber(column)}, 'null')`
    case 'json':
      return `coalesce(to_json(${own})::text, 'null')`
    case 'other_json':
      return `coalesce(${shown(column)}, 'null')`
    case 'boolean':
      return `CASE ${own} WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' ELSE 'null' END`
    case 'numeric':
      return `CASE WHEN numeric_lt(abs(${own}), ${INFINITE}) THEN ${own}::text ELSE 'null' END`
    case 'single':
      return numberOf(`${own}::text`, `abs(${own})::text::float8`, form)
    case 'float':
      return numberOf(own, own, form)
    default:
      return `coalesce(to_json(${shown(column)})::text, 'null')`
  }
}

/** @param text the number as Postgres writes it, or the number @param value the same as a double, with or without its sign */
function numberOf(text: string, value: string, form: keyof typeof EXPONENT_FROM): string {
  const cases = [
    `abs(${value}) >= 1e-4 AND abs(${value}) < ${EXPONENT_FROM[form]} THEN ${text}::text`,
    `${value} = 0 THEN '0'`,
    `abs(${value}) >= 1e-6 AND abs(${value}) < 1e21 THEN ${text}::text::numeric::text`,
    `abs(${value}) < 'Infinity'::float8 THEN replace(${text}::text, 'e-0', 'e-')`,
  ]
  return `CASE ${cases.map((one) => `WHEN ${one}`).join(' ')} ELSE 'null' END`
}
