import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@gateway/core/processes/readiness.js'
import { StartRefusal } from '@gateway/core/settings/refusal.js'
import { findPostgresBinaries } from './binaries.js'
import { type Cluster, openCluster, POSTGRES_DATABASE, POSTGRES_USER } from './cluster.js'
import { isDiskFull, waitBeforeRestart } from './restart-wait.js'
import { chooseRunAs, type RunAs } from './run-as.js'
import { stopStaleServer } from './stale-server.js'

/** Levels of our log for lines of Postgres' own log. */
type PostgresLogLevel = 'debug' | 'warn' | 'error'

/**
 * Level of a severity for the operator of the gateway. ERROR is a failed statement, which its client reports. FATAL ends one
 * connection, and is a warning except during a shutdown, which ends connections in this way.
 */
const LEVEL_OF_SEVERITY: Readonly<Record<string, PostgresLogLevel>> = {
  WARNING: 'warn',
  FATAL: 'warn',
  PANIC: 'error',
}

const ORDINARY_ENDS =
  /terminating connection due to administrator command|the database system is (starting up|shutting down)/

/** Classifies one line, `SEVERITY:  message`. Lines that continue another one (`DETAIL:`, `HINT:`, `CONTEXT:`) are details. */
function classify(line: string): { level: PostgresLogLevel; message: string } {
  const [, severity, message] = /^([A-Z]+\d?): {2}(.*)$/.exec(line) ?? []
  if (severity === undefined || message === undefined) return { level: 'debug', message: line }
  const level = ORDINARY_ENDS.test(message) ? 'debug' : (LEVEL_OF_SEVERITY[severity] ?? 'debug')
  return { level, message }
}

/** True for Postgres' message that it serves connections, after recovery if needed. On a replica the message says that they are read-only. */
function saysReady(line: string): boolean {
  return /database system is ready to accept (read-only )?connections/.test(line)
}

export interface EmbeddedPostgresOptions {
  /** directory of the data, on which the caller holds a lock */
  readonly dir: string
  readonly log: (level: PostgresLogLevel, message: string) => void
  /** called if Postgres died and could not be restarted */
  readonly onLost: (reason: string) => void
  /** false if data need not survive a crash of the machine (tests) */
  readonly durable?: boolean
  /** maximum for all processes together; default 200 */
  readonly maxConnections?: number
}

export interface EmbeddedPostgres {
  /** postgres:// URL with the password; unchanged by restarts after a crash */
  readonly url: string
  /** current process id of the server */
  pid(): number
  /** Closes connections and flushes all data. Resolves when the process has ended. */
  stop(): Promise<void>
}

/** Number of attempts, since a free port may be taken before Postgres binds it. */
const PORT_ATTEMPTS = 5

/** Maximum connections of all processes together; each costs Postgres some megabytes while it is open. */
const MAX_CONNECTIONS = 200

/**
 * Starts Postgres on the data below `dir`, which the first start creates, and restarts it when it dies.
 * It listens on its own loopback port. Throws StartRefusal, with a message of one line, if it cannot run.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const binaries = await findPostgresBinaries()
  await mkdir(options.dir, { recursive: true })
  // The data inside is private. Postgres' own user must be able to pass through the folder.
  await chmod(options.dir, 0o711)
  const runAs = chooseRunAs([options.dir, dirname(binaries.postgres)])
  const cluster = await openCluster(options.dir, binaries, runAs)
  await stopStaleServer(cluster.dataDir)
  const server = new Server(options, cluster, runAs, binaries.postgres)
  await server.startOnFreePort()
  return server
}

class Server implements EmbeddedPostgres {
  readonly #options: EmbeddedPostgresOptions
  readonly #cluster: Cluster
  readonly #runAs: RunAs
  readonly #postgres: string
  #port = 0
  #child: ChildProcess | null = null
  #stopping = false

  constructor(options: EmbeddedPostgresOptions, cluster: Cluster, runAs: RunAs, postgres: string) {
    this.#options = options
    this.#cluster = cluster
    this.#runAs = runAs
    this.#postgres = postgres
  }

  get url(): string {
    return `postgres://${POSTGRES_USER}:${this.#cluster.password}@127.0.0.1:${this.#port}/${POSTGRES_DATABASE}`
  }

  pid(): number {
    return this.#child?.pid ?? 0
  }

  async startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort()
      const failure = await this.#launch()
      if (failure === null) return
      if (attempt === PORT_ATTEMPTS || !failure.includes('TCP/IP socket'))
        throw new StartRefusal(
          `the embedded Postgres in ${this.#cluster.dataDir} does not start: ${failure}${isDiskFull(failure) ? '; make room on its disk' : ''}`,
        )
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    await exited
  }

  /** Returns null when Postgres serves connections, otherwise the reason of its end. @param again true if a full disk has been logged already */
  async #launch(again = false): Promise<string | null> {
    const [command = '', ...args] = [...this.#runAs.prefix, this.#postgres, ...this.#serverOptions()]
    // A separate process group: an interrupt from the terminal must not reach it before its clients have ended.
    const child = spawn(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], detached: true })
    this.#child = child
    let lastWords = ''
    const ready = new Promise<null>((resolve) => {
      createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        const { level, message } = classify(line)
        if (/^(FATAL|PANIC): /.test(line)) lastWords ||= message
        this.#options.log(again && isDiskFull(message) ? 'debug' : level, message)
        if (saysReady(line)) resolve(null)
      })
    })
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) => resolve(lastWords || `it ended with ${signal ?? code}`))
    })
    const outcome = await Promise.race([ready, ended])
    if (outcome === null) ended.then((reason) => this.#restart(reason))
    return outcome
  }

  async #restart(reason: string): Promise<void> {
    if (this.#stopping) return
    this.#options.log('warn', `the embedded Postgres died (${reason}) and is started again`)
    let failure: string | null = reason
    for (let attempt = 0; failure !== null && !this.#stopping; attempt++) {
      const waitMs = waitBeforeRestart(attempt, failure)
      if (waitMs === null) break
      await sleep(waitMs)
      if (!this.#stopping) failure = await this.#launch(attempt > 0)
    }
    if (failure !== null && !this.#stopping) this.#options.onLost(failure)
  }

  #serverOptions(): string[] {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.#port,
      // The path of the data may be longer than the name of a socket allows.
      unix_socket_directories: '',
      max_connections: this.#options.maxConnections ?? MAX_CONNECTIONS,
      // No query here is worth the start-up time of a compiler.
      jit: 'off',
      timezone: 'UTC',
      log_timezone: 'UTC',
      lc_messages: 'C',
      log_line_prefix: '',
      // Statements may contain data of callers, so they are not logged.
      log_min_error_statement: 'panic',
      ...(this.#options.durable === false && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    }
    return [
      '-D',
      this.#cluster.dataDir,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ]
  }
}
