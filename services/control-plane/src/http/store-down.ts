/** What Node and the Postgres client call a connection that cannot be made or was lost. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
])

/**
 * SQLSTATEs (PostgreSQL manual, appendix A) by which a server says that it cannot serve now: class 08 connection exceptions, 53 out of
 * resources (too many connections, disk full), 57P01 to 57P03 shutting down or starting, 57014 statement cancelled by its time-out,
 * 25006 read-only, as a replica is until it has been promoted.
 */
const SQLSTATE_DOWN = /^(08...|53...|57P0[1-3]|57014|25006)$/

/** Whether an error means that Postgres is out of reach for now, so that the same request may succeed later. */
export function isStoreDown(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isStoreDown)
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return false
  if (!isFromStore(error)) return false
  return CONNECTION_CODES.has(code) || SQLSTATE_DOWN.test(code)
}

/** File system errors share some of the codes; theirs name a path and a call that no socket makes. */
function isFromStore(error: unknown): boolean {
  const { syscall, path } = error as { syscall?: string; path?: string }
  return syscall === undefined || path === undefined || syscall === 'connect'
}
