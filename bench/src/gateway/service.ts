import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dieWithParent } from '@gateway/core/processes/confinement.js'
import { onCore } from '../machine.js'

/** Timeout for a start on a busy machine. */
const READY_WITHIN_MS = 60_000
const STOP_WITHIN_MS = 20_000
const LOOK_AGAIN_MS = 20
/** Length of the kept output, whose end shows why a process ended. */
const KEPT_OUTPUT = 4_000

export interface ServiceCommand {
  readonly name: string
  readonly command: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly core: number | undefined
}

/** A server under measurement. It always ends with this process. */
export class Service {
  readonly name: string
  readonly #child: ChildProcess
  #output = ''

  constructor({ name, command, env, cwd, core }: ServiceCommand) {
    this.name = name
    const [program = '', ...args] = [...dieWithParent('KILL'), ...onCore(core), ...command]
    this.#child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + chunk).slice(-KEPT_OUTPUT)
      })
    }
    this.#child.on('error', (error) => {
      this.#output += error.message
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  get output(): string {
    return this.#output
  }

  get ended(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Polls until `ready` returns true. Ends the process and rejects on a timeout, or if the process ends by itself. */
  async until(ready: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + READY_WITHIN_MS
    while (!(await ready())) {
      if (this.ended) throw new Error(`${this.name} ended at its start: ${this.#output}`)
      if (Date.now() > deadline) {
        await this.stop()
        throw new Error(`${this.name} does not come to serve: ${this.#output}`)
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }

  async stop(): Promise<void> {
    if (this.ended) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS)
    await exited
    clearTimeout(timer)
  }
}

/** True if this URL currently returns the status. */
export async function answers(url: string, status: number, headers: Record<string, string> = {}): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(2_000) })
    await answer.arrayBuffer()
    return answer.status === status
  } catch {
    return false
  }
}
