import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { SenderStats } from '../file-sender.js'
import { RawClient } from '../raw-client.js'
import type { TierName } from '../types.js'

const PROGRAM = fileURLToPath(new URL('../../test-server/server.mjs', import.meta.url))
const HOST = '127.0.0.1'

export interface ServerStats extends SenderStats {
  /** Open descriptors of the process, and its memory in bytes, now and at most. */
  readonly descriptors: number
  readonly rss: number
  readonly peak: number
}

export interface TestFile {
  readonly name: string
  readonly content: Buffer
  readonly sha256: string
}

/** test-server/server.mjs as a process of its own, over a directory of random files. */
export class ServerProcess {
  readonly root = mkdtempSync(join(tmpdir(), 'sendfile-'))
  readonly #process: ChildProcess
  port = 0
  tier = ''
  reason = ''

  private constructor(tiers: readonly TierName[], stallSeconds: number) {
    const options = JSON.stringify({ root: this.root, tiers, stallSeconds })
    this.#process = spawn(process.execPath, [PROGRAM, options], { stdio: ['ignore', 'pipe', 'ignore'] })
  }

  static async start(tiers: readonly TierName[], stallSeconds = 60): Promise<ServerProcess> {
    const server = new ServerProcess(tiers, stallSeconds)
    const lines = createInterface(server.#process.stdout as NodeJS.ReadableStream)
    const [line] = (await once(lines, 'line')) as [string]
    Object.assign(server, JSON.parse(line))
    return server
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

  /** Over a connection of its own, so that descriptors can be compared. */
  async stats(): Promise<ServerStats> {
    const asked = get({ host: HOST, port: this.port, path: '/stats', agent: false })
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return (await json(response)) as ServerStats
  }

  /** Waits until the counters show what is expected of them. */
  async until(expected: (stats: ServerStats) => boolean): Promise<ServerStats> {
    for (;;) {
      const stats = await this.stats()
      if (expected(stats)) return stats
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Resolves with the exit code; null where a signal ended it. */
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

/** A request as bytes; `headers` as "Name: value\r\n" lines. */
export function request(path: string, headers = '', method = 'GET'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`
}
