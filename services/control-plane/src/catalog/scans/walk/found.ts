import { type CodedMessage, textOf } from '@gateway/contracts/messages.js'
import type { ReadFacts, VectorKind } from '@gateway/contracts/vector.js'
import type { NewVersion } from '@gateway/store/basemaps.js'
import type { NewStyle, StoredFont } from '@gateway/store/styles.js'

/** A basemap that a walk has found, with the versions that can be served. */
export interface FoundBasemap {
  readonly code: string
  /** name from the newest version that has one; null: none has */
  readonly name: string | null
  readonly versions: readonly NewVersion[]
}

export interface FoundBasemaps {
  readonly basemaps: readonly FoundBasemap[]
  /** versions that exist but could not be read now (such as an archive that is being written): they keep their known state */
  readonly uncertain: readonly { readonly code: string; readonly version: string }[]
  readonly warnings: Warnings
}

/** A vector that a walk has found, before it has a code. */
export interface FoundVector {
  readonly relativePath: string
  readonly fileName: string
  readonly name: string
  readonly kind: VectorKind
  readonly path: string
  /** bytes, including sidecar files */
  readonly size: number
  readonly modifiedAt: Date
  readonly fingerprint: string
  /** null: unchanged since the last reading, or not readable now */
  readonly facts: ReadFacts | null
}

export interface FoundVectors {
  readonly vectors: readonly FoundVector[]
  readonly warnings: Warnings
}

/** A style whose document is valid. */
export type FoundStyle = Omit<NewStyle, 'sourceCode'> & { readonly folder: string }

export interface FoundStyles {
  readonly styles: readonly FoundStyle[]
  /** codes whose documents are invalid */
  readonly invalid: readonly string[]
  readonly fonts: readonly StoredFont[]
  readonly warnings: Warnings
}

/** Skipped items with their reasons, for the operator. Only the first ones are kept; all are counted. */
export interface Warnings {
  readonly texts: string[]
  /** code and parameters of each text */
  readonly coded: CodedMessage[]
  total: number
}

export function noWarnings(): Warnings {
  return { texts: [], coded: [], total: 0 }
}

/** More warnings than any operator reads. */
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

/** Quotes a name from a file system for a message, so that control characters and blanks are visible. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name)
}
