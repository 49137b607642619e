import { randomBytes } from 'node:crypto'
import { openStore, type Sql } from '../connect.js'
import { migrate } from '../migrate.js'

/** A migrated database without connections, which others are copied from: the migrations take five times as long as a copy. */
const TEMPLATE = 'migrated'

/** A separate store for one test file, in the Postgres server of the integration layer. */
export interface FreshStore {
  readonly sql: Sql
  readonly url: string
  /** closes the connections and removes the database */
  drop(): Promise<void>
}

/** Prepares a new server for `createMigrated`. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await withStore(serverUrl, async (server) => void (await server`CREATE DATABASE ${server(TEMPLATE)}`))
  await withStore(databaseUrl(serverUrl, TEMPLATE), migrate)
}

/** Creates a database as the migrations leave it, with its own identity. */
export async function createMigrated(serverUrl: string, name: string): Promise<void> {
  // A copy of files, because to write each block to the log takes twice as long.
  await withStore(
    serverUrl,
    async (server) =>
      void (await server`CREATE DATABASE ${server(name)} TEMPLATE ${server(TEMPLATE)} STRATEGY file_copy`),
  )
  // The migrations make random values, and a trigger makes the second of two marks from the first.
  await withStore(databaseUrl(serverUrl, name), async (sql) => {
    await sql`
      WITH counted AS (UPDATE revision_counter SET revision = revision),
      signing AS (UPDATE signing_keys SET secret = sha256(convert_to(gen_random_uuid()::text, 'UTF8')))
      UPDATE instance_keys SET value = CASE name
        WHEN 'instance_id' THEN gen_random_uuid()::text
        ELSE replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') END`
    await sql`UPDATE revision_counter SET revision = revision`
  })
}

/** @param serverUrl TEST_POSTGRES_URL of the test run */
export async function freshStore(
  serverUrl: string | undefined,
  options: { readonly migrated: boolean } = { migrated: true },
): Promise<FreshStore> {
  if (serverUrl === undefined) throw new Error('TEST_POSTGRES_URL is unset: run the integration layer (npm test)')
  const name = `store_${randomBytes(6).toString('hex')}`
  if (options.migrated) await createMigrated(serverUrl, name)
  else await withStore(serverUrl, async (server) => void (await server`CREATE DATABASE ${server(name)}`))
  const url = databaseUrl(serverUrl, name)
  const sql = openStore(url, { applicationName: 'test', maxConnections: 8 })
  return {
    sql,
    url,
    drop: async () => {
      await sql.end({ timeout: 1 })
      await withStore(serverUrl, async (server) => void (await server`DROP DATABASE ${server(name)} WITH (FORCE)`))
    },
  }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function withStore(url: string, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = openStore(url, { applicationName: 'test', maxConnections: 1 })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
