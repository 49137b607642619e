import type postgres from 'postgres'

// biome-ignore lint/complexity/noBannedTypes: the type that the library itself uses for a client without custom types
export type Sql = postgres.Sql<{}>
// biome-ignore lint/complexity/noBannedTypes: as above
export type Transaction = postgres.TransactionSql<{}>
/** Where a query function runs: on its own, or inside a transaction of its caller. */
// biome-ignore lint/complexity/noBannedTypes: as above
export type Queryable = postgres.ISql<{}>
