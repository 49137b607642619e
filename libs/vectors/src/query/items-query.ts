import type { IndexField } from '../index-file/index-description.js'
import type { Expression } from './cql2/expression.js'
import type { Crs } from './crs.js'

export const FORMATS = ['geojson', 'csv', 'fgb'] as const
export type ItemsFormat = (typeof FORMATS)[number]

export interface SortKey {
  readonly field: IndexField
  readonly descending: boolean
}

/** Values of the sort keys of the last feature that was sent, then its `fid`. */
export type After = readonly (string | number | null)[]

/** A query of one index, which can be sent to another process. Geometries in it are in longitude and latitude. */
export interface ItemsQuery {
  /** the file `index.gpkg` */
  readonly index: string
  /** all fields */
  readonly fields: readonly IndexField[]
  /** those that are sent */
  readonly selected: readonly IndexField[]
  readonly geometryType: string | null
  readonly filter: Expression | null
  /** one feature by its id, if the filter lets it through; null: several */
  readonly id: string | null
  readonly sort: readonly SortKey[]
  readonly limit: number
  readonly offset: number
  readonly after: After | null
  /** what an earlier process has sent of this answer stands before it */
  readonly continues?: boolean
  readonly crs: Crs
  readonly format: ItemsFormat
  /** bytes after which the answer is cut between two features */
  readonly maxBytes: number
}

/** A part of an answer. */
export interface Chunk {
  readonly bytes: Uint8Array
  /** features in it */
  readonly count: number
  /** of the last feature so far; null: there was none */
  readonly last: After | null
  /** `end`: there are no more features; `more`: there are, but not in this answer */
  readonly state: 'going on' | 'end' | 'more'
}

/** Limits. */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 10_000
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024
export const QUERY_SECONDS = 10

/** A row of the index, in the order of the query's columns. */
export type SqlRow = readonly (string | number | Uint8Array | null)[]
