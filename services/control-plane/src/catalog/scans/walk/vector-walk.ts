import type { VectorKind } from '@gateway/contracts/vector.js'
import type { KnownFile } from '@gateway/store/vectors.js'
import type { FilePart } from '@gateway/vectors/source-parts.js'
import type { Prober } from '../../probe/prober.js'
import type { SkippedFiles } from '../skipped/skipped-files.js'
import type { FoundVector } from './found.js'
import type { Entry } from './list-entries.js'
import type { WalkedSource } from './walked-source.js'

/** Known facts of files by relative path, so that unchanged files are not read again. */
export type KnownFiles = ReadonlyMap<string, KnownFile>

export interface VectorWalk {
  readonly source: WalkedSource
  readonly known: KnownFiles
  readonly prober: Prober
  readonly skipped: SkippedFiles
  /** directory for temporary files */
  readonly scratch: string
  readonly vectors: FoundVector[]
}

/** A possible vector file, with its companion files. */
export interface ToRead {
  readonly entry: Entry
  readonly kind: VectorKind
  readonly relativePath: string
  readonly parts: readonly FilePart[]
}
