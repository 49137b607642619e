/**
 * A tile archive whose content does not match its name: damaged, truncated, or of an unsupported kind. The message is for the operator
 * and contains no path. Errors of the disk (EIO, EMFILE ...) are thrown unchanged instead.
 */
export class BrokenArchiveError extends Error {
  override readonly name = 'BrokenArchiveError'
}
