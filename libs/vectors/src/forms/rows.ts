import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { type IndexField, quoted, shownColumn } from '../index-file/index-description.js'

export type RowValue = string | number | bigint | Uint8Array | null

/** Features that are read at a time, so that those of a table that is written at the same time stay few in memory. */
const CHUNK = 1_000

/** Reads the features of a layer of an index in its order; `layer` null: of all layers. Whole numbers come as bigints. */
export class IndexRows {
  readonly #db: DatabaseSyncInstance

  constructor(index: string) {
    this.#db = new DatabaseSync(`${pathToFileURL(index).href}?mode=ro&immutable=1`, { readOnly: true })
  }

  close(): void {
    this.#db.close()
  }

  /** Yields fid, own id, geometry, then the values of the fields. */
  *of(layer: string | null, fields: readonly IndexField[]): Generator<RowValue[], void> {
    const columns = ['fid', 'feature_id', 'geom', ...fields.map(({ column }) => quoted(column))]
    const statement = this.#db.prepare(
      `SELECT ${columns.join(', ')} FROM features WHERE fid > ?1 AND (?2 IS NULL OR layer = ?2) ORDER BY fid LIMIT ${CHUNK}`,
    )
    statement.setReturnArrays(true)
    statement.setReadBigInts(true)
    let after = 0n
    for (;;) {
      const rows = statement.all(after, layer) as unknown as RowValue[][]
      yield* rows
      if (rows.length < CHUNK) return
      after = rows.at(-1)?.[0] as bigint
    }
  }

  /** Yields fid, own id, geometry and layer of all features, then the values of the fields as in responses. */
  *shown(fields: readonly IndexField[]): Generator<RowValue[], void> {
    const columns = ['fid', 'feature_id', 'geom', 'layer', ...fields.map(shownColumn)]
    const statement = this.#db.prepare(`SELECT ${columns.join(', ')} FROM features ORDER BY fid`)
    statement.setReturnArrays(true)
    yield* statement.iterate() as unknown as Iterable<RowValue[]>
  }

  /** Returns the only value of a query. */
  value(sql: string, ...values: (string | number | null)[]): RowValue {
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    return (statement.get(...values) as unknown as RowValue[] | undefined)?.[0] ?? null
  }
}
