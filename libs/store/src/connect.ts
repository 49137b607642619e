import postgres from 'postgres'
import { ARRAY_TYPES } from './array-types.js'
import { DATE_TYPE } from './date-type.js'
import type { Sql } from './sql.js'
import { securedAddress } from './tls-options.js'
import { fenced } from './write-fence.js'

export type { Queryable, Sql, Transaction } from './sql.js'

export interface StoreOptions {
  /** shown in pg_stat_activity, so that an operator sees who holds a connection */
  readonly applicationName: string
  /** maximum number of connections of this process */
  readonly maxConnections: number
  /** time in milliseconds after which the server cancels a statement */
  readonly statementTimeoutMs?: number
}

/** Longer than any query of this system takes on a healthy database, and short enough that callers get their 503 while they still wait. */
const STATEMENT_TIMEOUT_MS = 15_000
/** A process that stalls in a transaction must not hold the lock of the revision counter forever. */
const IDLE_IN_TRANSACTION_MS = 30_000
const CONNECT_TIMEOUT_SECONDS = 5
/** Idle connections are closed, because a proxy in front of the database may have forgotten them. */
const IDLE_TIMEOUT_SECONDS = 60
const KEEP_ALIVE_SECONDS = 5
/** Maximum pause between two attempts to connect. The client's own 20 s would delay the recovery of a store that is back. */
const LONGEST_PAUSE_SECONDS = 1
/** A live server reports that it cancelled a statement. If no report arrives within this time, the server is gone. */
const SILENT_AFTER_MS = 2_000

/**
 * Opens a pool of connections to the store. It connects lazily: an unreachable database shows at the first query.
 * Integers of 8 bytes are returned as numbers, since revisions and sizes stay far below 2^53.
 *
 * Queries reject if the database is unreachable, was lost, or does not respond (`transient-errors.ts` recognises these errors). A failed connection
 * rejects nothing else. Only the application's name is sent at log-in, because PgBouncer refuses other parameters.
 */
export function openStore(databaseUrl: string, options: StoreOptions): Sql {
  const { url, ssl } = securedAddress(databaseUrl)
  const own = {
    ...(ssl !== undefined && { ssl }),
    max: options.maxConnections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_TIMEOUT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // Jitter, so that not all processes connect at once.
    backoff: (attempts: number) => (0.5 + Math.random() / 2) * Math.min(3 ** attempts / 100, LONGEST_PAUSE_SECONDS),
    fetch_types: false,
    // Notices are meant for interactive users, not for a log of JSON lines.
    onnotice: () => {},
    connection: { application_name: options.applicationName },
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      date: DATE_TYPE,
      ...ARRAY_TYPES,
    },
    ...sessionOptions(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
  }
  return fenced(postgres(url, own) as unknown as Sql, true)
}

/**
 * Opens a client of one connection that stays open during any silence, with the address and credentials of a pool.
 * @param statementTimeoutMs limit of one statement
 * @param settings further settings of the session
 */
export function openSession(
  sql: Sql,
  statementTimeoutMs: number,
  { settings = {}, onclose = () => {} }: { settings?: Readonly<Record<string, number>>; onclose?: () => void } = {},
): Sql {
  const own = {
    ...sql.options,
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    onclose,
    ...sessionOptions(statementTimeoutMs, settings),
  }
  return fenced(postgres(own as unknown as postgres.Options<never>) as unknown as Sql, false)
}

/** Returns how a connection begins, and when it is given up. Our patches of the client add these options (config/patches). */
function sessionOptions(statementTimeoutMs: number, settings: Readonly<Record<string, number>> = {}) {
  const all = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    ...settings,
  }
  return {
    /** SQL that every new connection runs first */
    session: Object.entries(all)
      .map(([name, value]) => `SET ${name} = ${value}`)
      .join('; '),
    /** seconds of silence during a query after which the connection is closed and its queries fail with ANSWER_TIMEOUT */
    answer_timeout: (statementTimeoutMs + SILENT_AFTER_MS) / 1000,
  }
}
