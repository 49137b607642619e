import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { freshDatabase, type TestDatabase } from './database.js'
import { environment, type TestSettings } from './environment.js'
import { ADMIN_PASSWORD, ADMIN_TOKEN, ADMIN_USER, type Edge, Gateway, type Links } from './gateway.js'
import { freePort } from './ports.js'
import { startRedis, type TestRedis } from './redis.js'
import { ServiceProcess } from './service-process.js'
import { TcpProxy } from './tcp-proxy.js'

export interface GatewayOptions {
  /** number of edges, each with a separate URL; default 1 */
  readonly edges?: number
  /** processes of each edge; default 1 */
  readonly edgeWorkers?: number
  /** true: a separate redis-server; 'proxy': every process reaches it through a separate TCP proxy; default: Postgres NOTIFY */
  readonly redis?: boolean | 'proxy'
  /** 'proxy': every process reaches Postgres through a separate TCP proxy */
  readonly postgres?: 'proxy'
  /** default: a fresh database in the run's Postgres */
  readonly database?: () => Promise<TestDatabase>
  /** every process has a separate DATA_DIR below that of the gateway, so that no two processes share a file */
  readonly ownData?: boolean
  /** words before the command of every process */
  readonly before?: readonly string[]
  /** settings for all processes, which override the harness's */
  readonly env?: TestSettings
}

/** Starts a gateway and resolves when every process is ready. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await launch(options)
  try {
    await gateway.ready()
  } catch (error) {
    await gateway.abandon()
    throw error
  }
  return gateway
}

async function launch(options: GatewayOptions): Promise<Gateway> {
  const mark = randomUUID()
  const edgeWorkers = options.edgeWorkers ?? 1
  const home = await mkdtemp(join(tmpdir(), 'gateway-test-'))
  const database = await (options.database ?? freshDatabase)()
  const redis = options.redis ? await startRedis() : null
  const controlPort = await freePort()
  const edgePorts: number[] = []
  for (let i = 0; i < (options.edges ?? 1); i++) edgePorts.push(await freePort())
  const common = {
    CONFIG_FILE: join(home, 'service.env'),
    DATA_DIR: join(home, 'data'),
    CONTROL_PORT: String(controlPort),
    API_PORT: String(edgePorts[0] ?? controlPort),
    API_BASE_URL: localUrl(edgePorts[0] ?? controlPort),
    EDGE_WORKERS: String(edgeWorkers),
    ADMIN_USER,
    ADMIN_PASSWORD,
    ADMIN_TOKEN,
    DEMO: 'false',
    // No load balancer needs the notice, unless the test sets it.
    DRAIN_NOTICE_SECONDS: '0',
  }
  const launchService = async (name: string, service: string, port: number, own: TestSettings) => {
    const { links, addresses } = await link(options, database, redis)
    const data = options.ownData ? { DATA_DIR: join(common.DATA_DIR, name.replaceAll(' ', '-')) } : {}
    const env = environment(mark, { ...common, ...data, ...addresses, ...own, ...options.env })
    return {
      ...links,
      url: localUrl(port),
      process: new ServiceProcess(name, [...(options.before ?? []), process.execPath, mainOf(service)], env),
    }
  }
  const controlPlane = await launchService('control plane', 'control-plane', controlPort, {})
  const edges: Edge[] = []
  for (const [i, port] of edgePorts.entries()) {
    edges.push(await launchService(`edge ${i + 1}`, 'edge', port, { API_PORT: String(port) }))
  }
  return new Gateway({ controlPlane, edges, redis, database, mark, home, edgeWorkers })
}

/** Returns the addresses under which one process reaches Postgres and Redis, through separate proxies if the test asks for them. */
async function link(
  options: GatewayOptions,
  database: TestDatabase,
  redis: TestRedis | null,
): Promise<{ links: Links; addresses: TestSettings }> {
  const postgresProxy = options.postgres === 'proxy' ? await proxyTo(database.url) : null
  const redisProxy = options.redis === 'proxy' && redis !== null ? await proxyTo(redis.url) : null
  return {
    links: { postgresProxy, redisProxy },
    addresses: {
      DATABASE_URL: through(database.url, postgresProxy),
      ...(redis !== null && { REDIS_URL: through(redis.url, redisProxy) }),
    },
  }
}

function proxyTo(address: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(address)
  return TcpProxy.start({ host: hostname, port: Number(port) })
}

function through(address: string, proxy: TcpProxy | null): string {
  if (proxy === null) return address
  const url = new URL(address)
  url.port = String(proxy.port)
  return url.href
}

function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

function mainOf(service: string): string {
  return join(inject('bundles'), `services/${service}/dist/main.js`)
}
