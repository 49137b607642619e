import postgres from 'postgres'

// biome-ignore lint/complexity/noBannedTypes: the type that the library itself uses for a client without custom types
export type Sql = postgres.Sql<{}>
// biome-ignore lint/complexity/noBannedTypes: as above
export type Transaction = postgres.TransactionSql<{}>
/** Where a query function runs: on its own, or inside a transaction of its caller. */
// biome-ignore lint/complexity/noBannedTypes: as above
export type Queryable = postgres.ISql<{}>

export interface StoreOptions {
  /** shown in pg_stat_activity, so that an operator sees who holds a connection */
  readonly applicationName: string
  /** connections of this process at most */
  readonly maxConnections: number
  /** a statement that takes longer is cancelled by the server; milliseconds */
  readonly statementTimeoutMs?: number
}

/** Longer than any query that this system makes on a healthy database, short enough that callers get their 503 while they still wait. */
const STATEMENT_TIMEOUT_MS = 15_000
const CONNECT_TIMEOUT_SECONDS = 5
/** Idle connections go, so that a database behind a proxy that forgets them is not met with dead ones. */
const IDLE_TIMEOUT_SECONDS = 60
const KEEP_ALIVE_SECONDS = 5

/**
 * A pool of connections to the store. Connects lazily: an unreachable database shows at the first query.
 * Integers of 8 bytes come back as numbers: revisions and sizes stay far below 2^53.
 */
export function openStore(databaseUrl: string, options: StoreOptions): Sql {
  return postgres(databaseUrl, {
    max: options.maxConnections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_TIMEOUT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // Notices are the database's chatter for an interactive user, not for a log of JSON lines.
    onnotice: () => {},
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      // A process that stalls in a transaction must not hold the revision counter's lock for good.
      idle_in_transaction_session_timeout: 30_000,
    },
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
    },
  }) as unknown as Sql
}
