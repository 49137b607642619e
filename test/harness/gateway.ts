import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'
import { isReady } from '@gateway/core/processes/readiness.js'
import { Admin } from './admin.js'
import type { TestDatabase } from './database.js'
import { connectionsLeft, portsLeft, processesLeft, troubleIn } from './left-behind.js'
import { isAlive } from './processes.js'
import type { TestRedis } from './redis.js'
import type { ServiceProcess } from './service-process.js'
import type { TcpProxy } from './tcp-proxy.js'

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

/** Far more than a start takes, and less than the hooks and tests that wait for it may. */
const READY_WITHIN_MS = 40_000
/** Far more than it takes: edges announce what they have applied at once, and every second in any case. */
const APPLIED_WITHIN_MS = 30_000
const STOP_WITHIN_MS = 20_000
export const ADMIN_TOKEN = 'harness-admin-token'
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
  readonly #edgeWorkers: number
  readonly #allowed: RegExp[] = []
  #stopped = false

  constructor(
    parts: Pick<Gateway, 'controlPlane' | 'edges' | 'redis' | 'database'> & {
      mark: string
      home: string
      edgeWorkers: number
    },
  ) {
    this.controlPlane = parts.controlPlane
    this.edges = parts.edges
    this.redis = parts.redis
    this.database = parts.database
    this.#mark = parts.mark
    this.#home = parts.home
    this.#edgeWorkers = parts.edgeWorkers
    this.dataDir = join(parts.home, 'data')
    this.admin = new Admin(this.url, ADMIN_TOKEN, () => this.caughtUp())
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

  /** Answers when every service that runs says that it is ready, and every process of its edges has announced itself. */
  async ready(): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    for (const { url, process } of [this.controlPlane, ...this.edges]) {
      while (process.running && !(await isReady(`${url}/ready`))) {
        if (Date.now() > deadline) throw new Error(`${process.name} is not ready\n${this.logs()}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      if (!process.running) throw new Error(`${process.name} ended before it was ready\n${this.logs()}`)
    }
    // An edge is ready as soon as one of its processes serves.
    await this.#edgesUntil(() => true, 'not every edge process announces itself', deadline)
  }

  /** Answers when every edge process has applied what is committed at this moment. */
  async caughtUp(): Promise<void> {
    const revision = await this.database.revision()
    const applied = (edges: readonly EdgePresence[]) => edges.every((edge) => edge.applied_revision >= revision)
    await this.#edgesUntil(
      applied,
      `not every edge process applies revision ${revision}`,
      Date.now() + APPLIED_WITHIN_MS,
    )
  }

  /** Waits until every process of the edges is present and all of them satisfy a condition. One that was killed is present for a while. */
  async #edgesUntil(
    satisfied: (edges: readonly EdgePresence[]) => boolean,
    complaint: string,
    deadline: number,
  ): Promise<void> {
    const admin = new Admin(this.controlPlane.url, ADMIN_TOKEN)
    const processes = this.edges.filter(({ process }) => process.running).length * this.#edgeWorkers
    for (;;) {
      const { body } = await admin.call<{ items?: readonly EdgePresence[] }>('/edges')
      const alive = (body.items ?? []).filter(({ pid }) => isAlive(pid))
      if (alive.length >= processes && satisfied(alive)) return
      if (Date.now() > deadline) throw new Error(`${complaint}: ${JSON.stringify(body)}\n${this.logs()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
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

  /** Kills everything, for a gateway that never came to serve: what it leaves behind says nothing then. */
  async abandon(): Promise<void> {
    for (const process of this.#processes()) if (process.running) await process.kill()
    await this.stop().catch(() => {})
  }

  /** In the order in which they are started. */
  #processes(): readonly ServiceProcess[] {
    return [this.controlPlane.process, ...this.edges.map(({ process }) => process)]
  }
}
