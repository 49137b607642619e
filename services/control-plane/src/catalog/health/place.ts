import type { Storage } from '@gateway/contracts/basemap.js'
import type { VectorKind } from '@gateway/contracts/vector.js'

/** Where something of the catalog should be. */
export interface Place {
  /** the directory of its scan source */
  readonly root: string
  readonly path: string
  readonly is: 'tile tree' | 'archive' | 'tile set' | VectorKind
}

/** `gone`: or unusable. `unknown`: it could not be read, which says nothing about whether it is there. */
export type Presence = 'there' | 'gone' | 'unknown'

export interface FileState {
  readonly presence: Presence
  /** for operators; empty where it is there */
  readonly why: string
}

export const THERE: FileState = { presence: 'there', why: '' }

export function placeOfVersion(root: string, path: string, storage: Storage): Place {
  const isTree = storage === 'xyz' || storage === 'tms'
  return {
    root,
    path,
    is: isTree ? 'tile tree' : storage === 'mbtiles' || storage === 'pmtiles' ? 'archive' : 'tile set',
  }
}
