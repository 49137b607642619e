import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { CodedError } from '@gateway/contracts/messages.js'
import { KillableChild } from './killable-child.js'
import type { HelperMessage } from './serve.js'

/** The process ended during a task, possibly because of it. */
export class HelperEnded extends Error {
  override readonly name = 'HelperEnded'
}

const ignore = () => {}

interface Asked<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
  readonly onProgress: OnProgress
}

type OnProgress = (steps: number, at: string | null) => void

interface Running<Answer> {
  readonly child: KillableChild<HelperMessage<Answer>>
  /** resolves when the process has started, or failed to start */
  readonly started: Promise<void>
  asked: Asked<Answer> | null
}

export interface HelperOptions {
  /** true if its tasks write to the standard output */
  readonly writes?: boolean
  /** see `ChildOptions` */
  readonly memoryMb?: number
}

/**
 * A child process for file-system calls that take processor time or may never return. It runs one task at a time. It starts with the first
 * task, and again after it was killed.
 */
export class HelperProcess<Task extends object, Answer> {
  readonly #module: URL
  readonly #options: HelperOptions
  #running: Running<Answer> | null = null

  /** @param module the built file that calls `serve`, even when the sources run (in tests) */
  constructor(module: URL, options: HelperOptions = {}) {
    this.#module = module
    this.#options = options
  }

  /**
   * Runs a task. When the signal aborts, rejects at once with its reason and kills the process. Also rejects if the task throws or the process
   * ends.
   * @param onProgress called while the task makes progress, with the number of its steps and the name of the last one (see `Progress`)
   */
  async ask(task: Task, signal: AbortSignal, onProgress: OnProgress = ignore): Promise<Answer> {
    signal.throwIfAborted()
    const running = this.#start()
    const settled = new AbortController()
    try {
      return await new Promise<Answer>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
        running.asked = { resolve, reject, onProgress }
        // Only a process that ends breaks its channel. Its end rejects the task, with the reason.
        running.child.send(task, () => running.child.kill())
      })
    } catch (error) {
      if (signal.aborted) this.end()
      throw error
    } finally {
      running.asked = null
      settled.abort()
    }
  }

  /** Returns the standard output of the process, in order with the results. Only for a helper that was created with `writes`. */
  output(): Readable {
    return this.#start().child.process.stdout as Readable
  }

  /** Like `ask`, but returns null after `limitMs`. The limit excludes the start of the process, which takes seconds on a busy machine. */
  async askWithin(task: Task, limitMs: number, signal: AbortSignal): Promise<Answer | null> {
    await this.started(signal)
    const late = AbortSignal.timeout(limitMs)
    try {
      return await this.ask(task, AbortSignal.any([signal, late]))
    } catch (error) {
      if (late.aborted && !signal.aborted) return null
      throw error
    }
  }

  /** Resolves when the process has started, or has failed to start. Rejects with the reason of the signal. */
  async started(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const settled = new AbortController()
    const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => signal.throwIfAborted(), ignore)
    await Promise.race([this.#start().started, aborted]).finally(() => settled.abort())
  }

  /** The process, if it runs. */
  get pid(): number | null {
    return this.#running === null || this.#running.child.hasEnded ? null : this.#running.child.pid
  }

  /** Kills the process, if it runs, without waiting for its end. */
  end(): void {
    this.#running?.child.kill()
    this.#running = null
  }

  #start(): Running<Answer> {
    if (this.#running !== null && !this.#running.child.hasEnded) return this.#running
    let start = ignore
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const child = new KillableChild<HelperMessage<Answer>>(
      {
        module: this.#module,
        stdio: ['ignore', this.#options.writes === true ? 'pipe' : 'ignore', 'inherit', 'ipc'],
        ...(this.#options.memoryMb === undefined ? {} : { memoryMb: this.#options.memoryMb }),
      },
      {
        message: (message) => {
          if ('started' in message) start()
          else settle(running.asked, message)
        },
        ended: (how) => {
          start()
          running.asked?.reject(new HelperEnded(`the helper ended with ${how}`))
        },
      },
    )
    const running: Running<Answer> = { child, started, asked: null }
    this.#running = running
    return running
  }
}

function settle<Answer>(asked: Asked<Answer> | null, message: Exclude<HelperMessage<Answer>, { started: true }>): void {
  if ('progress' in message) asked?.onProgress(message.progress, message.at)
  else if ('answer' in message) asked?.resolve(message.answer)
  else asked?.reject(message.said === null ? new Error(message.error) : new CodedError(message.said))
}
