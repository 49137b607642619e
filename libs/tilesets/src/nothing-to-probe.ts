import type { NotOpened } from '@gateway/core/files/open-below.js'

/** What a probe answers where an archive was not opened: null, except that a lack of permission is an error and no empty result. */
export function nothingToProbe({ reason }: NotOpened): null {
  if (reason === 'unreadable') throw new Error('the archive exists, but this process may not read it')
  return null
}
