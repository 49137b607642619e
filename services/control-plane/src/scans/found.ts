import type { VectorKind } from '@gateway/contracts/vector.js'
import type { NewVersion } from '@gateway/store/basemaps.js'

/** A basemap as a walk has found it, with the versions that can be served. */
export interface FoundBasemap {
  readonly code: string
  readonly name: string
  readonly versions: readonly NewVersion[]
}

export interface FoundBasemaps {
  readonly basemaps: readonly FoundBasemap[]
  /** versions that are there but could not be looked into now (an archive that is being written): they stay as they are known */
  readonly uncertain: readonly { readonly code: string; readonly version: string }[]
  readonly warnings: readonly string[]
}

/** A vector as a walk has found it, before it has a code. */
export interface FoundVector {
  readonly relativePath: string
  readonly fileName: string
  readonly name: string
  readonly kind: VectorKind
  readonly path: string
  /** bytes, sidecar files included */
  readonly size: number
  readonly modifiedAt: Date
  readonly fingerprint: string
}

export interface FoundVectors {
  readonly vectors: readonly FoundVector[]
  readonly warnings: readonly string[]
}

/** A name from a file system in a message: quoted, so that control characters and blanks can be seen. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name)
}
