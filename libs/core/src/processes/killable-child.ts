import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { dieWithParent } from './die-with-parent.js'
import { Heartbeat } from './heartbeat.js'
import { runQueueWaitMs } from './run-queue.js'

export interface ChildOptions {
  /** the built file, also when the sources are run (in tests) */
  readonly module: URL
  /** words for Node itself, before the file */
  readonly nodeOptions?: readonly string[]
  /** by default nothing: most children need nothing of the environment, and it holds secrets */
  readonly env?: NodeJS.ProcessEnv
  /** by default a channel for messages, and errors as this process has them */
  readonly stdio?: StdioOptions
  /** the signal that ends it with this process, if the kernel can do so; null: only the closed channel ends it */
  readonly endsWithParent?: 'KILL' | 'TERM' | null
  /** words before the command instead of those that end it with its parent */
  readonly prefix?: readonly string[]
  /** the leader of a process group of its own */
  readonly detached?: boolean
}

export interface ChildEvents<Message> {
  message?(message: Message): void
  /** called once, after the last message and the last of its output */
  ended(how: string, code: number | null): void
  /** with it the child is watched: it beats (heartbeat.ts), and this is called when it does not turn its event loop */
  silent?(): void
}

/**
 * A Node process that may be killed: every child of this system that runs our own code. Threads, and so pools of them such as piscina's, do not fit.
 * A call that blocks in the kernel (a silent disk, a resolver) or in SQLite cannot be aborted, and a process with a blocked thread cannot exit.
 */
export class KillableChild<Message = unknown> {
  /** by `performance.now()` */
  readonly startedAtMs = performance.now()
  readonly process: ChildProcess
  readonly #heartbeat: Heartbeat | null
  #hasEnded = false

  constructor(options: ChildOptions, events: ChildEvents<Message>) {
    const { endsWithParent = 'KILL', nodeOptions = [], env = {}, detached = false } = options
    const { stdio = ['ignore', 'ignore', 'inherit', 'ipc'] } = options
    const prefix = options.prefix ?? (endsWithParent === null ? [] : dieWithParent(endsWithParent))
    const [command = '', ...args] = [...prefix, process.execPath, ...nodeOptions, fileURLToPath(options.module)]
    const child = spawn(command, args, { env, stdio, detached, serialization: 'advanced' })
    this.process = child
    const silent = events.silent?.bind(events)
    this.#heartbeat = silent ? new Heartbeat(silent, () => runQueueWaitMs(this.pid)) : null
    child.on('message', (message) => {
      this.#heartbeat?.heard()
      events.message?.(message as Message)
    })
    const end = (how: string, code: number | null) => {
      if (this.#hasEnded) return
      this.#hasEnded = true
      this.#heartbeat?.stop()
      events.ended(how, code)
    }
    child.on('error', (error) => {
      if (child.pid === undefined) end(error.message, null)
    })
    child.once('close', (code, signal) => end(signal ?? `exit code ${code}`, code))
  }

  get pid(): number {
    return this.process.pid ?? -1
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Does nothing when the child has ended. @param failed called when the message cannot be sent */
  send(message: object | string, failed: (error: Error) => void = () => {}): void {
    if (!this.#hasEnded && this.process.connected) this.process.send(message, (error) => error && failed(error))
  }

  /** Nothing that this process still has to do waits for the child. */
  unref(): void {
    this.process.unref()
    this.process.channel?.unref()
  }

  /** Kills it without waiting for its end: a child that is blocked in the kernel ends when the kernel returns. */
  kill(): void {
    this.process.kill('SIGKILL')
    this.unref()
  }
}
