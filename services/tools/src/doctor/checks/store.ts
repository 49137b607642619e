import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from '@gateway/contracts/messages.js'
import { addressHosts } from '@gateway/core/settings/address-hosts.js'
import type { Settings } from '@gateway/core/settings/load.js'
import { currentState } from '@gateway/store/change-log.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { readSchemaState, StoreRefusal } from '@gateway/store/migrate.js'
import { keepsSessions, probeWrite } from '@gateway/store/pooling.js'
import { readScanSources } from '@gateway/store/scan-sources.js'
import { storeTrouble } from '@gateway/store/transient-errors.js'
import { type Finding, fault, ok, warn } from '../finding.js'
import type { Installation } from '../installation.js'
import { checkAudit } from './audit.js'
import { checkClock } from './clock.js'

/** Minimum version; older ones lack features that migrations use. */
const OLDEST_POSTGRES = 14
/** Share of max_connections above which the next edge may find no connection. */
const CROWDED_SHARE = 0.8

const MORE_CONNECTIONS =
  'raise max_connections (or the CONNECTION LIMIT of the role), or put PgBouncer between (pool_mode = session); docs/sizing.md counts'
/** SQLSTATEs (PostgreSQL manual, appendix A) */
const TOO_MANY_CONNECTIONS = '53300'
const READ_ONLY = '25006'

export interface SourceFolder {
  readonly code: string
  readonly path: string
}

export interface StoreCheck {
  readonly findings: readonly Finding[]
  /** folders of enabled scan sources */
  readonly sources: readonly SourceFolder[]
}

