import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'
import type { VectorKind } from '@gateway/contracts/vector.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { ReadFacts } from '@gateway/store/vectors.js'

/** A basemap as a walk has found it, with the versions that can be served. */
export interface FoundBasemap {
  readonly code: string
  /** what the newest version that names itself says; null: none does */
  readonly name: string | null
  readonly versions: readonly NewVersion[]
}

export interface FoundBasemaps {
  readonly basemaps: readonly FoundBasemap[]
  /** versions that are there but could not be read now (an archive that is being written): they stay as they are known */
  readonly uncertain: readonly { readonly code: string; readonly version: string }[]
  readonly warnings: Warnings
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
  /** null: unchanged since they were read, or not to be read now */
  readonly facts: ReadFacts | null
}

export interface FoundVectors {
  readonly vectors: readonly FoundVector[]
  readonly warnings: Warnings
}

/** What was left out and why, for the operator. Only the first ones are kept; all are counted. */
export interface Warnings {
  readonly texts: string[]
  /** the code and parameters of each text */
  readonly coded: CodedMessage[]
  total: number
}

export function noWarnings(): Warnings {
  return { texts: [], coded: [], total: 0 }
}

/** More than any operator reads. */
const MAX_KEPT_WARNINGS = 1000

export function warn(warnings: Warnings, said: CodedMessage): void {
  warnings.total += 1
  if (warnings.texts.length >= MAX_KEPT_WARNINGS) return
  warnings.texts.push(textOf(said))
  warnings.coded.push(said)
}

/** Adds the warnings of another walk. */
export function warnAll(warnings: Warnings, { texts, coded, total }: Warnings): void {
  for (const said of coded) warn(warnings, said)
  warnings.total += total - texts.length
}

/** A name from a file system in a message: quoted, so that control characters and blanks can be seen. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name)
}
