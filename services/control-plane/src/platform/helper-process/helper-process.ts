import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { CodedError } from '@gateway/contracts/messages.js'
import { dieWithParent } from '@gateway/core/processes/die-with-parent.js'
import type { HelperMessage } from './serve.js'

/** The process ended during a task, possibly because of it. */
export class HelperEnded extends Error {
  override readonly name = 'HelperEnded'
}

const ignore = () => {}

/**
 * A child process for file-system calls that take processor time or may never return: an unreachable network mount blocks the calling
 * thread, and a process with a blocked thread cannot exit. This one can be killed. It runs one task at a time, starts with the first one,
 * and starts again after it was killed.
 */
export class HelperProcess<Task extends object, Answer> {
  readonly #module: string
  readonly #writes: boolean
  #child: ChildProcess | null = null
  #starting: Promise<unknown> = Promise.resolve()

  /**
   * @param module the built file that calls `serve`, also when the sources are run (in tests)
   * @param writes whether its tasks write to the standard output
   */
  constructor(module: URL, writes = false) {
    this.#writes = writes
    this.#module = fileURLToPath(module)
  }

  /**
   * Rejects with the signal's reason as soon as that is aborted, and kills the process. Rejects too when the task throws or the process
   * ends.
   * @param onProgress called at most once a second while the task makes progress, with the steps that it has made
   */
  async ask(task: Task, signal: AbortSignal, onProgress: (steps: number) => void = ignore): Promise<Answer> {
    signal.throwIfAborted()
    const child = this.#running()
    const settled = new AbortController()
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const options = { signal: settled.signal }
        signal.addEventListener('abort', () => reject(signal.reason), options)
        once(child, 'exit', options).then(
          ([code, by]) => reject(new HelperEnded(`the helper ended with ${by ?? code}`)),
          ignore,
        )
        once(child, 'error', options).then(([error]) => reject(error), ignore)
        child.removeAllListeners('message').on('message', (message: HelperMessage<Answer>) => {
          if ('started' in message) return
          if ('progress' in message) onProgress(message.progress)
          else if ('answer' in message) resolve(message.answer)
          else reject(message.said === null ? new Error(message.error) : new CodedError(message.said))
        })
        child.send(task, (error) => error !== null && reject(error))
      })
    } catch (error) {
      if (signal.aborted) this.end()
      throw error
    } finally {
      settled.abort()
    }
  }

  /** What the process writes to its standard output, in its turn with the answers. Only of a helper that was made with `writes`. */
  output(): Readable {
    return this.#running().stdout as Readable
  }

  /** As `ask`; null: no answer within `limitMs`, not counting the start of the process. */
  async askWithin(task: Task, limitMs: number, signal: AbortSignal): Promise<Answer | null> {
    await this.#started(signal)
    const late = AbortSignal.timeout(limitMs)
    try {
      return await this.ask(task, AbortSignal.any([signal, late]))
    } catch (error) {
      if (late.aborted && !signal.aborted) return null
      throw error
    }
  }

  /** Kills the process, if there is one, without waiting for its end. */
  end(): void {
    const child = this.#child
    this.#child = null
    if (child === null) return
    child.kill('SIGKILL')
    // One that is blocked in the kernel ends when the kernel returns.
    if (child.connected) child.disconnect()
    child.unref()
  }

  /** Resolves when the process has started or failed to, which takes seconds on a busy machine. Rejects with the signal's reason. */
  async #started(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.#running()
    const settled = new AbortController()
    const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => signal.throwIfAborted(), ignore)
    try {
      await Promise.race([this.#starting, aborted])
    } finally {
      settled.abort()
    }
  }

  #running(): ChildProcess {
    if (this.#child?.connected) return this.#child
    // It needs nothing from the environment, and the environment holds secrets.
    const [execPath = '', ...execArgv] = [...dieWithParent('KILL'), process.execPath]
    const child = fork(this.#module, [], {
      env: {},
      execPath,
      execArgv,
      serialization: 'advanced',
      stdio: ['ignore', this.#writes ? 'pipe' : 'ignore', 'inherit', 'ipc'],
    })
    child.on('error', ignore)
    this.#starting = new Promise((resolve) => {
      for (const event of ['message', 'exit', 'error']) child.once(event, resolve)
    })
    this.#child = child
    return child
  }
}