/** Checks reachability, version, permissions, schema, free space and clock of the store, one line for each. */
export async function checkStore(settings: Settings, installation: Installation): Promise<StoreCheck> {
  const url = settings.databaseUrl ?? (await embeddedUrl(settings))
  if (url === null) return { findings: [unset(installation)], sources: [] }
  const sql = openStore(url, { applicationName: 'gateway-doctor', maxConnections: 2, statementTimeoutMs: 5_000 })
  const findings: Finding[] = []
  try {
    return { findings, sources: await examine(sql, settings, place(url), findings) }
  } catch (error) {
    findings.push(unusable(error as Error, place(url)))
    return { findings, sources: [] }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function unset({ embeddedPostgres }: Installation): Finding {
  return embeddedPostgres
    ? ok('store', 'DATABASE_URL is not set, and the Postgres that npm start runs is not running')
    : fault('store', 'DATABASE_URL is not set', 'set it, or DATABASE_URL_FILE, to the address of a Postgres')
}

/** Returns the URL of the Postgres that `npm start` runs now; null: none runs, or this user may not see it. */
async function embeddedUrl({ dataDir }: Settings): Promise<string | null> {
  try {
    const dir = join(dataDir, 'postgres')
    const port = (await readFile(join(dir, 'data/postmaster.pid'), 'utf8')).split('\n')[3]
    const password = await readFile(join(dir, 'password'), 'utf8')
    return `postgres://gateway:${password}@127.0.0.1:${Number(port)}/postgres`
  } catch {
    return null
  }
}

/** Returns the parts of a URL that are not secret. */
function place(url: string): string {
  const hosts = (addressHosts(url) ?? []).map(({ host, port }) => (port === null ? host : `${host}:${port}`))
  const { pathname } = new URL(url.replace(/\/\/[^/?]*/, '//x'))
  return `${hosts.join(',')}${pathname}`
}

function unusable(error: Error, at: string): Finding {
  const trouble = storeTrouble(error)
  const words = trouble === null ? 'the store cannot be used' : textOf(trouble.said)
  const detail = error.message || (error as { code?: string }).code || 'no answer'
  if ((error as { code?: string }).code === TOO_MANY_CONNECTIONS)
    return fault('store', `${words} at ${at} (${detail})`, MORE_CONNECTIONS)
  const advice =
    trouble?.passes !== false
      ? 'start Postgres there, or correct DATABASE_URL and check the path to it (network, firewall, DNS)'
      : 'correct DATABASE_URL; create the database and its role if they are missing'
  return fault('store', `${words} at ${at} (${detail})`, advice)
}

/** Adds to `findings`; answers the scan sources. Rejects where the store refuses something, or is lost. */
async function examine(
  sql: Sql,
  settings: Settings,
  at: string,
  findings: Finding[],
): Promise<readonly SourceFolder[]> {
  findings.push(await versionAndRole(sql, at))
  if (!(await keepsSessions(sql)))
    findings.push(
      fault(
        'store',
        'DATABASE_URL points to a pool that shares its sessions; locks and notifications do not work with such a pool',
        'let it pool sessions (PgBouncer: pool_mode = session), or name the server itself',
      ),
    )
  findings.push(...(await rights(sql)), await connections(sql))
  findings.push(await checkClock('clock', 'Postgres', () => databaseTime(sql)))
  const { finding, isCurrent } = await schema(sql)
  findings.push(finding)
  if (!isCurrent) return []
  const { revision, epoch } = await currentState(sql)
  findings.push(
    ok('store', `revision ${revision} of epoch ${epoch}`),
    ...(await checkAudit(sql, settings.auditHeadTarget)),
  )
  const sources = (await readScanSources(sql)).filter(({ enabled }) => enabled)
  return sources.map(({ code, path }) => ({ code, path }))
}

async function versionAndRole(sql: Sql, at: string): Promise<Finding> {
  const [row] = await sql<{ version: number; text: string; replica: boolean }[]>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text,
           pg_is_in_recovery() AS replica`
  const { version = 0, text = '', replica = false } = row ?? {}
  const found = `Postgres ${text} at ${at}`
  if (Math.floor(version / 10_000) < OLDEST_POSTGRES)
    return fault('store', `${found} is too old`, `use Postgres ${OLDEST_POSTGRES} or later`)
  if (replica) return fault('store', `${found} is a replica`, 'promote it, or name the primary in DATABASE_URL')
  return ok('store', found)
}

async function databaseTime(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number }[]>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`
  return row?.ms ?? 0
}

async function rights(sql: Sql): Promise<readonly Finding[]> {
  const [row] = await sql<{ user: string; schema: string | null; create: boolean; temp: boolean }[]>`
    SELECT current_user AS user, current_schema() AS schema,
           coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS create,
           has_database_privilege(current_database(), 'TEMP') AS temp`
  const { user = '', schema: name = null, create = false, temp = false } = row ?? {}
  if (!create)
    return [
      fault(
        'store',
        `role ${user} may not create tables in schema ${name ?? 'public'}, which migrations do`,
        `GRANT CREATE ON SCHEMA ${name ?? 'public'} TO ${user}, or make it the owner of the database`,
      ),
    ]
  if (!temp)
    return [warn('store', `role ${user} may not make temporary tables`, `GRANT TEMP ON DATABASE ... TO ${user}`)]
  try {
    await probeWrite(sql)
    return [ok('store', `role ${user} may create tables, and writing works`)]
  } catch (error) {
    const trouble = storeTrouble(error)
    const words = trouble === null ? (error as Error).message : textOf(trouble.said)
    const advice =
      (error as { code?: string }).code === READ_ONLY
        ? 'find who set default_transaction_read_only (hosted services do when the disk is nearly full), and reset it'
        : 'free space on its disk'
    return [fault('store', `nothing can be written: ${words}`, advice)]
  }
}

async function connections(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ used: number; most: number }[]>`
    SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most`
  const { used = 0, most = 0 } = row ?? {}
  const found = `${used} of ${most} connections in use`
  return used <= most * CROWDED_SHARE ? ok('store', found) : warn('store', found, MORE_CONNECTIONS)
}

async function schema(sql: Sql): Promise<{ finding: Finding; isCurrent: boolean }> {
  try {
    const { pending, newer } = await readSchemaState(sql)
    if (pending.length > 0)
      return {
        finding: warn(
          'store',
          `the schema lacks ${pending.length} migrations`,
          'start a control plane, which applies them',
        ),
        isCurrent: false,
      }
    const found =
      newer.length === 0 ? 'the schema matches this version' : `a newer version has added ${newer.join(', ')}`
    return { finding: ok('store', found), isCurrent: true }
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error
    return { finding: fault('store', error.message, 'see "Order of a restart" in docs/operate.md'), isCurrent: false }
  }
}
