import { parse } from 'postgres-array'
import { dateOf } from './date-type.js'

/** OIDs of array types (PostgreSQL's pg_type.dat, which never change), each with the conversion of one element to a JavaScript value. */
const ARRAYS: Readonly<Record<string, readonly [oid: number, element: (text: string) => unknown]>> = {
  bool_array: [1000, (text) => text === 't'],
  int2_array: [1005, Number],
  int4_array: [1007, Number],
  text_array: [1009, String],
  varchar_array: [1015, String],
  int8_array: [1016, Number],
  float4_array: [1021, Number],
  float8_array: [1022, Number],
  timestamptz_array: [1185, dateOf],
  uuid_array: [2951, String],
}

/**
 * Array types that the client library would otherwise query at the start of every connection. That query has no caller: if the database does not
 * respond, its rejection is unhandled and ends the process.
 */
export const ARRAY_TYPES = Object.fromEntries(
  Object.entries(ARRAYS).map(([name, [oid, element]]) => [
    name,
    { to: oid, from: [oid], parse: (text: string) => parse(text, element), serialize: arrayLiteral },
  ]),
)

/** Formats an array as Postgres reads it (manual, 8.15.2). Elements are quoted, which is correct for every type. */
function arrayLiteral(values: unknown): string {
  if (!Array.isArray(values)) return String(values)
  return `{${values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : elementLiteral(value))).join(',')}}`
}

function elementLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  const text = value instanceof Date ? value.toISOString() : String(value)
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
