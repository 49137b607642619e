import { closeSync, readdirSync, realpathSync } from 'node:fs'
import type { Storage } from '@gateway/contracts/basemap.js'
import { openBelowSync } from '@gateway/files/open-below.js'
import { currentRealRoot, isBelow } from '@gateway/files/real-root.js'

/** Where something of the catalog should be. */
export interface Place {
  /** the directory of its scan source */
  readonly root: string
  readonly path: string
  /** a folder above zoom folders, or a file */
  readonly is: 'tile tree' | 'file'
}

/** `unknown`: it could not be looked at, which says nothing about whether it is there. */
export type Presence = 'there' | 'gone' | 'unknown'

export function placeOfVersion(root: string, path: string, storage: Storage): Place {
  return { root, path, is: storage === 'xyz' || storage === 'tms' ? 'tile tree' : 'file' }
}

/** Runs in a thread, with synchronous calls: a mount that hangs holds that thread alone. */
export default function look(place: Place): Presence {
  try {
    return place.is === 'file' ? lookAtFile(place) : lookAtTree(place)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' ? 'gone' : 'unknown'
  }
}

function lookAtFile({ root, path }: Place): Presence {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return opened.reason === 'unreadable' ? 'unknown' : 'gone'
  closeSync(opened.fd)
  return 'there'
}

/** A folder without any zoom folder is what remains of a version when its tiles are deleted or its disk is not mounted. */
function lookAtTree({ root, path }: Place): Presence {
  const real = realpathSync.native(path)
  if (!isBelow(currentRealRoot(root), real)) return 'gone'
  return readdirSync(real).some((name) => /^\d{1,2}$/.test(name)) ? 'there' : 'gone'
}
