import { BrokenArchiveError } from '../broken-archive.js'

/** Errors about SQLite's environment rather than the file, which are passed on unchanged. */
const SURROUNDINGS = /^SQLITE_(BUSY|LOCKED|NOMEM|IOERR|INTERRUPT|FULL|CANTOPEN|PERM|AUTH)/

/** Errors caused by a folder without write permission, or by a file system without locks. */
const ACCESS = /^SQLITE_(CANTOPEN|IOERR|READONLY)/

/** The library's code for an integer that JavaScript cannot represent, which SQLite's columns can contain (64 bits). */
const TOO_LARGE = 'ERR_OUT_OF_RANGE'

/** The library's code of every error that SQLite reports. */
const SQLITE_ERROR = 'ERR_SQLITE_ERROR'

/** Codes by message: the library has SQLite's code in errors of `get`, but not in those of `all` and `iterate`. */
const CODE_NAMES: readonly (readonly [message: RegExp, name: string])[] = [
  [/^database is locked/, 'SQLITE_BUSY'],
  [/^database (table|schema) is locked/, 'SQLITE_LOCKED'],
  [/^out of memory/, 'SQLITE_NOMEM'],
  [/^disk I\/O error/, 'SQLITE_IOERR'],
  [/^interrupted/, 'SQLITE_INTERRUPT'],
  [/^database or disk is full/, 'SQLITE_FULL'],
  [/^unable to open database file/, 'SQLITE_CANTOPEN'],
  [/^access permission denied/, 'SQLITE_PERM'],
  [/^authorization denied|^not authorized/, 'SQLITE_AUTH'],
  [/^attempt to write a readonly database/, 'SQLITE_READONLY'],
]

interface SqliteError {
  readonly code?: unknown
  readonly sqliteCodeName?: unknown
  readonly message?: unknown
}

/** Converts an error of SQLite about the archive's content to an error of the archive. */
export function asArchiveError(error: unknown): unknown {
  if (error instanceof BrokenArchiveError) return error
  const { code, message } = error as SqliteError
  if (code === TOO_LARGE) return new BrokenArchiveError('the archive holds a number that is too large to be read')
  if (code !== SQLITE_ERROR || SURROUNDINGS.test(codeNameOf(error))) return error
  return new BrokenArchiveError(`the archive cannot be read: ${String(message).slice(0, 200)}`)
}

/** True if reading may still succeed without locks and side files. */
export function isAboutAccess(error: unknown): boolean {
  return ACCESS.test(codeNameOf(error))
}

/** True if a writing program locks out readers. Callers do not wait for it, because that would delay others. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeNameOf(error))
}

/** Returns SQLite's name of the error's code; empty if neither the library nor the message has it. */
function codeNameOf(error: unknown): string {
  const { sqliteCodeName, message } = error as SqliteError
  if (typeof sqliteCodeName === 'string') return sqliteCodeName
  return CODE_NAMES.find(([pattern]) => pattern.test(String(message)))?.[1] ?? ''
}
