import type { Storage } from '@gateway/contracts/basemap.js'
import type { VectorKind } from '@gateway/contracts/vector.js'

/** The expected place of a version or vector. */
export interface Place {
  /** directory of its scan source */
  readonly root: string
  readonly path: string
  readonly is: 'tile tree' | 'archive' | 'tile set' | Exclude<VectorKind, 'postgis' | 'postgis-function'>
}

/** `gone`: absent or unusable. `unknown`: it could not be read, so it may exist. */
export type Presence = 'there' | 'gone' | 'unknown'

export interface FileState {
  readonly presence: Presence
  /** reason for operators; empty if it is there */
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
