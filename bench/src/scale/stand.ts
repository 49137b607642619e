import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, isReady } from '@gateway/core/processes/readiness.js'
import { SETTING_NAMES } from '@gateway/core/settings/schema.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { makeBundles } from '@gateway/tools/setup/bundles.mjs'
import { Service } from '../gateway/service.js'
import { family } from '../machine.js'
import type { SimulatedEdges } from './edges.js'

export const ADMIN_TOKEN = 'bench-admin-token'
/** Connections of Postgres in addition to those of the simulated edges: those of the control plane and of this program. */
const OTHER_CONNECTIONS = 60
/** Maximum number of connections of a real edge with one worker, including its supervisor. */
const REAL_EDGE_CONNECTIONS = 8
const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))

/** A crash-safe store, a bus and a control plane, each in a separate process. */
export interface Stand {
  readonly sql: Sql
  /** URL of the control plane */
  readonly url: string
  /** returns the processes of each part, for their processor time */
  pids(): {
    readonly store: number[]
    readonly bus: number[]
    readonly control: number[]
  }
  /** Starts this many edges, and resolves when all follow. */
  edges(count: number): Promise<RunningEdges>
  stop(): Promise<void>
}

export interface RunningEdges {
  /** time from the start of the edges until all followed, in milliseconds */
  readonly readyMs: number
  /** returns the processes of each edge; simulated edges are one process */
  families(): number[][]
  stop(): Promise<void>
}

export interface StandOptions {
  /** minimum number in the store; missing ones are created */
  readonly tokens: number
  readonly versions: number
  readonly maxEdges: number
  /** true: edges that serve requests, in separate processes; false: simulated ones in one process */
  readonly real: boolean
}

/**
 * Starts the stand on data that is kept below the system's temporary directory, since creating ten million tokens takes minutes.
 */
export async function startStand({ tokens, versions, maxEdges, real }: StandOptions): Promise<Stand> {
  const home = join(tmpdir(), `gateway-bench-scale-${tokens}-${versions}`)
  await mkdir(home, { recursive: true })
  const postgres = await startEmbeddedPostgres({
    dir: join(home, 'postgres'),
    maxConnections: maxEdges * (real ? REAL_EDGE_CONNECTIONS : 1) + OTHER_CONNECTIONS,
    log: () => {},
    onLost: (reason) => process.stderr.write(`Postgres is lost: ${reason}\n`),
  })
  const redisPort = await freePort()
  const options = ['--port', `${redisPort}`, '--bind', '127.0.0.1', '--dir', home, '--save', '', '--appendonly', 'no']
  const redis = new Service({
    name: 'redis',
    command: ['redis-server', ...options],
    core: undefined,
  })
  const redisUrl = `redis://127.0.0.1:${redisPort}`
  await redis.until(async () => redis.output.includes('Ready to accept connections'))
  const port = await freePort()
  const control = new Service({
    name: 'control-plane',
    command: [process.execPath, join(CHECKOUT, 'services/control-plane/dist/main.js')],
    env: environment({
      CONFIG_FILE: join(home, 'service.env'),
      DATA_DIR: join(home, 'data'),
      DATABASE_URL: postgres.url,
      REDIS_URL: redisUrl,
      CONTROL_PORT: `${port}`,
      ADMIN_TOKEN,
      DEMO: 'false',
      LOG_LEVEL: 'warn',
    }),
    core: undefined,
  })
  const url = `http://127.0.0.1:${port}`
  await control.until(() => isReady(`${url}/ready`))
  const sql = openStore(postgres.url, {
    applicationName: 'bench',
    maxConnections: 2,
    statementTimeoutMs: 3_600_000,
  })
  await makeTokens(sql, tokens)
  await makeVersions(sql, versions)
  return {
    sql,
    url,
    pids: () => ({
      store: family(postgres.pid()),
      bus: [redis.pid],
      control: family(control.pid),
    }),
    edges: (count) =>
      real
        ? startReal(count, home, { DATABASE_URL: postgres.url, REDIS_URL: redisUrl, CONTROL_PORT: `${port}` })
        : startSimulated({ databaseUrl: postgres.url, redisUrl, count }),
    async stop() {
      await sql.end()
      await control.stop()
      await redis.stop()
      await postgres.stop()
    },
  }
}

