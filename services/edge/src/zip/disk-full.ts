/** The disk, or this user's share of it, is full. Apart from what builds zips, whose packages the process that serves has no use for. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT'
}
