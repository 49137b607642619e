import type { NotOpened } from '@gateway/core/files/open-below.js'

/**
 * A tile archive whose content does not match its name: damaged, truncated, or of an unsupported kind. The message is for the operator
 * and contains no path. Errors of the disk (EIO, EMFILE ...) are thrown unchanged instead.
 */
export class BrokenArchiveError extends Error {
  override readonly name = 'BrokenArchiveError'
}

/** Returns the result of a probe whose archive was not opened: null. Throws if permission is missing, since that is not an empty result. */
export function nothingToProbe({ reason }: NotOpened): null {
  if (reason === 'unreadable') throw new Error('the archive exists, but this process may not read it')
  return null
}
