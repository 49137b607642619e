import { BrokenArchiveError } from '../broken-archive.js'

/** What SQLite says of its surroundings rather than of the file: such an error is passed on as it is. */
const SURROUNDINGS = /^SQLITE_(BUSY|LOCKED|NOMEM|IOERR|INTERRUPT|FULL|CANTOPEN|PERM|AUTH)/

/** An error of SQLite as one of the archive, where it is about the archive's content. */
export function asArchiveError(error: unknown): unknown {
  if (error instanceof BrokenArchiveError) return error
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (SURROUNDINGS.test(String(code))) return error
  return new BrokenArchiveError(`the archive cannot be read: ${String(message).slice(0, 200)}`)
}
