import { quoted } from '../index-file/index-description.js'
import type { Chunk } from '../query/items-query.js'
import { ChunkWriter } from '../query/row-chunks.js'
import type { Database } from './connect.js'
import type { TableQuery } from './messages.js'
import { type ReadFeature, readFeature, type Statement, selectFeatures, tableName } from './select-features.js'

/** Rows that are fetched at a time. */
const BATCH = 500

/** Time for which it is known whether a table has features without a geometry: at least, and as a multiple of the time of the look for them. */
const LEAST_KNOWN_MS = 10_000
const KNOWN_TIMES = 100

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
  const statement = await statementFor(sql, query)
  if (statement === null) return
  const reserved = await sql.reserve()
  try {
    await reserved.unsafe('BEGIN READ ONLY')
    await reserved.unsafe("SELECT set_config('gateway.token', $1::text, true)", [token], { prepare: true })
    let place = table.key.length === 0 && after !== null ? Number(after.at(-1)) : offset
    for await (const batch of batchesOf(reserved, statement, limit, running))
      for (const raw of batch) yield readFeature(raw, query, table, layer, place++)
  } finally {
    // The response does not wait for it.
    const over = () => reserved.release()
    reserved.unsafe('ROLLBACK').then(over, over)
  }
}

/**
 * Returns the statement for a query. A box also finds features without a geometry, and an index must be read as a whole to find that all features have
 * one. So that is looked for by itself, and remembered for a time in proportion.
 */
async function statementFor(sql: Database, query: TableQuery): Promise<Statement | null> {
  const { table } = query
  const whole = selectFeatures(query, table)
  const quick = selectFeatures(query, table, false)
  if (whole === null || whole.text === quick?.text || table.isPersonal) return whole
  return (await hasMissing(sql, table)) ? whole : quick
}

const missing = new WeakMap<Database, Map<string, { readonly untilMs: number; readonly found: boolean }>>()

async function hasMissing(sql: Database, table: TableQuery['table']): Promise<boolean> {
  const known = missing.get(sql) ?? new Map()
  missing.set(sql, known)
  const text = `SELECT EXISTS (SELECT FROM ${tableName(table)} WHERE ${quoted(table.geometry)} IS NULL) AS found`
  const last = known.get(text)
  const begunMs = performance.now()
  if (last !== undefined && begunMs < last.untilMs) return last.found
  // If it cannot be told, the statement itself finds them, or says why it fails.
  const found = await sql.unsafe(text).then(
    ([row]) => row?.found === true,
    () => true,
  )
  const nowMs = performance.now()
  known.set(text, { found, untilMs: nowMs + Math.max(LEAST_KNOWN_MS, (nowMs - begunMs) * KNOWN_TIMES) })
  return found
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
