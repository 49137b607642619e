import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { RawClient } from '../../uws/raw-client.js'
import type { NativeUse, SenderStats } from '../file-sender.js'
import type { TierName } from '../types.js'

const PROGRAM = fileURLToPath(new URL('../../../testing/file-server.mjs', import.meta.url))
const HOST = '127.0.0.1'

export interface ServerStats extends SenderStats {
  /** Open descriptors of the process, its memory in bytes (`rss`), and the maximum of that (`peak`). */
  readonly descriptors: number
  /** Maximum number of requests for `/slow` that were answered between two runs of the event loop's timers. */
  readonly mostBetweenTimers: number
  readonly rss: number
  readonly peak: number
}

export interface ServerOptions {
  readonly tiers: readonly TierName[]
  readonly stallSeconds?: number
  readonly idleSeconds?: number
  readonly port?: number
  readonly attachLate?: boolean
  /** Path of another Node than this one. */
  readonly node?: string
  /** The binaries with which the native tier is tried, and whether this one is treated as unknown. */
  readonly native?: NativeUse
  readonly unknownBinary?: boolean
  /** Maximum number of open descriptors of the process. */
  readonly descriptors?: number
}

export interface TestFile {
  readonly name: string
  readonly content: Buffer
  readonly sha256: string
}

/** Runs testing/file-server.mjs in its own process, over a directory of random files. */
export class ServerProcess {
  readonly root = mkdtempSync(join(tmpdir(), 'sendfile-'))
  readonly #process: ChildProcess
  readonly #lines: Interface
  port = 0
  tier = ''
  reason = ''
  warnings: readonly string[] = []

  private constructor(options: ServerOptions) {
    const argument = JSON.stringify({ root: this.root, ...options })
    const { node = process.execPath, descriptors } = options
    const [program = node, ...args] = [
      ...(descriptors ? ['prlimit', `--nofile=${descriptors}`, node] : [node]),
      PROGRAM,
      argument,
    ]
    this.#process = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    this.#lines = createInterface(this.#process.stdout as NodeJS.ReadableStream)
  }

  static async start(options: ServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(options)
    await server.#ready()
    return server
  }

  async #ready(): Promise<void> {
    const [line] = (await once(this.#lines, 'line')) as [string]
    Object.assign(this, JSON.parse(line))
  }

  /** Attaches the tier of a server that was started with `attachLate`. */
  async attach(): Promise<void> {
    this.signal('SIGHUP')
    await this.#ready()
  }

  get pid(): number {
    return this.#process.pid as number
  }

  isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  file(name: string, bytes: number): TestFile {
    const content = randomBytes(bytes)
    writeFileSync(join(this.root, name), content)
    return { name, content, sha256: sha256(content) }
  }

  connect(): Promise<RawClient> {
    return RawClient.open(HOST, this.port)
  }

  /** Uses a separate connection, so that descriptors can be compared. */
  async stats(): Promise<ServerStats> {
    const asked = get({ host: HOST, port: this.port, path: '/stats', agent: false })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return (await json(response)) as ServerStats
  }

  /** Waits until the counters are as expected. */
  async until(expected: (stats: ServerStats) => boolean): Promise<ServerStats> {
    for (;;) {
      const stats = await this.stats()
      if (expected(stats)) return stats
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Resolves with the exit code; null if a signal ended the process. */
  async ended(): Promise<number | null> {
    if (this.isAlive()) await once(this.#process, 'exit')
    return this.#process.exitCode
  }

  async stop(): Promise<void> {
    if (this.isAlive()) {
      this.#process.kill('SIGKILL')
      await this.ended()
    }
    rmSync(this.root, { recursive: true })
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns a request as text; `headers` is lines of "Name: value\r\n". */
export function request(path: string, headers = '', method = 'GET'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`
}

/** Returns a port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
