import { blobOf } from '../index-file/geometry-blob.js'
import { quoted } from '../index-file/index-description.js'
import { geoJsonText } from '../query/geometry.js'
import type { Chunk } from '../query/items-query.js'
import { ChunkWriter } from '../query/row-chunks.js'
import type { Database } from './connect.js'
import type { TableQuery } from './messages.js'
import {
  named,
  type ReadFeature,
  readFeature,
  type Selection,
  type Statement,
  selectFeatures,
  selectValues,
  tableName,
} from './select-features.js'
import { hasTexts, selectTexts, writesPoints } from './select-texts.js'

/** Rows that are fetched first; then as many as have about this number of bytes, at most. */
const BATCH = 500
const BATCH_BYTES = 512 * 1024
const MAX_BATCH = 2_000
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
  const { table } = query
  let place = firstPlace(query)
  for await (const batch of rowsOf(sql, query, selectValues(query, table), { token, running, isRaw: false }))
    for (const raw of batch) yield readFeature(raw, query, table, layer, place++)
}

/** Number of features in front of the first one, for tables without a key. */
function firstPlace({ table, after, offset }: TableQuery): number {
  return table.key.length === 0 && after !== null ? Number(after.at(-1)) : offset
}

interface Reading {
  readonly token: string
  readonly running: Running
  /** true: the rows have bytes as the database sends them */
  readonly isRaw: boolean
}

/** Yields the rows of a query in batches. */
async function* rowsOf(
  sql: Database,
  query: TableQuery,
  selection: Selection,
  reading: Reading,
): AsyncGenerator<readonly unknown[][], void> {
  const statement = await statementFor(sql, query, selection)
  if (statement === null) return
  const reserved = await sql.reserve()
  try {
    // The client sends the first statement behind both, without waiting for them.
    const begun = Promise.all([
      reserved.unsafe('BEGIN READ ONLY'),
      reserved.unsafe("SELECT set_config('gateway.token', $1::text, true)", [reading.token], { prepare: true }),
    ])
    begun.catch(() => {})
    try {
      yield* batchesOf(reserved, statement, query, reading)
    } catch (error) {
      // If one of them has failed, each later statement fails without saying why.
      await begun
      throw error
    }
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
async function statementFor(sql: Database, query: TableQuery, selection: Selection): Promise<Statement | null> {
  const { table } = query
  const whole = selectFeatures(query, table, selection)
  const quick = selectFeatures(query, table, selection, false)
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
 * Yields the rows of a statement. Each FETCH has the time limit of a statement, so that a download may take longer. The database works on the next one
 * meanwhile.
 */
async function* batchesOf(
  sql: Pick<Database, 'unsafe'>,
  { text, values }: Statement,
  { limit, table }: TableQuery,
  reading: Reading,
): AsyncGenerator<readonly unknown[][], void> {
  const send = (statement: string, parameters: Statement['values'] = []) =>
    sent(sql, { text: named(table, statement), values: parameters }, reading)
  if (limit < BATCH) return yield await send(text, values)
  await send(`DECLARE features NO SCROLL CURSOR FOR ${text}`, values)
  const fetched = (rows: number) => {
    const batch = send(`FETCH ${rows} FROM features`)
    // The reader may leave before it waits for this batch.
    batch.catch(() => {})
    return { rows, batch }
  }
  let next = fetched(BATCH)
  try {
    for (;;) {
      const { rows, batch } = next
      const found = await batch
      if (found.length < rows) return yield found
      next = fetched(Math.max(1, Math.min(MAX_BATCH, Math.floor((rows * BATCH_BYTES) / sizeOf(found)))))
      yield found
    }
  } finally {
    // A request to cancel it must not meet the statement that follows it.
    await next.batch.catch(() => {})
  }
}

/**
 * Returns the rows of a statement. It is not prepared by name: the plan for a small box would be used for a large one too, and a transaction cannot go on
 * after a prepared statement whose table has changed since.
 */
function sent(
  sql: Pick<Database, 'unsafe'>,
  { text, values }: Statement,
  { running, isRaw }: Reading,
): Promise<unknown[][]> {
  const rows = sql.unsafe(text, [...values], { prepare: false })
  running(rows)
  return (isRaw ? rows.raw() : rows.values()) as unknown as Promise<unknown[][]>
}

function sizeOf(rows: readonly unknown[][]): number {
  let bytes = 1
  for (const row of rows)
    for (const value of row) bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  return bytes
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
  // The database would work longer on the statement for a page than the gateway works on its values.
  const added =
    query.limit >= BATCH && hasTexts(query)
      ? addedTexts(chunks, sql, query, { token, running, isRaw: true })
      : addedFeatures(chunks, sql, query, layer, { token, running, isRaw: false })
  for await (const chunk of added) {
    yield chunk
    if (chunk.state !== 'going on') return
    chunks.resume()
  }
  yield chunks.end()
}

async function* addedFeatures(
  chunks: ChunkWriter,
  sql: Database,
  query: TableQuery,
  layer: string,
  { token, running }: Reading,
): AsyncGenerator<Chunk, void> {
  for await (const { row, values, position } of featuresOf(sql, query, layer, token, running)) {
    const chunk = chunks.add(row, values, position)
    if (chunk !== null) yield chunk
  }
}

/** Adds features that the database has written. */
async function* addedTexts(
  chunks: ChunkWriter,
  sql: Database,
  query: TableQuery,
  reading: Reading,
): AsyncGenerator<Chunk, void> {
  const { table, sort } = query
  const keys = table.key.length
  const at = keys + sort.length
  const isWhole = writesPoints(query, table)
  let place = firstPlace(query)
  for await (const batch of rowsOf(sql, query, selectTexts(query, table), reading)) {
    for (const row of batch as unknown as (Buffer | null)[][]) {
      place++
      const text = isWhole ? (row[at] as Buffer) : withGeometry(row, at)
      const here = place
      const position = () => {
        const of = row.map((value) => value?.toString() ?? null)
        return [...of.slice(keys, at), ...(keys === 0 ? [here] : of.slice(0, keys))]
      }
      // The first feature has no comma in front.
      const chunk = chunks.addText((index) => (index === 0 ? text.subarray(1) : text), position)
      if (chunk !== null) yield chunk
    }
  }
}

function withGeometry(row: readonly (Buffer | null)[], at: number): Buffer {
  const hex = row[at + 1]
  const blob = hex == null ? null : blobOf(Buffer.from(hex.toString('latin1', 2), 'hex'), null)
  const geometry = blob === null || typeof blob === 'string' ? null : blob.bytes
  return Buffer.concat([row[at] as Buffer, Buffer.from(geoJsonText(geometry, null)), row[at + 2] as Buffer])
}
