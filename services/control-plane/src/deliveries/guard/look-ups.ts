import { type ChildProcess, fork } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { fileURLToPath } from 'node:url'
import type { ResolvedAddress } from './resolve.js'

export interface LookUpQuestion {
  readonly host: string
}

export type LookUpAnswer =
  | { readonly host: string; readonly addresses: readonly ResolvedAddress[] }
  | { readonly host: string; readonly code: string; readonly message: string }

/** The built file: the same for the sources (in tests) as for the build. */
const MODULE = fileURLToPath(new URL('../../../dist/deliveries/guard/look-up-process.js', import.meta.url))

/**
 * libuv gives name look-ups half of its threads, and one that hangs cannot be called off: with the usual four threads, two names whose
 * servers are silent hold up every other look-up for ten seconds and more. With as many as this, 256 names may hang.
 */
const THREADS = 512

/** What the C library reads when it resolves names. Nothing else is handed on: the environment holds secrets. */
const RESOLVER_VARIABLES = ['RES_OPTIONS', 'LOCALDOMAIN', 'HOSTALIASES']

const IDLE_MS = 60_000

interface Pending {
  readonly answer: Promise<readonly ResolvedAddress[]>
  readonly resolve: (addresses: readonly ResolvedAddress[]) => void
  readonly reject: (error: Error) => void
}

/**
 * Resolves names as the system does (getaddrinfo: hosts file, search domains, whatever nsswitch.conf adds), in a process of its own with
 * many threads, so that names which hang hold up neither other names, nor the file system, nor the end of this process. It starts with the
 * first name and ends after a minute without one.
 */
export class LookUps {
  readonly #pending = new Map<string, Pending>()
  #child: ChildProcess | null = null
  #idle: NodeJS.Timeout | null = null

  /** Rejects as `dns.lookup` does. Who asks for a name that is being resolved already gets the same answer. */
  resolve(host: string): Promise<readonly ResolvedAddress[]> {
    const known = this.#pending.get(host)
    if (known !== undefined) return known.answer
    const pending = newPending()
    this.#pending.set(host, pending)
    const child = this.#running()
    const question: LookUpQuestion = { host }
    child.send(question, (error) => {
      if (error !== null) this.#gone(child)
    })
    return pending.answer
  }

  /** Ends the process, if there is one; what is pending is resolved in this one. */
  end(): void {
    const child = this.#child
    if (child === null) return
    this.#gone(child)
    child.kill('SIGKILL')
  }

  #running(): ChildProcess {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    if (this.#child !== null) return this.#child
    const child = fork(MODULE, [], {
      env: { ...resolverEnvironment(), UV_THREADPOOL_SIZE: String(THREADS) },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', (answer) => this.#settle(answer as LookUpAnswer))
    child.once('error', () => this.#gone(child)).once('exit', () => this.#gone(child))
    // Nobody waits for names alone.
    child.unref()
    child.channel?.unref()
    this.#child = child
    return child
  }

  #settle(answer: LookUpAnswer): void {
    const pending = this.#pending.get(answer.host)
    this.#pending.delete(answer.host)
    if ('addresses' in answer) pending?.resolve(answer.addresses)
    else pending?.reject(Object.assign(new Error(answer.message), { code: answer.code }))
    if (this.#pending.size === 0) this.#idle = setTimeout(() => this.end(), IDLE_MS).unref()
  }

  /** Where no process or not so many threads can be had, names are resolved here, as well as that goes. */
  #gone(child: ChildProcess): void {
    if (this.#child !== child) return
    this.#child = null
    for (const [host, { resolve, reject }] of this.#pending) lookup(host, LOOK_UP).then(resolve, reject)
    this.#pending.clear()
  }
}

const LOOK_UP = { all: true, order: 'verbatim' } as const

function newPending(): Pending {
  let resolve: Pending['resolve'] = () => {}
  let reject: Pending['reject'] = () => {}
  const answer = new Promise<readonly ResolvedAddress[]>((...both) => {
    ;[resolve, reject] = both
  })
  return { answer, resolve, reject }
}

function resolverEnvironment(): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of RESOLVER_VARIABLES) {
    // biome-ignore lint/style/noProcessEnv: handed on as it is, not read
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return env
}
