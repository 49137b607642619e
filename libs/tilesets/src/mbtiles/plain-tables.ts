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
  /** spelled as in the file */
  readonly name: string
  /** as declared */
  readonly type: string
  readonly isKey: boolean
  /** true if an expression of the file computes its values, which may do anything */
  readonly isComputed: boolean
}

/** Reads the schema by lower-case names, which are unique. Temporary tables, which could hide one, do not exist here. Throws `BrokenArchiveError`. */
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

/** Returns the columns of a table in their order, by lower-case name; null if it is absent, or a view or virtual table, which is never queried. */
export function plainColumns(
  database: DatabaseSyncInstance,
  objects: SchemaObjects,
  table: string,
): Map<string, Column> | null {
  const object = objects.get(table.toLowerCase())
  // Virtual tables have the type table too.
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

/** Quotes any name of the file for SQL. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
