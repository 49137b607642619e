import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { KillableChild } from '../processes/killable-child.js'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** All addresses of a host, in the order of preference; rejects as `dns.lookup` does. An address is its own resolution. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

export type LookUpAnswer =
  | { readonly host: string; readonly addresses: readonly ResolvedAddress[] }
  | { readonly host: string; readonly error: { readonly code?: string; readonly message: string } }

/** The built file: the same for the sources (in tests) as for the build. */
const MODULE = new URL('../../dist/outgoing/look-up-process.js', import.meta.url)

/** libuv gives look-ups half of its threads: with these, 256 names may hang. */
const THREADS = '512'
const IDLE_MS = 60_000

// What the C library reads when it resolves names. Nothing else is handed on: the environment holds secrets.
// biome-ignore lint/style/noProcessEnv: handed on, not read
const { RES_OPTIONS, LOCALDOMAIN, HOSTALIASES } = process.env
const ENVIRONMENT = { RES_OPTIONS, LOCALDOMAIN, HOSTALIASES, UV_THREADPOOL_SIZE: THREADS }

interface Pending {
  readonly answer: Promise<readonly ResolvedAddress[]>
  readonly settle: (answer: readonly ResolvedAddress[] | Promise<readonly ResolvedAddress[]>) => void
}

/**
 * Resolves names as the system does (getaddrinfo: hosts file, search domains, whatever nsswitch.conf adds), in a process of its own with
 * many threads: a look-up that hangs cannot be aborted, and two of them would hold up all others of this process (docs/adr/0006). The process
 * starts with the first name and ends after a minute without one.
 */
export class LookUps {
  readonly #pending = new Map<string, Pending>()
  #child: KillableChild<LookUpAnswer> | null = null
  #idle: NodeJS.Timeout | null = null

  /** Rejects as `dns.lookup` does. Concurrent look-ups of one name share an answer. */
  resolve(host: string): Promise<readonly ResolvedAddress[]> {
    const known = this.#pending.get(host)
    if (known !== undefined) return known.answer
    let settle: Pending['settle'] = () => {}
    const answer = new Promise<readonly ResolvedAddress[]>((resolve) => {
      settle = resolve
    })
    this.#pending.set(host, { answer, settle })
    const child = this.#running()
    child.send(host, () => this.#gone(child))
    return answer
  }

  /** Ends the process, if there is one; what is pending is resolved in this one. */
  end(): void {
    const child = this.#child
    if (child === null) return
    this.#gone(child)
    child.kill()
  }

  #running(): KillableChild<LookUpAnswer> {
    if (this.#idle !== null) clearTimeout(this.#idle)
    if (this.#child !== null) return this.#child
    const child: KillableChild<LookUpAnswer> = new KillableChild<LookUpAnswer>(
      { module: MODULE, env: ENVIRONMENT, endsWithParent: null },
      { message: (answer) => this.#settle(answer), ended: () => this.#gone(child) },
    )
    // Pending names keep no process alive.
    child.unref()
    this.#child = child
    return child
  }

  #settle(answer: LookUpAnswer): void {
    const pending = this.#pending.get(answer.host)
    this.#pending.delete(answer.host)
    if ('addresses' in answer) pending?.settle(answer.addresses)
    else pending?.settle(Promise.reject(Object.assign(new Error(answer.error.message), { code: answer.error.code })))
    if (this.#pending.size === 0) this.#idle = setTimeout(() => this.end(), IDLE_MS).unref()
  }

  /** If no process or not so many threads can be had, names are resolved in this process. */
  #gone(child: KillableChild<LookUpAnswer>): void {
    if (this.#child !== child) return
    this.#child = null
    for (const [host, { settle }] of this.#pending) settle(lookup(host, { all: true, order: 'verbatim' }))
    this.#pending.clear()
  }
}

const lookUps = new LookUps()

export const resolveHost: Resolve = async (host) => {
  const family = isIP(host)
  return family === 0 ? lookUps.resolve(host) : [{ address: host, family }]
}
