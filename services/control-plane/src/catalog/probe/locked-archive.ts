/** True if an error means that another program is writing an MBTiles archive at this moment. */
export function isLockedArchive(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(String((error as { sqliteCodeName?: unknown }).sqliteCodeName))
}
