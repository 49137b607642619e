import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import { isTrouble, type LogLine, parseLine } from './log-lines.js'
import { childrenOf } from './processes.js'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a killed test run must not leave behind dies with it; see also the mark in `processes.ts`. */
const WITH_PARENT = dieWithParent('KILL')

/** A process of the gateway under test, with everything it wrote. It can be ended and started again with the same settings. */
export class ServiceProcess {
  readonly name: string
  readonly #command: readonly string[]
  readonly #env: NodeJS.ProcessEnv
  readonly #lines: LogLine[] = []
  readonly #watchers = new Set<(line: LogLine) => void>()
  #child: ChildProcess | null = null
  #ended: Promise<Ending> | null = null
  #endedOnPurpose = false

  constructor(name: string, command: readonly string[], env: NodeJS.ProcessEnv) {
    this.name = name
    this.#command = command
    this.#env = env
    this.start()
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get running(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Everything written so far, over all starts. */
  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** Process ids of its own children at this moment: an edge's workers. */
  workers(): readonly number[] {
    return childrenOf(this.pid)
  }

  start(): void {
    if (this.running) throw new Error(`${this.name} runs already`)
    const [command = '', ...args] = [...WITH_PARENT, ...this.#command]
    const child = spawn(command, args, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#child = child
    this.#endedOnPurpose = false
    for (const from of ['stdout', 'stderr'] as const) {
      createInterface({ input: child[from] }).on('line', (raw) => this.#take(parseLine(raw, from)))
    }
    this.#ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  }

  /** Sends a signal; a signal that ends the process makes the ending one that `stop()` of the gateway expects. */
  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#endedOnPurpose = true
    this.#child?.kill(signal)
  }

  /** SIGKILL, and wait until it has gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended()
  }

  /** Answers how the process ended, once it has and its output is complete. */
  ended(): Promise<Ending> {
    if (this.#ended === null) throw new Error(`${this.name} was never started`)
    return this.#ended
  }

  /** SIGTERM; answers what is wrong with how it ended, or null. */
  async stop(withinMs: number): Promise<string | null> {
    if (!this.running) {
      const { code, signal } = await this.ended()
      return this.#endedOnPurpose ? null : `${this.name} ended by itself (${signal ?? `exit code ${code}`})`
    }
    this.#child?.kill('SIGCONT')
    this.#child?.kill('SIGTERM')
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), withinMs)
    const { code, signal } = await this.ended()
    clearTimeout(timer)
    if (code === 0) return null
    return signal === 'SIGKILL'
      ? `${this.name} did not end within ${withinMs} ms of SIGTERM`
      : `${this.name} ended with ${signal ?? `exit code ${code}`} on SIGTERM`
  }

  /** The first line, of those written and those to come, that satisfies the condition. Rejects when the process ends without one. */
  async line(wanted: (line: LogLine) => boolean): Promise<LogLine> {
    const written = this.#lines.find(wanted)
    if (written !== undefined) return written
    return new Promise((resolve, reject) => {
      const watch = (line: LogLine) => {
        if (!wanted(line)) return
        this.#watchers.delete(watch)
        resolve(line)
      }
      this.#watchers.add(watch)
      this.ended().then(({ code, signal }) => {
        this.#watchers.delete(watch)
        reject(new Error(`${this.name} ended (${signal ?? code}) without that line:\n${this.output()}`))
      })
    })
  }

  /** Lines that a healthy run never has, apart from those allowed. */
  trouble(allowed: readonly RegExp[]): readonly LogLine[] {
    return this.#lines.filter((line) => isTrouble(line) && !allowed.some((pattern) => pattern.test(line.raw)))
  }

  output(): string {
    return this.#lines.map(({ raw }) => raw).join('\n')
  }

  #take(line: LogLine): void {
    this.#lines.push(line)
    for (const watch of this.#watchers) watch(line)
  }
}
