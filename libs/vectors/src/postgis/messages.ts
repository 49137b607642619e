import type { DatabaseConnection, DatabaseRelation, DatabaseTable } from '@gateway/contracts/postgis.js'
import type { Chunk, ItemsQuery } from '../query/items-query.js'
import type { TileWish } from './tile-statements.js'

/** Time in ms after which an unused pool is closed, and nothing more is heard of changes. */
export const UNUSED_MS = 5 * 60_000

export interface AskedTile {
  readonly relation: DatabaseRelation
  readonly wish: Omit<TileWish, 'share'>
  /** JSON of the parameters for a function */
  readonly query: string
}

export type TableQuery = ItemsQuery & { readonly table: DatabaseTable }

interface Asked {
  readonly id: number
  readonly connection: DatabaseConnection
  /** id of the token for policies of the database; empty: none */
  readonly token: string
}

/** Messages between an edge process and the process that queries databases for it. */
export type ToDatabaseProcess =
  | ({ readonly what: 'tile'; readonly tile: AskedTile } & Asked)
  | ({ readonly what: 'open'; readonly query: TableQuery; readonly layer: string } & Asked)
  /** requests the next part of a response */
  | { readonly what: 'pull'; readonly id: number }
  /** hears of changes of a relation, for some minutes */
  | { readonly what: 'listen'; readonly connection: DatabaseConnection; readonly relation: DatabaseRelation }
  /** nobody waits for it any more */
  | { readonly what: 'close'; readonly id: number }

/**
 * `away`: the database does not respond; `late`: the statement took too long; `changed`: the table is another one than the scan found; `refused`: it
 * rejects a value of the request
 */
export type DatabaseFailure = 'away' | 'late' | 'changed' | 'refused' | 'failed'

/** A tile in gzip, and the number of features that it leaves out. null: it is empty. */
export interface MadeTile {
  readonly bytes: Uint8Array | null
  readonly leftOut: number
}

export type FromDatabaseProcess =
  | { readonly id: number; readonly made: MadeTile }
  | { readonly id: number; readonly chunk: Chunk }
  | { readonly id: number; readonly failure: DatabaseFailure; readonly words: string }
  /** a table has changed, in a box of degrees or (null) anywhere */
  | {
      readonly notified: string
      readonly source: string
      readonly box: readonly [number, number, number, number] | null
    }
