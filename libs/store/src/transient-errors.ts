/** The reason of a failed query, without details that must not reach a client. */
export interface StoreTrouble {
  /** clause without a full stop, for callers and operators */
  readonly words: string
  /** true if it may pass by itself; otherwise an operator is needed, and a start fails */
  readonly passes: boolean
  /** true if only writing fails */
  readonly writesOnly?: true
}

const UNREACHABLE: StoreTrouble = { words: 'the store is out of reach', passes: true }
const SILENT: StoreTrouble = { words: 'the store does not answer in time', passes: true }
const STARTING: StoreTrouble = { words: 'the store is starting or shutting down', passes: true }
const DISK_FULL: StoreTrouble = { words: 'the disk of the store is full', passes: true, writesOnly: true }
const DISK_BAD: StoreTrouble = { words: 'the store cannot read or write its disk', passes: true }
const READ_ONLY: StoreTrouble = {
  words: 'the store can only be read: it is a replica, or was made read-only',
  passes: true,
  writesOnly: true,
}
const CROWDED: StoreTrouble = { words: 'the store has no connection left', passes: true }
const EXHAUSTED: StoreTrouble = { words: 'the store is short of memory or another resource', passes: true }
const BUSY: StoreTrouble = { words: 'the store is busy with a change to the same thing', passes: true }
const REFUSING: StoreTrouble = { words: 'the store refuses the credentials in DATABASE_URL', passes: false }
const ABSENT: StoreTrouble = { words: 'the store has no database of the name in DATABASE_URL', passes: false }

/** Codes of Node and the Postgres client for a connection that cannot be made, was lost, or is silent. */
const BY_CODE: Readonly<Record<string, StoreTrouble>> = {
  ECONNREFUSED: UNREACHABLE,
  ECONNRESET: UNREACHABLE,
  EPIPE: UNREACHABLE,
  ENOENT: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EAI_AGAIN: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  CONNECT_TIMEOUT: SILENT,
  ANSWER_TIMEOUT: SILENT,
  CONNECTION_CLOSED: UNREACHABLE,
  CONNECTION_ENDED: UNREACHABLE,
  CONNECTION_DESTROYED: UNREACHABLE,
}

/** SQLSTATEs (PostgreSQL manual, appendix A). The first match applies. */
const BY_SQLSTATE: readonly (readonly [RegExp, StoreTrouble])[] = [
  [/^08/, UNREACHABLE],
  [/^53100$/, DISK_FULL],
  [/^53300$/, CROWDED],
  [/^53/, EXHAUSTED],
  [/^57P0[1-3]$/, STARTING],
  [/^57P05$/, SILENT],
  [/^57014$/, SILENT],
  [/^25006$/, READ_ONLY],
  [/^25P0[34]$/, SILENT],
  [/^(40001|40P01|55P03)$/, BUSY],
  [/^58030$/, DISK_BAD],
  [/^28/, REFUSING],
  [/^3D000$/, ABSENT],
]

/** Returns null if the error is not a failure of the store, but a mistake of the caller. */
export function storeTrouble(error: unknown): StoreTrouble | null {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const all = error.errors.map(storeTrouble)
    return all.includes(null) ? null : (all[0] ?? null)
  }
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string' || isFromFileSystem(error)) return null
  return BY_CODE[code] ?? (isSqlstate(code) ? (BY_SQLSTATE.find(([pattern]) => pattern.test(code))?.[1] ?? null) : null)
}

/** True if the connection was lost during a query. The database may be reachable by another connection. */
export function isLostConnection(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && LOST.test(code)
}

/** Codes of the client, and SQLSTATEs: connection exceptions, and a backend that was ended. */
const LOST = /^(ECONNRESET|EPIPE|CONNECTION_CLOSED|CONNECTION_DESTROYED|08\w{3}|57P0[12])$/

/** True if the response to a COMMIT says that nothing was committed, and not only that the connection is lost. */
export function saysAborted(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' && isSqlstate(code) && !/^(08|57P)/.test(code)
}

/** `EPIPE` and similar codes have five letters too. */
function isSqlstate(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !(code in BY_CODE)
}

/** File system errors share some of the codes. They name a path and a call that sockets do not use. */
function isFromFileSystem(error: unknown): boolean {
  const { syscall, path } = error as { syscall?: string; path?: string }
  return syscall !== undefined && path !== undefined && syscall !== 'connect'
}
