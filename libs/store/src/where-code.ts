import type postgres from 'postgres'
import type { Queryable } from './connect.js'

/**
 * Returns the `WHERE` clause of a read by codes; null reads all rows, without a clause. `... IS NULL OR code = ANY(...)` in one statement would read
 * each page of a big table by a sequential scan.
 */
export function whereCode(
  sql: Queryable,
  column: postgres.Fragment,
  codes: readonly string[] | null,
): postgres.Fragment {
  return codes === null ? sql`` : sql`WHERE ${column} = ANY(${codes as string[]}::text[])`
}
