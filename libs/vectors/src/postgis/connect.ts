import type { DatabaseConnection } from '@gateway/contracts/postgis.js'
import postgres from 'postgres'

export type Database = postgres.Sql<Record<string, never>>

const CONNECT_SECONDS = 5
/** An idle connection is closed, because each one is a process of the database. */
const IDLE_SECONDS = 60
const KEEP_ALIVE_SECONDS = 5
/** Time in ms in which a live server reports that it has cancelled a statement. */
const SILENT_AFTER_MS = 2_000
const NOT_A_DATABASE = /[\r\n\0]/

export interface ConnectOptions {
  readonly statementTimeoutSeconds: number
  /** shown in pg_stat_activity */
  readonly applicationName: string
  readonly onnotify?: () => void
}

/**
 * Opens a pool of connections that may only read. The times are those of UTC, as filters without a zone are. It connects with the first query, and
 * rejects queries if the database is away or does not respond.
 */
export function openDatabase(connection: DatabaseConnection, options: ConnectOptions): Database {
  const { url, password, pool } = connection
  if (NOT_A_DATABASE.test(url)) throw new Error('the address of a database has no line breaks')
  const limitMs = options.statementTimeoutSeconds * 1000
  const settings = [
    `SET statement_timeout = ${limitMs}`,
    `SET idle_in_transaction_session_timeout = ${limitMs * 6}`,
    "SET default_transaction_read_only = on; SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'",
    'SET extra_float_digits = 1; SET jit = off',
  ]
  const own = {
    max: pool,
    ...(password !== null && { password }),
    connect_timeout: CONNECT_SECONDS,
    idle_timeout: IDLE_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    backoff: (attempts: number) => (0.5 + Math.random() / 2) * Math.min(3 ** attempts / 100, 1),
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.applicationName },
    // Patches of the client add these two (config/patches).
    session: settings.join('; '),
    answer_timeout: (limitMs + SILENT_AFTER_MS) / 1000,
  }
  return postgres(url, own) as unknown as Database
}
