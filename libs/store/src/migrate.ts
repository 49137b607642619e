import { setTimeout as sleep } from 'node:timers/promises'
import { applyMigration, MIGRATION_TIMEOUT_MS } from './apply-migration.js'
import { openSession, type Sql } from './connect.js'
import { type Migration, readMigrations } from './migration-files.js'

/** An arbitrary number for the advisory lock. No other code in the database may use it. */
const MIGRATION_LOCK = 891_001

/** Pause of a process that waits for the migrations of another one. */
const LOCK_POLL_MS = 200

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly compatible: boolean
}

/** A problem that waiting does not solve, in one line for an operator. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal'
}

/**
 * Brings the schema to the newest migration. Safe when several processes start at once: one holds the lock, and the others wait and then find
 * nothing to do. Forward only.
 *
 * Returns the names of unknown migrations, which a newer program has applied and marked as compatible. Throws StoreRefusal
 * if one of them is incompatible, or if an applied migration has another text today.
 */
export async function migrate(
  sql: Sql,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const found = await readApplied(sql)
  // The common case needs neither a lock nor write permission, so a process starts on a read-only store.
  if (found !== null && pending(migrations, found).length === 0) return unknownOf(migrations, found)
  const session = openSession(sql, MIGRATION_TIMEOUT_MS)
  try {
    await takeLock(session)
    await session.unsafe(`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
      ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS compatible boolean NOT NULL DEFAULT false`)
    const applied = (await readApplied(session)) ?? []
    for (const migration of pending(migrations, applied)) await applyMigration(session, migration)
    return unknownOf(migrations, applied)
  } finally {
    await session.end({ timeout: 1 })
  }
}

/**
 * The lock ends with the session in any case. It is asked for again and again, because a statement that waited for it would be a transaction that
 * a concurrent build of an index waits for.
 */
async function takeLock(session: Sql): Promise<void> {
  const end = performance.now() + MIGRATION_TIMEOUT_MS
  for (;;) {
    const [row] = await session<{ taken: boolean }[]>`SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS taken`
    if (row?.taken) return
    if (performance.now() > end) throw new Error('another process has been migrating the store for too long')
    await sleep(LOCK_POLL_MS)
  }
}

/** The state of the database's schema, compared with this program. */
export interface SchemaState {
  /** names of migrations that are not yet applied */
  readonly pending: readonly string[]
  /** names of migrations of a newer program, with which this one works */
  readonly newer: readonly string[]
}

/** Only reads. Throws StoreRefusal if this program and the database do not fit. */
export async function readSchemaState(sql: Sql): Promise<SchemaState> {
  const migrations = readMigrations()
  const applied = (await readApplied(sql)) ?? []
  return { pending: pending(migrations, applied).map(({ name }) => name), newer: unknownOf(migrations, applied) }
}

/** Returns applied migrations in their order; null if the table does not exist. The column `compatible` is younger than the table. */
async function readApplied(sql: Sql): Promise<readonly Applied[] | null> {
  const [table] = await sql<{ present: boolean }[]>`SELECT to_regclass('schema_migrations') IS NOT NULL AS present`
  if (!table?.present) return null
  return sql<Applied[]>`
    SELECT number, name, checksum, coalesce((to_jsonb(m) ->> 'compatible')::boolean, false) AS compatible
    FROM schema_migrations m ORDER BY number`
}

/** Returns the migrations to apply. Throws if this program and the database do not fit. */
function pending(known: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  for (const { number, checksum, compatible, name } of applied) {
    const same = known.find((migration) => migration.number === number)
    if (same === undefined && !compatible) {
      throw new StoreRefusal(
        `the store has migration ${name} of a newer version, with which this version cannot work: start the newer version again, or restore ` +
          'the backup that was made before it',
      )
    }
    if (same !== undefined && same.checksum !== checksum && !same.earlierChecksums.includes(checksum)) {
      throw new StoreRefusal(`migration ${same.name} was changed after it had been applied: install this version again`)
    }
  }
  const done = new Set(applied.map((row) => row.number))
  return known.filter((migration) => !done.has(migration.number))
}

function unknownOf(known: readonly Migration[], applied: readonly Applied[]): readonly string[] {
  return applied.filter(({ number }) => known.every((migration) => migration.number !== number)).map(({ name }) => name)
}
