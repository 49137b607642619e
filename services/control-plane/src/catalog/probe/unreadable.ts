/**
 * Converts an error that a reader throws on unexpected content. It says nothing about the disk, and must not end the scan of other files.
 * Returns null for other errors. If the reader itself is wrong, nothing is lost: known facts about the file stay.
 */
export function unreadable(error: unknown): { readonly state: 'unreadable'; readonly why: string } | null {
  // Errors of the disk, of SQLite and of object storage have none of these types.
  const isOfReader = error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError
  return isOfReader
    ? { state: 'unreadable', why: `its content could not be read: ${error.message.slice(0, 200)}` }
    : null
}

/** True if an error means that another program is writing an MBTiles archive at this moment. */
export function isLockedArchive(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(String((error as { sqliteCodeName?: unknown }).sqliteCodeName))
}
