import type { VectorKind } from '@gateway/contracts/vector.js'
import type { KnownFile } from '@gateway/store/vectors.js'
import type { FilePart } from '@gateway/vectors/source-parts.js'
import type { Prober } from '../../probe/prober.js'
import type { SkippedFiles } from '../skipped/skipped-files.js'
import type { FoundVector } from './found.js'
import type { Entry } from './list-entries.js'
import type { WalkedSource } from './walked-source.js'

/** What is known of a file already, by relative path: an unchanged file is not read again. */
export type KnownFiles = ReadonlyMap<string, KnownFile>

export interface VectorWalk {
  readonly source: WalkedSource
  readonly known: KnownFiles
  readonly prober: Prober
  readonly skipped: SkippedFiles
  /** a directory for scratch files */
  readonly scratch: string
  readonly vectors: FoundVector[]
}

/** A file that may be a vector, with the files that belong to it. */
export interface ToRead {
  readonly entry: Entry
  readonly kind: VectorKind
  readonly relativePath: string
  readonly parts: readonly FilePart[]
}
