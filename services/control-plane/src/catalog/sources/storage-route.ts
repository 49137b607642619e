import { refuse } from '@gateway/contracts/errors.js'
import {
  CodedError,
  coded,
  messageOfError,
  type StoredMessage,
  storedMessage,
  textOf,
} from '@gateway/contracts/messages.js'
import { type SourceStorage, sourceStorageSchema } from '@gateway/contracts/scan-source.js'
import {
  CredentialsMissing,
  ObjectMissing,
  ObjectRefused,
  ObjectStoreTrouble,
} from '@gateway/core/object-storage/errors.js'
import { isRemote, parseLocation } from '@gateway/core/object-storage/location.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { readDatabaseSource, readScanSources } from '@gateway/store/scan-sources.js'
import { type Database, openDatabase } from '@gateway/vectors/postgis/connect.js'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_SOURCE, sendRefusal } from '../../platform/http/refusal.js'
import { byCode } from '../edit/route-parts.js'

const A_DIRECTORY = refuse('not_found', coded('source_not_remote'))

export function storageRoute(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/scan-sources/:code/storage',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'getScanSourceStorage',
        summary: 'Check that the storage of a remote source responds',
        description:
          'The answering control plane sends one request to the storage now, and retries it a few times. The metrics of the edges show if ' +
          'edges reach the storage. A source of kind `postgis` is asked with its stored password. Returns 404 for a source that is a directory.',
        params: byCode,
        response: { 200: sourceStorageSchema },
      },
    },
    async ({ params }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      if (source.kind === 'postgis') return askDatabase(ctx, source.code)
      if (!isRemote(source.path)) return sendRefusal(reply, A_DIRECTORY)
      return askStorage(source.path, ctx.settings)
    },
  )
}

async function askStorage(root: string, settings: Settings): Promise<SourceStorage> {
  const store = openObjectStore(root, settings)
  const begun = performance.now()
  const answer = await ask(store, root)
  await store.close()
  return { endpoint: endpointOf(root, settings), ...answer, milliseconds: Math.round(performance.now() - begun) }
}

/** SQLSTATEs (PostgreSQL manual, appendix A) of a server that answers and does not let the role in, or has no such database. */
const REFUSED = /^(28|42|53)...$/
const NO_DATABASE = '3D000'
const DATABASE_SECONDS = 5

async function askDatabase({ sql }: Pick<ControlContext, 'sql'>, code: string): Promise<SourceStorage> {
  const stored = await readDatabaseSource(sql, code)
  const connection = { source: code, url: '', password: null, ...stored?.connection, pool: 1 }
  const database = openDatabase(connection, {
    statementTimeoutSeconds: DATABASE_SECONDS,
    applicationName: 'gateway scan',
  })
  const begun = performance.now()
  const { host, pathname } = new URL(connection.url)
  const answer = await readQueries(database).then(
    (queries) => ({ state: 'answers' as const, ...storedMessage(''), queries }),
    (error: Error & { code?: string }) => {
      const cause = error.code ?? ''
      const state = REFUSED.test(cause) ? 'refuses' : cause === NO_DATABASE ? 'missing' : 'no_answer'
      return {
        state,
        ...said(new CodedError(coded('postgis_unreachable', { words: `${error.message} (${cause})` }))),
      } as const
    },
  )
  await database.end({ timeout: 1 }).catch(() => {})
  return { endpoint: `${host}${pathname}`, ...answer, milliseconds: Math.round(performance.now() - begun) }
}

/** Returns the queries of this role under way. A role cannot see the texts of queries by other roles. */
async function readQueries(database: Database): Promise<SourceStorage['queries']> {
  const rows = await database<{ query: string; seconds: number; wait: string | null }[]>`
    SELECT left(query, 1000) AS query, wait_event AS wait,
           greatest(0, extract(epoch FROM clock_timestamp() - query_start))::float8 AS seconds
    FROM pg_stat_activity
    WHERE usename = current_user AND datname = current_database() AND application_name LIKE 'gateway %'
      AND state <> 'idle' AND pid <> pg_backend_pid()
    ORDER BY query_start LIMIT 50`
  return rows.map(({ query, seconds, wait }) => ({ query, seconds, waits_for: wait }))
}

async function ask(store: ObjectStore, root: string): Promise<Omit<SourceStorage, 'endpoint' | 'milliseconds'>> {
  try {
    if (await isThere(store, root)) return { state: 'answers', ...storedMessage('') }
    return { state: 'missing', ...said(new CodedError(coded('storage_not_there'))) }
  } catch (error) {
    const message = said(error)
    if (error instanceof ObjectMissing) return { state: 'missing', ...message }
    if (error instanceof CredentialsMissing) return { state: 'no_credentials', ...message }
    if (error instanceof ObjectRefused) return { state: 'refuses', ...message }
    if (error instanceof ObjectStoreTrouble) return { state: 'no_answer', ...message }
    throw error
  }
}

function said(error: unknown): StoredMessage {
  const made = messageOfError(error)
  return storedMessage(textOf(made), made)
}

/** Matches the name of a source that is one object. */
const ONE_OBJECT = /\.(pmtiles|mbtiles|geojson|json|gpkg|fgb)$/i

async function isThere(store: ObjectStore, root: string): Promise<boolean> {
  if (ONE_OBJECT.test(root)) return (await store.head('')) !== undefined
  if (/^http/i.test(root)) return (await store.head('tilejson.json')) !== undefined
  // An empty bucket exists too.
  for await (const _ of store.list('', { delimiter: '/' })) break
  return true
}

function endpointOf(root: string, { s3Endpoint, s3Region }: Settings): string {
  const location = parseLocation(root)
  if (typeof location !== 'string' && location.kind === 'http') return location.url.origin
  return s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`
}
