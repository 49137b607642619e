import type { Chunk } from '../query/items-query.js'
import { ChunkWriter } from '../query/row-chunks.js'
import type { Database } from './connect.js'
import type { TableQuery } from './messages.js'
import { type ReadFeature, readFeature, selectFeatures } from './select-features.js'

/** Rows that are fetched at a time. */
const BATCH = 500

/** Called with a statement, so that it can be cancelled. */
export type Running = (statement: { cancel(): void }) => void

/**
 * Yields the features of a query, from a cursor in a transaction that sees one state of the table.
 * @param token id of the token for policies of the database
 */
export async function* featuresOf(
  sql: Database,
  query: TableQuery,
  layer: string,
  token: string,
  running: Running,
): AsyncGenerator<ReadFeature, void> {
  const { table, limit, after, offset } = query
  const statement = selectFeatures(query, table)
  if (statement === null) return
  const reserved = await sql.reserve()
  try {
    await reserved.unsafe('BEGIN READ ONLY')
    await reserved.unsafe("SELECT set_config('gateway.token', $1::text, true)", [token])
    // A filter of a caller has its own text, of which no connection remembers any number.
    const rows = reserved.unsafe(statement.text, statement.values as (string | null)[], {
      prepare: query.filter === null,
    })
    running(rows)
    let place = table.key.length === 0 && after !== null ? Number(after.at(-1)) : offset
    for await (const batch of rows.values().cursor(Math.min(BATCH, limit + 1)))
      for (const raw of batch as unknown as unknown[][]) yield readFeature(raw, query, table, layer, place++)
  } finally {
    await reserved.unsafe('ROLLBACK').catch(() => {})
    reserved.release()
  }
}

/** Yields the parts of a response on demand. See `featuresOf`. */
export async function* readQuery(
  sql: Database,
  query: TableQuery,
  layer: string,
  token: string,
  running: Running,
): AsyncGenerator<Chunk, void> {
  const chunks = new ChunkWriter(query, false)
  for await (const { row, values, position } of featuresOf(sql, query, layer, token, running)) {
    const chunk = chunks.add(row, values, position)
    if (chunk === null) continue
    yield chunk
    if (chunk.state !== 'going on') return
    chunks.resume()
  }
  yield chunks.end()
}
