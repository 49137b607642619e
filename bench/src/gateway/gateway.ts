import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import { freePort, isReady } from '@gateway/core/processes/readiness.js'
import { SETTING_NAMES } from '@gateway/core/settings/schema.js'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { startEmbeddedPostgres } from '@gateway/tools/embedded-postgres/server.js'
import { type Cores, family } from '../machine.js'
import { AdminClient } from './admin.js'
import { Service } from './service.js'

export interface GatewayOptions {
  readonly workers: number
  readonly cores: Cores | null
  /** scan sources, which are scanned before the edge starts */
  readonly basemaps?: readonly string[]
  readonly vectors?: string
  /** true: a separate redis-server; otherwise Postgres NOTIFY */
  readonly redis?: boolean
  /** checkout whose built processes run; default: this one */
  readonly checkout?: string
  /** settings in addition to those of every measured gateway */
  readonly settings?: Readonly<Record<string, string>>
  /** adds rows to the store before the edge starts */
  readonly fill?: (sql: Sql) => Promise<void>
  /** options of Node for a profile of the edge's processes */
  readonly nodeOptions?: string
}

/** A gateway of built processes with a separate empty store. */
export interface Gateway {
  readonly url: string
  readonly port: number
  readonly admin: AdminClient
  /** time from the start of the edge until it was ready, in milliseconds */
  readonly edgeReadyMs: number
  /** returns the processes of the edge: its supervisor, then its workers */
  edgePids(): number[]
  stop(): Promise<void>
}

const THIS_CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const ADMIN_TOKEN = 'bench-admin-token'

/** Starts Postgres and the control plane, scans the sources, and then starts the edge. All except the edge run on the load's core. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
  const ending: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    for (const end of ending.splice(0).reverse()) await end()
  }
  try {
    return await launch(options, home, ending, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function launch(
  options: GatewayOptions,
  home: string,
  ending: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Gateway> {
  const postgres = await startEmbeddedPostgres({
    dir: join(home, 'postgres'),
    durable: false,
    log: () => {},
    onLost: (reason) => process.stderr.write(`Postgres is lost: ${reason}\n`),
  })
  ending.push(() => postgres.stop())
  const redisUrl = options.redis ? await startRedis(home, ending, options.cores?.load) : undefined
  const [port, controlPort] = [await freePort(), await freePort()]
  const env = environment({
    CONFIG_FILE: join(home, 'service.env'),
    DATA_DIR: join(home, 'data'),
    DATABASE_URL: postgres.url,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    API_PORT: String(port),
    CONTROL_PORT: String(controlPort),
    EDGE_WORKERS: String(options.workers),
    ADMIN_TOKEN,
    DEMO: 'false',
    // Builds of the downloaded vectors would take half of a processor during the first minute.
    VECTOR_TILES: 'false',
    DRAIN_NOTICE_SECONDS: '0',
    ...options.settings,
    ...(options.nodeOptions !== undefined && { NODE_OPTIONS: options.nodeOptions }),
  })
  const run = (name: string, core: number | undefined): Service => {
    const main = join(options.checkout ?? THIS_CHECKOUT, 'services', name, 'dist/main.js')
    const service = new Service({ name, command: [process.execPath, main], env, core })
    ending.push(() => service.stop())
    return service
  }
  const controlPlane = run('control-plane', options.cores?.load)
  await controlPlane.until(() => isReady(`http://127.0.0.1:${controlPort}/ready`))
  const admin = new AdminClient(`http://127.0.0.1:${controlPort}`, ADMIN_TOKEN)
  for (const [i, directory] of (options.basemaps ?? []).entries()) {
    await admin.scan(`bench-basemaps-${i}`, 'basemap', directory)
  }
  if (options.vectors !== undefined) await admin.scan('bench-vectors', 'vector', options.vectors)
  if (options.fill !== undefined) {
    const sql = openStore(postgres.url, { applicationName: 'bench', maxConnections: 1 })
    await options.fill(sql).finally(() => sql.end())
  }
  const startedAt = performance.now()
  const edge = run('edge', options.cores?.server)
  const url = `${options.settings?.TLS_CERT_FILE === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  await edge.until(() => isReady(`${url}/ready`))
  const edgeReadyMs = performance.now() - startedAt
  await edge.until(async () => (await edgesAlive(admin)).length === options.workers)
  return { url, port, admin, edgeReadyMs, edgePids: () => family(edge.pid), stop }
}

/** Returns the edge processes that are present. */
export async function edgesAlive(admin: AdminClient): Promise<readonly EdgePresence[]> {
  return (await admin.call<{ items: readonly EdgePresence[] }>('/edges')).items
}

async function startRedis(home: string, ending: (() => Promise<unknown>)[], core: number | undefined): Promise<string> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, '--save', '', '--appendonly', 'no']
  const redis = new Service({ name: 'redis', command: ['redis-server', ...options], core })
  ending.push(() => redis.stop())
  await redis.until(async () => redis.output.includes('Ready to accept connections'))
  return `redis://127.0.0.1:${port}`
}

/** Returns this process's environment without settings of a gateway, plus the given ones. */
function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !(SETTING_NAMES as readonly string[]).includes(name))
  return { ...Object.fromEntries(inherited), ...settings }
}
