/**
 * Converts an error that a reader throws on unexpected content. It says nothing about the disk, and must not end the scan of other files.
 * Returns null for other errors. If the reader itself is wrong, nothing is lost: known facts about the file stay.
 */
export function unreadable(error: unknown): { readonly state: 'unreadable'; readonly why: string } | null {
  // Errors of the disk, of SQLite and of object storage have none of these types.
  const isOfReader = error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError
  if (!isOfReader && !isOfNames(error)) return null
  return { state: 'unreadable', why: `its content could not be read: ${(error as Error).message.slice(0, 200)}` }
}

/** Codes of errors about names on the way to a file: a folder where a file is expected and the like. The disk itself is well. */
const OF_NAMES: ReadonlySet<string> = new Set(['EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'])

function isOfNames(error: unknown): boolean {
  return OF_NAMES.has(String((error as NodeJS.ErrnoException | null)?.code))
}

/** True if an error means that another program is writing an MBTiles archive at this moment. */
export function isLockedArchive(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(String((error as { sqliteCodeName?: unknown }).sqliteCodeName))
}
