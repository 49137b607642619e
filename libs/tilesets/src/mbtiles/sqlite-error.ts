import { BrokenArchiveError } from '../broken-archive.js'

/** What SQLite says of its surroundings rather than of the file: such an error is passed on as it is. */
const SURROUNDINGS = /^SQLITE_(BUSY|LOCKED|NOMEM|IOERR|INTERRUPT|FULL|CANTOPEN|PERM|AUTH)/

/** What a folder without write permission or a file system without locks makes SQLite say. */
const ACCESS = /^SQLITE_(CANTOPEN|IOERR|READONLY)/

/** What the library says of a whole number that JavaScript cannot hold, which SQLite's columns can (64 bits). */
const TOO_LARGE = 'ERR_OUT_OF_RANGE'

/** The library's code of every error that SQLite reports. */
const SQLITE_ERROR = 'ERR_SQLITE_ERROR'

/** The library names SQLite's code in errors of `get` and leaves it out in those of `all` and `iterate`: there the message tells it. */
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

/** An error of SQLite as one of the archive, where it is about the archive's content. */
export function asArchiveError(error: unknown): unknown {
  if (error instanceof BrokenArchiveError) return error
  const { code, message } = error as SqliteError
  if (code === TOO_LARGE) return new BrokenArchiveError('the archive holds a number that is too large to be read')
  if (code !== SQLITE_ERROR || SURROUNDINGS.test(codeNameOf(error))) return error
  return new BrokenArchiveError(`the archive cannot be read: ${String(message).slice(0, 200)}`)
}

/** Whether reading may still succeed without locks and side files. */
export function isAboutAccess(error: unknown): boolean {
  return ACCESS.test(codeNameOf(error))
}

/** Whether a program that writes to the file keeps readers out. It is not waited for: others would wait, too. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeNameOf(error))
}

/** SQLite's name of the error's code; empty if neither the library nor the message tells it. */
function codeNameOf(error: unknown): string {
  const { sqliteCodeName, message } = error as SqliteError
  if (typeof sqliteCodeName === 'string') return sqliteCodeName
  return CODE_NAMES.find(([pattern]) => pattern.test(String(message)))?.[1] ?? ''
}
