import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import { quoted } from '../index-file/index-description.js'
import type { Dialect, Sql } from '../query/cql2/compile.js'
import type { Geometry } from '../query/cql2/expression.js'
import { boxOf } from '../query/geometry.js'
import { columnOf, shown } from './columns.js'
import { boxInTable, inDegrees, plainGeometry } from './places.js'

/** Types of texts that an index of the database compares as they are. */
const PLAIN_TEXTS: ReadonlySet<string> = new Set(['text', 'character varying'])

/** A letter of the private use area that stands for the dotless i, which has no other case in Unicode's folding. */
const DOTLESS = '\u{e131}'
/** As in `withoutAccents`. */
const ACCENTS = '[\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff]'

/**
 * The dialect of PostGIS for one table. Every value of a caller is a parameter, which is sent as a text and cast in the statement: the type of a
 * parameter then never depends on its value. Texts are in the order of their code points, as those of files.
 * @param hasMissing false if every feature has a geometry: to look for others in an index takes as long as to read all of it
 */
export function postgisDialect(table: DatabaseTable, hasMissing = true): Dialect {
  const folded = (text: string) => (table.foldsUnicode ? foldedByUnicode(text) : `lower(${text})`)
  return {
    truth: (value) => (value ? 'TRUE' : 'FALSE'),
    literal: (kind, value) => ({ text: `?::text${castOf(kind, value)}`, values: [String(value)] }),
    property: (field) => {
      const column = columnOf(table, field)
      if (column.form === 'single') return `${quoted(column.name)}::text::float8`
      if (column.form === 'json' || column.form === 'other_json') return shown(column)
      return column.form === 'text' && !PLAIN_TEXTS.has(column.type) ? shown(column) : quoted(column.name)
    },
    ordered: (text) => `(${text}) COLLATE "C"`,
    casei: (_, text) => folded(text),
    accenti: (_, text) =>
      table.foldsUnicode ? `normalize(regexp_replace(normalize(${text}, NFD), '${ACCENTS}', '', 'g'), NFC)` : text,
    intersects: (geometry, _, orMissing) => intersects(table, geometry, orMissing && hasMissing),
    atHeight: (bottom, top) => {
      const geometry = plainGeometry(table)
      const text = `(ST_Zmflag(${geometry}) < 2 OR (ST_ZMax(${geometry}) >= ?::text::float8 AND ST_ZMin(${geometry}) <= ?::text::float8))`
      return { text, values: [String(bottom), String(top)] }
    },
  }
}

function castOf(kind: 'string' | 'number' | 'boolean' | 'time', value: string | number | boolean): string {
  if (kind === 'string') return ''
  if (kind === 'boolean') return '::boolean'
  if (kind === 'time') return '::timestamptz'
  return typeof value === 'string' || Number.isSafeInteger(value) ? '::bigint' : '::float8'
}

/** The rules of `folded`: in NFC, lower case of upper case, except for the final sigma and the dotless i. */
function foldedByUnicode(text: string): string {
  const whole = `replace(normalize(${text}, NFC), 'ı', '${DOTLESS}') COLLATE "und-x-icu"`
  return `normalize(translate(lower(upper(lower(${whole}))), 'ς${DOTLESS}', 'σı'), NFC)`
}

/** The condition that a geometry may be in a box of degrees, by the index of the table; null: no index can tell. */
export function touchesBox(table: DatabaseTable, box: readonly [number, number, number, number]): Sql | null {
  const own = boxInTable(table, box)
  if (own === null) return null
  const envelope = `ST_MakeEnvelope(?::text::float8, ?::text::float8, ?::text::float8, ?::text::float8`
  const text = table.isGeography
    ? `${quoted(table.geometry)} && ST_Segmentize(${envelope}, 4326), 1)::geography`
    : `${quoted(table.geometry)} && ${envelope}${table.setsSrid ? '' : `, ${table.srid}`})`
  return { text, values: own.map(String) }
}

function intersects(table: DatabaseTable, geometry: Geometry, orMissing: boolean): Sql {
  const near = touchesBox(table, boxOf(geometry))
  const exact = `ST_Intersects(${inDegrees(table)}, ST_GeomFromGeoJSON(?::text))`
  const text = near === null ? exact : `(${near.text} AND ${exact})`
  const values = [...(near?.values ?? []), JSON.stringify(geometry)]
  return { text: orMissing ? `(${quoted(table.geometry)} IS NULL OR ${text})` : text, values }
}
