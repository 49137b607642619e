import { randomBytes } from 'node:crypto'
import { openStore, type Sql } from '../connect.js'
import { migrate } from '../migrate.js'

/** A separate store for one test file, in the Postgres server of the integration layer. */
export interface FreshStore {
  readonly sql: Sql
  readonly url: string
  /** closes the connections and removes the database */
  drop(): Promise<void>
}

/** @param serverUrl TEST_POSTGRES_URL of the test run */
export async function freshStore(
  serverUrl: string | undefined,
  options: { readonly migrated: boolean } = { migrated: true },
): Promise<FreshStore> {
  if (serverUrl === undefined) throw new Error('TEST_POSTGRES_URL is unset: run the integration layer (npm test)')
  const name = `store_${randomBytes(6).toString('hex')}`
  const server = openStore(serverUrl, { applicationName: 'test', maxConnections: 1 })
  await server`CREATE DATABASE ${server(name)}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const sql = openStore(url.href, { applicationName: 'test', maxConnections: 8 })
  if (options.migrated) await migrate(sql)
  return {
    sql,
    url: url.href,
    drop: async () => {
      await sql.end({ timeout: 1 })
      await server`DROP DATABASE ${server(name)} WITH (FORCE)`
      await server.end()
    },
  }
}
