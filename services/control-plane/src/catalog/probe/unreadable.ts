/**
 * What a reader throws who meets content that nobody has thought of: it says nothing of the disk, and must not end the scan of everything else.
 * null: another error. Where it is the reader's own mistake, nothing is lost: what is known of the file stays.
 */
export function unreadable(error: unknown): { readonly state: 'unreadable'; readonly why: string } | null {
  // Errors of the disk, of SQLite and of object storage are of none of these kinds.
  const isOfReader = error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError
  return isOfReader
    ? { state: 'unreadable', why: `its content could not be read: ${error.message.slice(0, 200)}` }
    : null
}
