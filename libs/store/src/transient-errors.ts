import { type CodedMessage, coded } from '@gateway/contracts/messages.js'

/** The reason of a failed query, without details that must not reach a client. */
export interface StoreTrouble {
  /** clause without a full stop, for callers and operators */
  readonly said: CodedMessage
  /** true if it may pass by itself; otherwise an operator is needed, and a start fails */
  readonly passes: boolean
  /** true if only writing fails */
  readonly writesOnly?: true
}

const UNREACHABLE: StoreTrouble = { said: coded('store_unreachable'), passes: true }
const SILENT: StoreTrouble = { said: coded('store_silent'), passes: true }
const STARTING: StoreTrouble = { said: coded('store_starting'), passes: true }
const DISK_FULL: StoreTrouble = { said: coded('store_disk_full'), passes: true, writesOnly: true }
const DISK_BAD: StoreTrouble = { said: coded('store_disk_bad'), passes: true }
const READ_ONLY: StoreTrouble = {
  said: coded('store_read_only'),
  passes: true,
  writesOnly: true,
}
const CROWDED: StoreTrouble = { said: coded('store_crowded'), passes: true }
const EXHAUSTED: StoreTrouble = { said: coded('store_exhausted'), passes: true }
const BUSY: StoreTrouble = { said: coded('store_busy'), passes: true }
const REFUSING: StoreTrouble = { said: coded('store_refusing'), passes: false }
const ABSENT: StoreTrouble = { said: coded('store_absent'), passes: false }

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
