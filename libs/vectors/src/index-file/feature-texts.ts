import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { folded } from '../query/cql2/folding.js'
import { geoJsonOf } from '../query/encoders.js'
import type { SqlRow } from '../query/items-query.js'
import { fieldsOf } from '../query/parameters.js'
import { type FeatureTexts, type IndexDescription, quoted, shownColumn } from './index-description.js'

/** Limit: bytes of a feature whose text is kept. The text of a larger one is made for each response. */
const MAX_TEXT_BYTES = 64 * 1024

/**
 * Writes the table `feature_texts`: each feature as GeoJSON, so that SQLite concatenates the features of a response. Also finds the fields whose
 * texts SQLite folds as CASEI does, and folds the texts of the others.
 */
export function writeFeatureTexts(
  db: DatabaseSyncInstance,
  description: IndexDescription,
): { texts: FeatureTexts; asciiFolded: ReadonlySet<string> } {
  db.exec('CREATE TABLE feature_texts (fid INTEGER PRIMARY KEY, text BLOB)')
  const fields = fieldsOf(description)
  const encode = geoJsonOf(fields, null)
  const candidates = new Set(fields.flatMap(({ type }, i) => (type === 'string' ? [i] : [])))
  const rows = db.prepare(
    `SELECT fid, feature_id, geom, layer${fields.map((field) => `, ${shownColumn(field)}`).join('')} FROM features ORDER BY fid`,
  )
  rows.setReturnArrays(true)
  const insert = db.prepare('INSERT INTO feature_texts VALUES (?, ?)')
  let longest = 0
  let bytes = 0
  let count = 0
  for (const [fid, ownId, geometry, layer, ...values] of rows.iterate() as unknown as Iterable<SqlRow>) {
    const row = { fid, ownId, geometry, layer } as Parameters<typeof encode>[0]
    const text = Buffer.from(encode(row, values))
    const isKept = text.length <= MAX_TEXT_BYTES
    insert.run(fid as number, isKept ? text : null)
    for (const i of candidates) if (!isFoldedByAscii(values[i])) candidates.delete(i)
    if (!isKept) continue
    longest = Math.max(longest, text.length)
    bytes += text.length
    count++
  }
  const names = [...candidates].map((i) => fields[i]?.column ?? '')
  const others = fields.filter(({ type, column }) => type === 'string' && !names.includes(column))
  writeFoldedTexts(
    db,
    others.map(({ column }) => column),
  )
  return { texts: { longest, mean: count === 0 ? 0 : Math.ceil(bytes / count) }, asciiFolded: new Set(names) }
}

/**
 * Writes the table `folded_texts`: the texts of columns as CASEI compares them, by fid. SQLite searches a million of them in the time in which JavaScript folds
 * some ten thousand.
 */
function writeFoldedTexts(db: DatabaseSyncInstance, columns: readonly string[]): void {
  if (columns.length === 0) return
  db.function('gw_folded', { deterministic: true }, (value: unknown) =>
    typeof value === 'string' ? folded(value) : null,
  )
  const names = columns.map(quoted)
  const isPlain = (name: string) => `CASE WHEN ${name} GLOB '*[^ -~]*' THEN gw_folded(${name}) ELSE lower(${name}) END`
  db.exec(`
    CREATE TABLE folded_texts (fid INTEGER PRIMARY KEY, ${names.map((name) => `${name} TEXT`).join(', ')});
    INSERT INTO folded_texts SELECT fid, ${names.map(isPlain).join(', ')} FROM features
      WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' OR ')} ORDER BY fid`)
}

/** Characters that neither NFC nor lower case changes, except the letters of ASCII: most of CJK, with its punctuation and kana. */
const PLAIN = /^[\0-\x7f\u3001-\u3029\u3030-\u303f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff08-\uff0f\uff1a]*$/

/** True if SQLite's lower(), which knows ASCII only, returns the text that CASEI does. */
function isFoldedByAscii(value: SqlRow[number] | undefined): boolean {
  return typeof value !== 'string' || PLAIN.test(value)
}
