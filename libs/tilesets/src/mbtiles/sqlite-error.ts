import { BrokenArchiveError } from '../broken-archive.js'

/** What SQLite says of its surroundings rather than of the file: such an error is passed on as it is. */
const SURROUNDINGS = /^SQLITE_(BUSY|LOCKED|NOMEM|IOERR|INTERRUPT|FULL|CANTOPEN|PERM|AUTH)/

/** What a folder without write permission or a file system without locks makes SQLite say. */
const ACCESS = /^SQLITE_(CANTOPEN|IOERR|READONLY)/

/** What the library says of a whole number that JavaScript cannot hold, which SQLite's columns can (64 bits). */
const TOO_LARGE = 'ERR_OUT_OF_RANGE'

interface SqliteError {
  readonly code?: unknown
  readonly sqliteCodeName?: unknown
  readonly message?: unknown
}

/** An error of SQLite as one of the archive, where it is about the archive's content. */
export function asArchiveError(error: unknown): unknown {
  if (error instanceof BrokenArchiveError) return error
  const { code, sqliteCodeName, message } = error as SqliteError
  if (code === TOO_LARGE) return new BrokenArchiveError('the archive holds a number that is too large to be read')
  if (typeof sqliteCodeName !== 'string' || SURROUNDINGS.test(sqliteCodeName)) return error
  return new BrokenArchiveError(`the archive cannot be read: ${String(message).slice(0, 200)}`)
}

/** Whether reading may still succeed without locks and side files. */
export function isAboutAccess(error: unknown): boolean {
  return ACCESS.test(String((error as SqliteError).sqliteCodeName))
}

/** Whether a program that writes to the file keeps readers out. It is not waited for: others would wait, too. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(String((error as SqliteError).sqliteCodeName))
}
