import type { VectorFieldType } from '@gateway/contracts/vector.js'
import type { IndexField } from '../index-file/index-description.js'
import type { Crs } from './crs.js'

export type FieldType = IndexField['type']

/** Returns the type of a field as the catalog names it. */
export function catalogType(type: FieldType): VectorFieldType {
  return type === 'integer' ? 'number' : type === 'datetime' ? 'date' : type
}

export interface SourceField {
  /** as the file spells it */
  readonly name: string
  readonly type: FieldType
}

/** A value of an attribute: JSON text for `json`, 0 or 1 for `boolean`, a bigint for a whole number that a double does not hold. */
export type SourceValue = string | number | bigint | null

/** Returns bytes as text in hexadecimal digits, as GDAL writes them into forms that have no bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex').toUpperCase()
}

export interface SourceFeature {
  /** the feature's own id; null: the file has none for it */
  readonly id: string | number | bigint | null
  /** position in its layer from 1, or its key in the file if the layer has whole numbers as keys */
  readonly row: number | bigint
  /** Well-Known Binary in the coordinate system of the layer; null: no geometry */
  readonly geometry: Uint8Array | null
  /** true if the file has a geometry that cannot be read, so that `geometry` is null */
  readonly isDamaged: boolean
  /** in the order of the layer's fields */
  readonly values: readonly SourceValue[]
}

/** A layer of a vector. */
export interface SourceLayer {
  readonly name: string
  readonly fields: readonly SourceField[]
  /** null: the file names none */
  readonly crs: Crs | null
  /** number of features that the file states; null: only reading shows it */
  readonly count: number | null
  /** Reads the features in the order of the file. Throws `DamagedFile` with the number of features before the damage. */
  features(): Iterable<SourceFeature>
}

/** A layer whose features are waited for. */
export interface StreamedLayer extends Omit<SourceLayer, 'features'> {
  features(): AsyncIterable<SourceFeature>
}

/** A vector that is open for reading. */
export interface OpenVector {
  readonly layers: readonly SourceLayer[]
  close(): void
}

/** The file ends too early, or is not of its format from some place on. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'
  /** number of features that were read */
  readonly read: number

  constructor(read: number, reason: string) {
    super(reason)
    this.read = read
  }
}
