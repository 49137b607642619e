import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { dieWithParent } from '@gateway/core/processes/confinement.js'
import { isTrouble, type LogLine, parseLine } from './log-lines.js'
import { childrenOf } from './processes.js'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Ends processes together with a killed test run; see also the mark in `processes.ts`. */
const WITH_PARENT = dieWithParent('KILL')

/** A process of the gateway under test with its output. It can be ended and restarted with the same settings. */
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

  /** The output so far, over all starts. */
  get lines(): readonly LogLine[] {
    return this.#lines
  }

  /** The current ids of its child processes: an edge's workers. */
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

  /** Sends a signal; after a fatal signal `stop()` of the gateway expects the process to be gone. */
  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#endedOnPurpose = true
    this.#child?.kill(signal)
  }

  /** Sends SIGKILL and waits for the end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended()
  }

  /** Resolves with the exit once the process has ended and its output is complete. */
  ended(): Promise<Ending> {
    if (this.#ended === null) throw new Error(`${this.name} was never started`)
    return this.#ended
  }

  /** Sends SIGTERM; returns a problem with the exit, or null. */
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

  /** Returns the first past or future line that satisfies the condition. Rejects if the process ends without one. */
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

  /** Returns the lines that a healthy run never has, except for the allowed ones. */
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
