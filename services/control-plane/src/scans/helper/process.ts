import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { HelperMessage } from './serve.js'

/** What every task is handed that asks for no signs of life. */
const NOTHING = () => {}

/**
 * A process of its own for calls into file systems, which take a processor's time or may never return: a network mount that is gone
 * holds whoever looks at it, threads included, and a process with such a thread cannot even end. This one can be killed.
 * One task at a time. It starts with the first, and starts again after it was killed.
 */
export class HelperProcess<Task extends object, Answer> {
  readonly #module: string
  #child: ChildProcess | null = null

  /** @param module the built file that calls `serve`: the same for the sources (in tests) as for the build */
  constructor(module: URL) {
    this.#module = fileURLToPath(module)
  }

  /**
   * Rejects with the signal's reason once that is aborted, whatever the process does, and kills it. Rejects too where the task throws, or
   * the process dies.
   * @param onProgress called at most once a second while the task gets on
   */
  async ask(task: Task, signal: AbortSignal, onProgress: () => void = NOTHING): Promise<Answer> {
    signal.throwIfAborted()
    const child = this.#running()
    const settled = new AbortController()
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const options = { signal: settled.signal }
        signal.addEventListener('abort', () => reject(signal.reason), options)
        once(child, 'exit', options).then(
          ([code, by]) => reject(new Error(`the helper ended with ${by ?? code}`)),
          NOTHING,
        )
        once(child, 'error', options).then(([error]) => reject(error), NOTHING)
        child.removeAllListeners('message').on('message', (message: HelperMessage<Answer>) => {
          if ('progress' in message) onProgress()
          else if ('answer' in message) resolve(message.answer)
          else reject(new Error(message.error))
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

  /** Ends the process, if there is one, without waiting for it. */
  end(): void {
    const child = this.#child
    this.#child = null
    if (child === null) return
    child.kill('SIGKILL')
    // One that hangs in the kernel is gone when the kernel lets it go; nobody waits for that.
    if (child.connected) child.disconnect()
    child.unref()
  }

  #running(): ChildProcess {
    if (this.#child?.connected) return this.#child
    // It needs nothing from the environment, and the environment holds secrets.
    const child = fork(this.#module, [], {
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('error', NOTHING)
    this.#child = child
    return child
  }
}
