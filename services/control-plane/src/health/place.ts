import type { Storage } from '@gateway/contracts/basemap.js'

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
