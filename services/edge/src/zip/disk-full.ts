/**
 * True if the disk, or this user's quota, is full. In its own module, because the serving process does not need the packages that build
 * zips.
 */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
