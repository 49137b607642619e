import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable, Sql } from './connect.js'
import type { Migration } from './migration-files.js'

/** Maximum time of one migration of a large store, or of the wait for another process; far more than any takes. */
export const MIGRATION_TIMEOUT_MS = 1_800_000

/**
 * Maximum time that a statement of a migration waits for a lock. Every later request for the table waits behind it, so a migration that
 * waits for a `pg_dump` would block every process. It starts again after a pause, in which the others get their turn.
 */
const LOCK_TIMEOUT_MS = 500
const LOCK_PAUSE_MS = 2_000
const LOCK_NOT_AVAILABLE = '55P03'

/** The only kind of statement in a migration without a transaction; captures the name of the index. */
const CONCURRENT_INDEX = /CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)/

/**
 * Applies a migration in one transaction with the row that records it, unless it builds indexes.
 * Throws if another transaction holds a required lock for MIGRATION_TIMEOUT_MS.
 */
export async function applyMigration(session: Sql, migration: Migration): Promise<void> {
  if (!migration.inTransaction) return applyBeside(session, migration)
  const end = performance.now() + MIGRATION_TIMEOUT_MS
  for (;;) {
    try {
      await session.begin(async (tx) => {
        await tx.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
        await tx.unsafe(migration.text)
        await record(tx, migration)
      })
      return
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || performance.now() > end) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

/**
 * Builds indexes while other processes write to their tables. Each statement is its own transaction, so a run that was interrupted is repeated:
 * an index that it left half-built counts as missing. Such a build waits for older transactions, but nobody waits for it.
 */
async function applyBeside(session: Sql, migration: Migration): Promise<void> {
  await session`SET lock_timeout = 0`
  for (const statement of migration.text.split(';')) {
    const index = CONCURRENT_INDEX.exec(statement)?.[1]
    if (index === undefined) continue
    const [left] = await session`SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(${index}) AND NOT indisvalid`
    if (left !== undefined) await session.unsafe(`DROP INDEX CONCURRENTLY ${index}`)
    await session.unsafe(statement)
  }
  await record(session, migration)
}

async function record(sql: Queryable, { number, name, checksum, compatible }: Migration): Promise<void> {
  await sql`
    INSERT INTO schema_migrations (number, name, checksum, compatible) VALUES (${number}, ${name}, ${checksum}, ${compatible})`
}
