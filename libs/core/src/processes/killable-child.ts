import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleOf } from './bundle-of.js'
import { dieWithParent, memoryLimit } from './confinement.js'
import { Heartbeat, runQueueWaitMs } from './heartbeat.js'

export interface ChildOptions {
  /** the built file, even when the sources run (in tests) */
  readonly module: URL
  /** options for Node itself, in front of the file */
  readonly nodeOptions?: readonly string[]
  /** empty by default: most children need nothing from the environment, and it holds secrets */
  readonly env?: NodeJS.ProcessEnv
  /** by default a channel for messages, and the stderr of this process */
  readonly stdio?: StdioOptions
  /** signal that ends the child with this process, if the kernel supports it; null: only the closed channel ends it */
  readonly endsWithParent?: 'KILL' | 'TERM' | null
  /** words in front of the command, instead of those that end it with its parent */
  readonly prefix?: readonly string[]
  /** true to make it the leader of a new process group */
  readonly detached?: boolean
  /** limit of its memory in MB, including the 80 MB that Node needs; half of it for objects of JavaScript. A process that needs more ends. */
  readonly memoryMb?: number
}

export interface ChildEvents<Message> {
  message?(message: Message): void
  /** called once, after the last message and all output */
  ended(how: string, code: number | null): void
  /** if present, the child is watched: it sends beats (heartbeat.ts), and this is called if its event loop does not turn */
  silent?(): void
}

/**
 * A Node process that may be killed. Every child process of this system that runs our own code is one. This class does not restart it: `RESTARTS` in
 * the supervisor and the launcher, `RETRY_SECONDS` of vector builds, and the next task of a `HelperProcess` or `HelperPool` do. Threads, and so thread pools such as
 * piscina's, do not fit: a call that blocks in the kernel (a silent disk, a resolver) or in SQLite cannot be aborted, and a process with a
 * blocked thread cannot exit.
 */
export class KillableChild<Message = unknown> {
  /** in the time of `performance.now()` */
  readonly startedAtMs = performance.now()
  readonly process: ChildProcess
  readonly #heartbeat: Heartbeat | null
  #hasEnded = false

  constructor(options: ChildOptions, events: ChildEvents<Message>) {
    const { endsWithParent = 'KILL', env = {}, detached = false, memoryMb } = options
    const heap = memoryMb === undefined ? [] : [`--max-old-space-size=${Math.floor(memoryMb / 2)}`]
    const nodeOptions = [...heap, ...(options.nodeOptions ?? [])]
    const { stdio = ['ignore', 'ignore', 'inherit', 'ipc'] } = options
    const prefix = [
      ...(memoryMb === undefined ? [] : memoryLimit(memoryMb)),
      ...(options.prefix ?? (endsWithParent === null ? [] : dieWithParent(endsWithParent))),
    ]
    const [command = '', ...args] = [
      ...prefix,
      process.execPath,
      ...nodeOptions,
      bundleOf(fileURLToPath(options.module)),
    ]
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

  /** Sends a message. Does nothing if the child has ended. @param failed called if the message cannot be sent */
  send(message: object | string, failed: (error: Error) => void = () => {}): void {
    if (!this.#hasEnded && this.process.connected) this.process.send(message, (error) => error && failed(error))
  }

  /** Lets this process exit while the child runs. */
  unref(): void {
    this.process.unref()
    this.process.channel?.unref()
  }

  /** Kills the child without waiting for its end: a child that is blocked in the kernel ends when the kernel returns. */
  kill(): void {
    this.process.kill('SIGKILL')
    this.unref()
  }
}
