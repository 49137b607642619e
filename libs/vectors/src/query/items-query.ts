import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import type { FeatureTexts, IndexField } from '../index-file/index-description.js'
import type { Expression } from './cql2/expression.js'
import type { Crs } from './crs.js'
import type { TextSum } from './gzip-parts.js'

export const FORMATS = ['geojson', 'csv', 'fgb'] as const
export type ItemsFormat = (typeof FORMATS)[number]

export interface SortKey {
  readonly field: IndexField
  readonly descending: boolean
}

/** Values of the sort keys of the last sent feature, then its `fid`; of a table: all as texts, then its key, or the number of features before the next. */
export type After = readonly (string | number | null)[]

/** A query of one index, which can be sent to another process. Its geometries are in longitude and latitude. */
export interface ItemsQuery {
  /** the file `index.gpkg`; empty for a table of a database */
  readonly index: string
  /** absent: the features are those of an index */
  readonly table?: DatabaseTable | undefined
  /** all fields */
  readonly fields: readonly IndexField[]
  /** the fields of the response */
  readonly selected: readonly IndexField[]
  readonly geometryType: string | null
  /** true if geometries have heights */
  readonly hasZ?: boolean
  readonly filter: Expression | null
  /** returns one feature by its id, if it matches the filter; null: several features */
  readonly id: string | null
  readonly sort: readonly SortKey[]
  readonly limit: number
  readonly offset: number
  readonly after: After | null
  /** true if an earlier process has already sent a part of this response */
  readonly continues?: boolean
  readonly crs: Crs
  readonly format: ItemsFormat
  /** true if texts in CSV that a spreadsheet would execute begin with an apostrophe; default: the data are unchanged */
  readonly isGuarded?: boolean
  /** the index's texts if the response is a concatenation of them; null: each feature is written for it */
  readonly texts: FeatureTexts | null
  /** size in bytes after which the response is cut between two features */
  readonly maxBytes: number
  /** present: the parts of the response are compressed (`GzipParts`), and this text precedes them */
  readonly packedAfter?: TextSum | undefined
}

/** A part of a response. */
export interface Chunk {
  readonly bytes: Uint8Array
  /** the text up to here, if the bytes are compressed */
  readonly sum?: TextSum | undefined
  /** number of features in it */
  readonly count: number
  /** position of the last feature so far; null: no feature yet */
  readonly last: After | null
  /** `end`: there are no more features; `more`: there are, but not in this response */
  readonly state: 'going on' | 'end' | 'more'
}

/** Limits. */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 10_000
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024
export const QUERY_SECONDS = 10
/** Bytes of the first part of a response, which is sent at once: a page of 100 small features is one part. */
export const FIRST_CHUNK_BYTES = 64 * 1024
/** Bytes of each following part, which an edge holds for as long as a slow client reads it. */
export const CHUNK_BYTES = 256 * 1024
/** Milliseconds after which a part is sent although it is small. */
export const CHUNK_MS = 100

/** A row of the index, in the order of the query's columns. */
export type SqlRow = readonly (string | number | Uint8Array | null)[]

export interface Row {
  /** null: the feature has no id, because its table has no key */
  readonly fid: number | null
  readonly ownId: string | null
  readonly geometry: Uint8Array | null
  readonly layer: string
}

/** Writes features in one format. GeoJSON features are separated by commas, and the caller writes the text around them. */
export interface Encoder {
  head(): Uint8Array
  /** @param index of the feature in the response, from 0 */
  feature(row: Row, values: SqlRow, index: number): Uint8Array
}
