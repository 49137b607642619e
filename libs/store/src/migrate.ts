import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Sql } from './connect.js'

const DIRECTORY = fileURLToPath(new URL('../migrations/', import.meta.url))

/** Any number serves, as long as nothing else in the database takes an advisory lock of the same one. */
const MIGRATION_LOCK = 891_001

interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly checksum: string
}

/**
 * Brings the schema to the newest migration, each in a transaction of its own with the row that records it. Safe when several processes
 * start at once: one holds the lock, the others wait and find nothing to do. Forward only. Throws when a migration that was applied
 * has another text today, or when the database is newer than this program.
 */
export async function migrate(sql: Sql, migrations: readonly Migration[] = readMigrations()): Promise<void> {
  const connection = await sql.reserve()
  try {
    // Waiting for another process's migration may take longer than any statement should.
    await connection`SET statement_timeout = 0`
    await connection`SELECT pg_advisory_lock(${MIGRATION_LOCK})`
    try {
      await connection`
        CREATE TABLE IF NOT EXISTS schema_migrations (
          number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
      const applied = await connection<
        { number: number; checksum: string }[]
      >`SELECT number, checksum FROM schema_migrations`
      for (const migration of pending(migrations, applied)) {
        await connection.unsafe('BEGIN')
        try {
          await connection.unsafe(migration.text)
          await connection`
            INSERT INTO schema_migrations (number, name, checksum)
            VALUES (${migration.number}, ${migration.name}, ${migration.checksum})`
          await connection.unsafe('COMMIT')
        } catch (error) {
          await connection.unsafe('ROLLBACK')
          throw error
        }
      }
    } finally {
      await connection`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`
      await connection`RESET statement_timeout`
    }
  } finally {
    connection.release()
  }
}

/** Whether the database has every migration that this program knows: what a process that does not migrate waits for. */
export async function isMigrated(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ present: boolean }[]>`SELECT to_regclass('schema_migrations') IS NOT NULL AS present`
  if (!row?.present) return false
  const [newest] = await sql<{ number: number | null }[]>`SELECT max(number) AS number FROM schema_migrations`
  return (newest?.number ?? 0) >= (readMigrations().at(-1)?.number ?? 0)
}

function pending(
  known: readonly Migration[],
  applied: readonly { number: number; checksum: string }[],
): readonly Migration[] {
  for (const row of applied) {
    const same = known.find((migration) => migration.number === row.number)
    if (same === undefined)
      throw new Error(`the database has migration ${row.number}, which this version does not know`)
    if (same.checksum !== row.checksum) throw new Error(`migration ${same.name} was changed after it had been applied`)
  }
  const done = new Set(applied.map((row) => row.number))
  return known.filter((migration) => !done.has(migration.number))
}

export function readMigrations(directory: string = DIRECTORY): readonly Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(`${directory}/${name}`, 'utf8')
      return { number: Number(name.slice(0, 4)), name, text, checksum: createHash('sha256').update(text).digest('hex') }
    })
}
