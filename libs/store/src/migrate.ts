import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSession, type Sql } from './connect.js'

const DIRECTORY = fileURLToPath(new URL('../migrations/', import.meta.url))

/** An arbitrary number for the advisory lock. No other code in the database may use it. */
const MIGRATION_LOCK = 891_001

/** Maximum time of one migration of a large store, or of the wait for another process; far more than any takes. */
const MIGRATION_TIMEOUT_MS = 1_800_000

/**
 * Maximum time that a statement of a migration waits for a lock. Every later request for the table waits behind it, so a migration that
 * waits for a `pg_dump` would block every process. It starts again after a pause, in which the others get their turn.
 */
const LOCK_TIMEOUT_MS = 500
const LOCK_PAUSE_MS = 2_000
const LOCK_NOT_AVAILABLE = '55P03'

interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
  /** true if the previous version runs on a store with this migration: its first line is `-- compatible: yes` */
  readonly compatible: boolean
}

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
 * Brings the schema to the newest migration, each in its own transaction with the row that records it. Safe when several processes
 * start at once: one holds the lock, and the others wait and then find nothing to do. Forward only.
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
    // The lock ends with the session in any case.
    await session`SELECT pg_advisory_lock(${MIGRATION_LOCK})`
    await session.unsafe(`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
      ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS compatible boolean NOT NULL DEFAULT false`)
    const applied = (await readApplied(session)) ?? []
    for (const migration of pending(migrations, applied)) await apply(session, migration)
    return unknownOf(migrations, applied)
  } finally {
    await session.end({ timeout: 1 })
  }
}

/** Throws if another transaction holds a required lock for MIGRATION_TIMEOUT_MS. */
async function apply(sql: Sql, { number, name, checksum, compatible, text }: Migration): Promise<void> {
  const end = performance.now() + MIGRATION_TIMEOUT_MS
  for (;;) {
    try {
      await sql.begin(async (tx) => {
        await tx.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
        await tx.unsafe(text)
        await tx`
          INSERT INTO schema_migrations (number, name, checksum, compatible) VALUES (${number}, ${name}, ${checksum}, ${compatible})`
      })
      return
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || performance.now() > end) throw error
      await sleep(LOCK_PAUSE_MS)
    }
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
    if (same !== undefined && same.checksum !== checksum) {
      throw new StoreRefusal(`migration ${same.name} was changed after it had been applied: install this version again`)
    }
  }
  const done = new Set(applied.map((row) => row.number))
  return known.filter((migration) => !done.has(migration.number))
}

function unknownOf(known: readonly Migration[], applied: readonly Applied[]): readonly string[] {
  return applied.filter(({ number }) => known.every((migration) => migration.number !== number)).map(({ name }) => name)
}

export function readMigrations(directory: string = DIRECTORY): readonly Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(`${directory}/${name}`, 'utf8')
      const checksum = createHash('sha256').update(text).digest('hex')
      return {
        number: Number(name.slice(0, 4)),
        name,
        text,
        checksum,
        compatible: /^-- compatible: yes\s*$/m.test(firstLine(text)),
      }
    })
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n'))
}
