import type { Chunk } from '../query/items-query.js'
import { ChunkWriter } from '../query/row-chunks.js'
import type { Database } from './connect.js'
import type { TableQuery } from './messages.js'
import { type ReadFeature, readFeature, type Statement, selectFeatures } from './select-features.js'

/** Rows that are fetched at a time. */
const BATCH = 500

/** Called with a statement, so that it can be cancelled. */
export type Running = (statement: PromiseLike<unknown> & { cancel(): void }) => void

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
    let place = table.key.length === 0 && after !== null ? Number(after.at(-1)) : offset
    for await (const batch of batchesOf(reserved, statement, limit, running))
      for (const raw of batch) yield readFeature(raw, query, table, layer, place++)
  } finally {
    await reserved.unsafe('ROLLBACK').catch(() => {})
    reserved.release()
  }
}

/**
 * Yields the rows of a statement. None of them is prepared by name: a transaction cannot go on after a statement whose table has changed since. Each
 * FETCH has the time limit of a statement, so that a download may take longer.
 */
async function* batchesOf(
  sql: Pick<Database, 'unsafe'>,
  { text, values }: Statement,
  limit: number,
  running: Running,
): AsyncGenerator<readonly unknown[][], void> {
  const run = (query: string, parameters: readonly (string | null)[] = []) => {
    const rows = sql.unsafe(query, [...parameters], { prepare: false })
    running(rows)
    return rows.values() as unknown as Promise<unknown[][]>
  }
  if (limit < BATCH) return yield await run(text, values)
  await run(`DECLARE features NO SCROLL CURSOR FOR ${text}`, values)
  for (;;) {
    const batch = await run(`FETCH ${BATCH} FROM features`)
    yield batch
    if (batch.length < BATCH) return
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
