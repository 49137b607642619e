import postgres from 'postgres'
import { ARRAY_TYPES } from './array-types.js'
import type { Sql } from './sql.js'
import { securedAddress } from './tls-options.js'
import { fenced } from './write-fence.js'

export type { Queryable, Sql, Transaction } from './sql.js'

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
/** A process that stalls in a transaction must not hold the revision counter's lock for good. */
const IDLE_IN_TRANSACTION_MS = 30_000
const CONNECT_TIMEOUT_SECONDS = 5
/** Idle connections go, so that a database behind a proxy that forgets them is not met with dead ones. */
const IDLE_TIMEOUT_SECONDS = 60
const KEEP_ALIVE_SECONDS = 5
/** Between two attempts to connect at most; the client's own 20 s would keep a store that is back waiting for its clients. */
const LONGEST_PAUSE_SECONDS = 1
/** A server that is there says that it cancelled a statement; one that has not said anything so long after that is not there. */
const SILENT_AFTER_MS = 2_000

/**
 * A pool of connections to the store. Connects lazily: an unreachable database shows at the first query.
 * Integers of 8 bytes come back as numbers: revisions and sizes stay far below 2^53.
 *
 * Queries reject where the database cannot be reached, was lost, or does not answer (`trouble.ts` knows these errors); no failure of a
 * connection rejects anything else. Nothing but the application's name is sent at log-in: PgBouncer refuses other parameters.
 */
export function openStore(databaseUrl: string, options: StoreOptions): Sql {
  const { url, ssl } = securedAddress(databaseUrl)
  const own = {
    ...(ssl !== undefined && { ssl }),
    max: options.maxConnections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    idle_timeout: IDLE_TIMEOUT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // Spread out, so that not all processes come at once.
    backoff: (attempts: number) => (0.5 + Math.random() / 2) * Math.min(3 ** attempts / 100, LONGEST_PAUSE_SECONDS),
    fetch_types: false,
    // Notices are the database's chatter for an interactive user, not for a log of JSON lines.
    onnotice: () => {},
    connection: { application_name: options.applicationName },
    types: {
      bigint: { to: 20, from: [20], parse: Number, serialize: String },
      ...ARRAY_TYPES,
    },
    ...sessionOptions(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
  }
  return fenced(postgres(url, own) as unknown as Sql, true)
}

/**
 * A client of one connection that stays open however long it is silent, with the address and credentials of a pool.
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

/** How a connection begins, and when it is given up: options that our patch of the client adds (config/patches). */
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
    /** seconds of silence, with a query under way, after which the connection is closed and its queries fail with ANSWER_TIMEOUT */
    answer_timeout: (statementTimeoutMs + SILENT_AFTER_MS) / 1000,
  }
}
