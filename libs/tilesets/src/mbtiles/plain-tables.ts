import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { BrokenArchiveError } from '../broken-archive.js'
import { asArchiveError } from './sqlite-error.js'

export interface SchemaObject {
  readonly type: string
  readonly sql: string
}

/** By lower-case name. */
export type SchemaObjects = ReadonlyMap<string, SchemaObject>

export interface Column {
  /** as it is written in the file */
  readonly name: string
  /** as it was declared */
  readonly type: string
  readonly isKey: boolean
  /** its values are made by an expression of the file, which may do anything */
  readonly isComputed: boolean
}

/** The names of a schema are unique, in lower case; a temporary table, which could hide one, nobody makes. Throws `BrokenArchiveError`. */
export function readObjects(database: DatabaseSyncInstance, limit: number): SchemaObjects {
  const sql = `SELECT type, lower(name) AS name, coalesce(sql, '') AS sql FROM main.sqlite_schema
    WHERE type IN ('table', 'view') LIMIT ${limit + 1}`
  let rows: { type: unknown; name: unknown; sql: unknown }[]
  try {
    rows = database.prepare(sql).all()
  } catch (error) {
    throw asArchiveError(error)
  }
  if (rows.length > limit) throw new BrokenArchiveError(`there are more than ${limit} tables and views`)
  return new Map(rows.map((row) => [String(row.name), { type: String(row.type), sql: String(row.sql) }]))
}

/** The columns of a table in their order, by lower-case name; null: it is not there, or a view or a virtual table, which nobody asks anything. */
export function plainColumns(
  database: DatabaseSyncInstance,
  objects: SchemaObjects,
  table: string,
): Map<string, Column> | null {
  const object = objects.get(table.toLowerCase())
  // Virtual tables are of type table as well.
  if (object?.type !== 'table' || !/^CREATE\s+TABLE\b/i.test(object.sql)) return null
  try {
    const rows: { name: unknown; type: unknown; pk: unknown; hidden: unknown }[] = database
      .prepare(`PRAGMA main.table_xinfo(${quotedName(table)})`)
      .all()
    return new Map(
      rows.map(({ name, type, pk, hidden }) => [
        String(name).toLowerCase(),
        { name: String(name), type: String(type), isKey: pk !== 0, isComputed: hidden !== 0 },
      ]),
    )
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** A name of the file as SQL takes it, whatever it holds. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
