import { randomBytes } from 'node:crypto'
import { currentRevision } from '@gateway/store/change-log.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { createMigrated } from '@gateway/store/testing/fresh-store.js'
import { inject } from 'vitest'

/** A fresh database in the run's Postgres, as the migrations leave it. */
export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** Returns the application names of all connections except the harness's own. */
  connections(): Promise<readonly string[]>
  /** Returns the revision of the change log. */
  revision(): Promise<number>
  drop(): Promise<void>
  /** Keeps a copy of the whole database, and returns the function that restores it. Both end all connections. */
  backUp(): Promise<() => Promise<void>>
}

/** Creates a database without running the migrations, which `start.test.ts` and the tests of the store do. */
export async function freshDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  await createMigrated(serverUrl, name)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    name,
    connections: () =>
      withConnection(serverUrl, async (sql) => {
        const rows = await sql<{ application_name: string }[]>`
          SELECT application_name FROM pg_stat_activity WHERE datname = ${name} AND backend_type = 'client backend'`
        return rows.map((row) => row.application_name)
      }),
    revision: () => withConnection(url.href, currentRevision),
    drop: () => withConnection(serverUrl, async (sql) => void (await sql`DROP DATABASE ${sql(name)} WITH (FORCE)`)),
    async backUp() {
      const backup = `${name}_backup`
      await withConnection(serverUrl, async (sql) => {
        await alone(sql, name)
        await sql`CREATE DATABASE ${sql(backup)} TEMPLATE ${sql(name)}`
        await sql`ALTER DATABASE ${sql(name)} ALLOW_CONNECTIONS true`
      })
      return () =>
        withConnection(serverUrl, async (sql) => {
          await alone(sql, name)
          await sql`DROP DATABASE ${sql(name)}`
          await sql`ALTER DATABASE ${sql(backup)} RENAME TO ${sql(name)}`
        })
    },
  }
}

/** Ends all connections and refuses new ones. */
async function alone(sql: Sql, name: string): Promise<void> {
  await sql`ALTER DATABASE ${sql(name)} ALLOW_CONNECTIONS false`
  await sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = ${name}`
}

export async function withConnection<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openStore(url, { applicationName: 'harness', maxConnections: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}
