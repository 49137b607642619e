import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openSession, type Sql } from './connect.js'

const DIRECTORY = fileURLToPath(new URL('../migrations/', import.meta.url))

/** Any number serves, as long as nothing else in the database takes an advisory lock of the same one. */
const MIGRATION_LOCK = 891_001

/** Limit: one migration of a big store, or the wait for another process's; far more than any takes. */
const MIGRATION_TIMEOUT_MS = 1_800_000

/**
 * Limit: how long a statement of a migration waits for a lock. Everything that asks for the table after it waits behind it, so a migration that
 * waits for a `pg_dump` would hold up every process. It begins again after a pause, in which the others get their turn.
 */
const LOCK_TIMEOUT_MS = 500
const LOCK_PAUSE_MS = 2_000
const LOCK_NOT_AVAILABLE = '55P03'

interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
  /** whether the version before it runs on a store that has it: its first line is `-- compatible: yes` */
  readonly compatible: boolean
}

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly compatible: boolean
}

/** What waiting does not mend, in one line for an operator. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal'
}

/**
 * Brings the schema to the newest migration, each in a transaction of its own with the row that records it. Safe when several processes
 * start at once: one holds the lock, the others wait and find nothing to do. Forward only.
 *
 * Answers the names of migrations that this program does not know, which a newer one has made and marked as compatible. Throws StoreRefusal
 * when one of them is not, or when a migration that was applied has another text today.
 */
export async function migrate(
  sql: Sql,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const found = await readApplied(sql)
  // The common case needs neither a lock nor the right to write: a store that can only be read lets a process start.
  if (found !== null && pending(migrations, found).length === 0) return unknownOf(migrations, found)
  const session = openSession(sql, MIGRATION_TIMEOUT_MS)
  try {
    // Goes with the session, whatever happens.
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

/** Throws after MIGRATION_TIMEOUT_MS if another transaction holds a lock that the migration needs for all of that time. */
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

/** How the database's schema stands to this program's. */
export interface SchemaState {
  /** names of migrations that the database has not got yet */
  readonly pending: readonly string[]
  /** names of those that a newer program has made, with which this one works */
  readonly newer: readonly string[]
}

/** Reads alone. Throws StoreRefusal where this program and the database do not fit. */
export async function readSchemaState(sql: Sql): Promise<SchemaState> {
  const migrations = readMigrations()
  const applied = (await readApplied(sql)) ?? []
  return { pending: pending(migrations, applied).map(({ name }) => name), newer: unknownOf(migrations, applied) }
}

/** In their order; null: there is no such table. The column `compatible` is younger than the table. */
async function readApplied(sql: Sql): Promise<readonly Applied[] | null> {
  const [table] = await sql<{ present: boolean }[]>`SELECT to_regclass('schema_migrations') IS NOT NULL AS present`
  if (!table?.present) return null
  return sql<Applied[]>`
    SELECT number, name, checksum, coalesce((to_jsonb(m) ->> 'compatible')::boolean, false) AS compatible
    FROM schema_migrations m ORDER BY number`
}

/** The migrations to apply. Throws where this program and the database do not fit. */
function pending(known: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  for (const { number, checksum, compatible, name } of applied) {
    const same = known.find((migration) => migration.number === number)
    if (same === undefined && !compatible) {
      throw new StoreRefusal(
        `the store has migration ${name} of a newer version, with which this version cannot work: start the newer version again, or ` +
          'restore the backup that was made before it',
      )
    }
    if (same !== undefined && same.checksum !== checksum) {
      throw new StoreRefusal(`migration ${same.name} was changed after it had been applied: install this version anew`)
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