async function startSimulated(wanted: SimulatedEdges): Promise<RunningEdges> {
  const begun = performance.now()
  const program = fileURLToPath(new URL('./edges.js', import.meta.url))
  const command = [process.execPath, program, JSON.stringify(wanted)]
  const service = new Service({ name: 'edges', command, core: undefined })
  await service.until(async () => service.output.includes('ready\n'))
  return { readyMs: performance.now() - begun, families: () => [family(service.pid)], stop: () => service.stop() }
}

async function startReal(
  count: number,
  home: string,
  settings: Readonly<Record<string, string>>,
): Promise<RunningEdges> {
  // The form in which `npm start` runs an edge.
  const bundles = await makeBundles(CHECKOUT)
  const begun = performance.now()
  const startOne = async (number: number): Promise<Service> => {
    const port = await freePort()
    const own = {
      CONFIG_FILE: join(home, 'service.env'),
      DATA_DIR: join(home, `edge-${number}`),
      API_PORT: `${port}`,
      EDGE_WORKERS: '1',
      DRAIN_NOTICE_SECONDS: '0',
      LOG_LEVEL: 'warn',
    }
    const service = new Service({
      name: 'edge',
      command: [process.execPath, join(bundles, 'services/edge/dist/main.js')],
      env: environment({ ...settings, ...own }),
      core: undefined,
    })
    await service.until(() => isReady(`http://127.0.0.1:${port}/ready`))
    return service
  }
  const services = await Promise.all(Array.from({ length: count }, (_, number) => startOne(number)))
  return {
    readyMs: performance.now() - begun,
    families: () => services.map(({ pid }) => family(pid)),
    stop: async () => void (await Promise.all(services.map((service) => service.stop()))),
  }
}

/** Rows per statement. The digests of the rows belong to no token, which is enough for this measurement. */
const AT_ONCE = 1_000_000

export async function makeTokens(sql: Sql, wanted: number): Promise<void> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::float8 AS count FROM tokens`
  let count = row?.count ?? 0
  if (count >= wanted) return
  const seed = createHash('sha256').update('scale').digest('hex').slice(0, 8)
  for (; count < wanted; count = Math.min(wanted, count + AT_ONCE)) {
    process.stderr.write(`tokens: ${count}\n`)
    await sql`
      INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, created_at, last_used_at)
      SELECT 'scale ' || n, 'bmp_' || substr(md5(n::text), 1, 8), sha256(convert_to(${seed} || n, 'UTF8')), '{*}', '{*}', '{read}',
             now() - make_interval(secs => n % 8000000), now() - make_interval(secs => n % 700000)
      FROM generate_series(${count}::bigint, ${Math.min(wanted, count + AT_ONCE) - 1}::bigint) AS n`
  }
  await sql`VACUUM ANALYZE tokens`
}

/** Number of versions of each basemap. */
const VERSIONS = 3

/** Rows of a catalog whose tiles are nowhere: edges that follow read rows only. */
export async function makeVersions(sql: Sql, wanted: number): Promise<void> {
  const basemaps = Math.ceil(wanted / VERSIONS)
  await sql`
    INSERT INTO scan_sources (code, name, kind, path, enabled) VALUES ('scale', 'Scale', 'basemap', '/nowhere', false) ON CONFLICT DO NOTHING`
  await sql`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    SELECT 'scale-' || n, 'Scale ' || n, 'http://127.0.0.1:8910', 'scale' FROM generate_series(1, ${basemaps}::int) AS n
    ON CONFLICT DO NOTHING`
  await sql`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint,
                                  metadata, scanned_at)
    SELECT 'scale-' || n, 'v' || v, 'xyz', 'png', 'png', 256, 0, 5, 'scale-' || n || '/v' || v, 'f', '{}', now()
    FROM generate_series(1, ${basemaps}::int) AS n, generate_series(1, ${VERSIONS}::int) AS v ON CONFLICT DO NOTHING`
}

/** Returns this process's environment without settings of a gateway, plus the given ones. */
function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !(SETTING_NAMES as readonly string[]).includes(name))
  return { ...Object.fromEntries(inherited), ...settings }
}
