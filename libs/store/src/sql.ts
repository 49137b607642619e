import type postgres from 'postgres'

// biome-ignore lint/complexity/noBannedTypes: the type that the library itself uses for a client without custom types
export type Sql = postgres.Sql<{}>
// biome-ignore lint/complexity/noBannedTypes: as above
export type Transaction = postgres.TransactionSql<{}>
/** The context of a query: a connection of the pool, or the transaction of the caller. */
// biome-ignore lint/complexity/noBannedTypes: as above
export type Queryable = postgres.ISql<{}>
