/** Levels that a line of Postgres' own log becomes in ours. */
export type PostgresLogLevel = 'debug' | 'warn' | 'error'

/**
 * What a severity means to the operator of the gateway. ERROR is a failed statement, which its client reports; FATAL ends one
 * connection, and is a warning unless it is the way connections end at a shutdown.
 */
const LEVEL_OF_SEVERITY: Readonly<Record<string, PostgresLogLevel>> = {
  WARNING: 'warn',
  FATAL: 'warn',
  PANIC: 'error',
}

const ORDINARY_ENDS =
  /terminating connection due to administrator command|the database system is (starting up|shutting down)/

/** Classifies one line, `SEVERITY:  message`. Lines that continue another (`DETAIL:`, `HINT:`, `CONTEXT:`) are details. */
export function classify(line: string): { level: PostgresLogLevel; message: string } {
  const [, severity, message] = /^([A-Z]+\d?): {2}(.*)$/.exec(line) ?? []
  if (severity === undefined || message === undefined) return { level: 'debug', message: line }
  const level = ORDINARY_ENDS.test(message) ? 'debug' : (LEVEL_OF_SEVERITY[severity] ?? 'debug')
  return { level, message }
}

/** Postgres says this once it serves connections, after recovery if that was needed; a replica says that they can only read. */
export function saysReady(line: string): boolean {
  return /database system is ready to accept (read-only )?connections/.test(line)
}
