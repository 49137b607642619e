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

/** Proxies between one process and its dependencies; null if the process is linked directly. */
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

/** Timeouts of hanging processes, below the time limits of hooks and tests. A machine with ten times as many processes as cores needs a third of each. */
const READY_WITHIN_MS = 120_000
const APPLIED_WITHIN_MS = 90_000
const STOP_WITHIN_MS = 60_000

/** Pause between two requests for a state, each of which takes some milliseconds of the processor that the start needs. */
const LOOK_AGAIN_MS = 50
export const ADMIN_TOKEN = 'harness-admin-token'
export const ADMIN_USER = 'admin'
export const ADMIN_PASSWORD = 'harness-admin-password'

/** A gateway of built processes with a separate database, data directory and ports. */
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

  /** The URL of the first edge, which serves the whole interface. */
  get url(): string {
    return this.edges[0]?.url ?? this.controlPlane.url
  }

  /** A directory for the test, removed with the gateway. */
  get home(): string {
    return this.#home
  }

  issueToken(body: Partial<TokenBody> = {}): Promise<IssuedToken> {
    return this.admin.issueToken(body)
  }

  /** Allows error lines that the test provokes, which otherwise fail it. */
  allowErrors(...patterns: readonly RegExp[]): void {
    this.#allowed.push(...patterns)
  }

  /** The output of all processes. */
  logs(): string {
    return this.#processes()
      .map((process) => `--- ${process.name}\n${process.output()}`)
      .join('\n')
  }

  /** Resolves when every running service reports ready, and every process of its edges is present. */
  async ready(): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    for (const { url, process } of [this.controlPlane, ...this.edges]) {
      while (process.running && !(await isReady(`${url}/ready`))) {
        if (Date.now() > deadline) throw new Error(`${process.name} is not ready\n${this.logs()}`)
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
      }
      if (!process.running) throw new Error(`${process.name} ended before it was ready\n${this.logs()}`)
    }
    // An edge is ready as soon as one of its processes serves.
    await this.#edgesUntil(() => true, 'not every edge process announces itself', deadline)
  }

  /** Resolves when every edge process has applied the currently committed changes. */
  async caughtUp(): Promise<void> {
    const revision = await this.database.revision()
    const applied = (edges: readonly EdgePresence[]) => edges.every((edge) => edge.applied_revision >= revision)
    await this.#edgesUntil(
      applied,
      `not every edge process applies revision ${revision}`,
      Date.now() + APPLIED_WITHIN_MS,
    )
  }

  /** Waits until every process of the edges is present and all satisfy a condition. A killed process stays present for a while. */
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
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }

  /**
   * Ends everything in order, and throws if something was left behind: a process, a port, a database connection, an error in a log that was
   * not allowed, or a process with an unexpected exit.
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

  /** Kills everything, for a gateway that failed to start: its leftovers are then irrelevant. */
  async abandon(): Promise<void> {
    for (const process of this.#processes()) if (process.running) await process.kill()
    await this.stop().catch(() => {})
  }

  /** Processes in the order of their start. */
  #processes(): readonly ServiceProcess[] {
    return [this.controlPlane.process, ...this.edges.map(({ process }) => process)]
  }
}
