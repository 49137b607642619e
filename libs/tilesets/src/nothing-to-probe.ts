import type { NotOpened } from '@gateway/core/files/open-below.js'

/** Returns the result of a probe whose archive was not opened: null. Throws if permission is missing, since that is not an empty result. */
export function nothingToProbe({ reason }: NotOpened): null {
  if (reason === 'unreadable') throw new Error('the archive exists, but this process may not read it')
  return null
}
