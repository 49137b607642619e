/**
 * A tile archive that cannot be what its name says: damaged, cut, or of a kind that is not served. The message is for the operator
 * and holds no path. Errors of the disk (EIO, EMFILE ...) are thrown as they are, never as this.
 */
export class BrokenArchiveError extends Error {
  override readonly name = 'BrokenArchiveError'
}
