import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'
import { isReady } from '@gateway/launcher/readiness.js'
import { Admin } from './admin.js'
import { freshDatabase, type TestDatabase } from './database.js'
import { environment, type TestSettings } from './environment.js'
import { connectionsLeft, portsLeft, processesLeft, troubleIn } from './left-behind.js'
import { freePort } from './ports.js'
import { startRedis, type TestRedis } from './redis.js'
import { ServiceProcess } from './service-process.js'
import { TcpProxy } from './tcp-proxy.js'

export interface GatewayOptions {
  /** how many edges, each on an address of its own; default 1 */
  readonly edges?: number
  /** processes of each edge; default 1 */
  readonly edgeWorkers?: number
  /** true: a redis-server of its own; 'proxy': every process reaches it through a TCP proxy of its own; default: Postgres NOTIFY */
  readonly redis?: boolean | 'proxy'
  /** 'proxy': every process reaches Postgres through a TCP proxy of its own */
  readonly postgres?: 'proxy'
  /** settings for all processes, on top of the harness's */
  readonly env?: TestSettings
}

/** The links of one process to what it depends on; null where it is linked directly. */
export interface Links {
  readonly redisProxy: TcpProxy | null
  readonly postgresProxy: TcpProxy | null
}

export interface Edge extends Links {
  readonly url: string
  readonly process: ServiceProcess
}

export interface ControlPlane extends Links {
  readonly url: string
  readonly process: ServiceProcess
}

const READY_WITHIN_MS = 60_000
const STOP_WITHIN_MS = 20_000
const ADMIN_TOKEN = 'harness-admin-token'
export const ADMIN_USER = 'admin'
export const ADMIN_PASSWORD = 'harness-admin-password'

/** A gateway of built processes, with a database, a data directory and ports of its own. */
export class Gateway {
  readonly controlPlane: ControlPlane
  readonly edges: readonly Edge[]
  readonly redis: TestRedis | null
  readonly database: TestDatabase
  readonly dataDir: string
  readonly admin: Admin
  readonly adminToken = ADMIN_TOKEN
  readonly #mark: string
  readonly #home: string
  readonly #allowed: RegExp[] = []
  #stopped = false

  constructor(parts: Pick<Gateway, 'controlPlane' | 'edges' | 'redis' | 'database'> & { mark: string; home: string }) {
    this.controlPlane = parts.controlPlane
    this.edges = parts.edges
    this.redis = parts.redis
    this.database = parts.database
    this.#mark = parts.mark
    this.#home = parts.home
    this.dataDir = join(parts.home, 'data')
    this.admin = new Admin(this.url, ADMIN_TOKEN)
  }

  /** The address of the first edge, at which the whole interface answers. */
  get url(): string {
    return this.edges[0]?.url ?? this.controlPlane.url
  }

  /** A directory of the test's own, removed with the gateway. */
  get home(): string {
    return this.#home
  }

  issueToken(body: Partial<TokenBody> = {}): Promise<IssuedToken> {
    return this.admin.issueToken(body)
  }

  /** Error lines that this test provokes, and that therefore do not fail it. */
  allowErrors(...patterns: readonly RegExp[]): void {
    this.#allowed.push(...patterns)
  }

  /** Everything that all processes wrote. */
  logs(): string {
    return this.#processes()
      .map((process) => `--- ${process.name}\n${process.output()}`)
      .join('\n')
  }

  /** Answers when every process that runs says that it is ready. */
  async ready(): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    for (const { url, process } of [this.controlPlane, ...this.edges]) {
      while (process.running && !(await isReady(`${url}/ready`))) {
        if (Date.now() > deadline) throw new Error(`${process.name} is not ready\n${this.logs()}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (!process.running) throw new Error(`${process.name} ended before it was ready\n${this.logs()}`)
    }
  }

  /**
   * Ends everything in order, and throws where something was left behind: a process, a port, a database connection, an error in a log that
   * was not allowed, or a process that did not end as asked.
   */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    const problems: string[] = []
    for (const process of this.#processes().toReversed()) {
      const problem = await process.stop(STOP_WITHIN_MS)
      if (problem !== null) problems.push(problem)
    }
    problems.push(...(await processesLeft(this.#mark)))
    problems.push(...(await portsLeft([this.controlPlane, ...this.edges].map(({ url }) => Number(new URL(url).port)))))
    for (const { redisProxy, postgresProxy } of [this.controlPlane, ...this.edges]) {
      await redisProxy?.close()
      await postgresProxy?.close()
    }
    await this.redis?.stop()
    problems.push(...(await connectionsLeft(() => this.database.connections())))
    problems.push(...troubleIn(this.#processes(), this.#allowed))
    await this.database.drop()
    await rm(this.#home, { recursive: true, force: true })
    if (problems.length > 0) throw new Error(`the gateway left something behind:\n  ${problems.join('\n  ')}`)
  }

  /** In the order in which they are started. */
  #processes(): readonly ServiceProcess[] {
    return [this.controlPlane.process, ...this.edges.map(({ process }) => process)]
  }
}

/** Starts a gateway and answers when every process of it is ready. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await launch(options)
  try {
    await gateway.ready()
  } catch (error) {
    await gateway.stop().catch(() => {})
    throw error
  }
  return gateway
}

async function launch(options: GatewayOptions): Promise<Gateway> {
  const mark = randomUUID()
  const home = await mkdtemp(join(tmpdir(), 'gateway-test-'))
  const database = await freshDatabase()
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
    EDGE_WORKERS: String(options.edgeWorkers ?? 1),
    ADMIN_USER,
    ADMIN_PASSWORD,
    ADMIN_TOKEN,
    DEMO: 'false',
  }
  const launchService = async (name: string, service: string, port: number, own: TestSettings) => {
    const { links, addresses } = await link(options, database, redis)
    const env = environment(mark, { ...common, ...addresses, ...own, ...options.env })
    return {
      ...links,
      url: localUrl(port),
      process: new ServiceProcess(name, [process.execPath, mainOf(service)], env),
    }
  }
  const controlPlane = await launchService('control plane', 'control-plane', controlPort, {})
  const edges: Edge[] = []
  for (const [i, port] of edgePorts.entries()) {
    edges.push(await launchService(`edge ${i + 1}`, 'edge', port, { API_PORT: String(port) }))
  }
  return new Gateway({ controlPlane, edges, redis, database, mark, home })
}

/** The addresses under which one process reaches Postgres and Redis, through proxies of its own where the test asks for them. */
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
  return fileURLToPath(new URL(`../../services/${service}/dist/main.js`, import.meta.url))
}
