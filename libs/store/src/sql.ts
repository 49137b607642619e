import type postgres from 'postgres'

// biome-ignore lint/complexity/noBannedTypes: the type that the library itself uses for a client without custom types
export type Sql = postgres.Sql<{}>
// biome-ignore lint/complexity/noBannedTypes: as above
export type Transaction = postgres.TransactionSql<{}>
/** The context of a query: a connection of the pool, or the transaction of the caller. */
// biome-ignore lint/complexity/noBannedTypes: as above
export type Queryable = postgres.ISql<{}>

type WithDates<T> = { readonly [K in keyof T]: unknown }

/** Converts a row to its JSON form, with dates as ISO 8601 texts. The caller states the resulting type. */
export function isoDates<T>(row: WithDates<T>): T {
  const entries = Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value])
  return Object.fromEntries(entries) as T
}

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

/** The table of a kind of items, each of which has a code. */
export type ItemTable = 'basemaps' | 'vectors' | 'styles'

/** Withdraws an item from readers, or restores it. */
export async function setWithdrawn(tx: Transaction, table: ItemTable, code: string, withdrawn: boolean): Promise<void> {
  await tx`UPDATE ${tx(table)} SET withdrawn = ${withdrawn}, updated_at = now() WHERE code = ${code}`
}

/** Deletes the record of an item. A scan that finds the item creates it again. Returns false if it did not exist. */
export async function deleteItem(tx: Transaction, table: ItemTable, code: string): Promise<boolean> {
  const { count } = await tx`DELETE FROM ${tx(table)} WHERE code = ${code}`
  return count > 0
}
