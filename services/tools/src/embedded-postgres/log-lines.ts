/** Levels of our log for lines of Postgres' own log. */
export type PostgresLogLevel = 'debug' | 'warn' | 'error'

/**
 * Level of a severity for the operator of the gateway. ERROR is a failed statement, which its client reports. FATAL ends one
 * connection, and is a warning except during a shutdown, which ends connections in this way.
 */
const LEVEL_OF_SEVERITY: Readonly<Record<string, PostgresLogLevel>> = {
  WARNING: 'warn',
  FATAL: 'warn',
  PANIC: 'error',
}

const ORDINARY_ENDS =
  /terminating connection due to administrator command|the database system is (starting up|shutting down)/

/** Classifies one line, `SEVERITY:  message`. Lines that continue another one (`DETAIL:`, `HINT:`, `CONTEXT:`) are details. */
export function classify(line: string): { level: PostgresLogLevel; message: string } {
  const [, severity, message] = /^([A-Z]+\d?): {2}(.*)$/.exec(line) ?? []
  if (severity === undefined || message === undefined) return { level: 'debug', message: line }
  const level = ORDINARY_ENDS.test(message) ? 'debug' : (LEVEL_OF_SEVERITY[severity] ?? 'debug')
  return { level, message }
}

/** True for Postgres' message that it serves connections, after recovery if needed. On a replica the message says that they are read-only. */
export function saysReady(line: string): boolean {
  return /database system is ready to accept (read-only )?connections/.test(line)
}
