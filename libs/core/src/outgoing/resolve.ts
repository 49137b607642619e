import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { KillableChild } from '../processes/killable-child.js'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Resolves all addresses of a host, in the order of preference. Rejects like `dns.lookup`. An address resolves to itself. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

export type LookUpAnswer =
  | { readonly host: string; readonly addresses: readonly ResolvedAddress[] }
  | { readonly host: string; readonly error: { readonly code?: string; readonly message: string } }

/** The built file, used both by the sources (in tests) and by the build. */
const MODULE = new URL('../../dist/outgoing/look-up-process.js', import.meta.url)

/** libuv gives look-ups half of its threads, so 256 names may hang. */
const THREADS = '512'
const IDLE_MS = 60_000

// Variables that the C library reads to resolve names. No other variable is passed on, since the environment holds secrets.
// biome-ignore lint/style/noProcessEnv: handed on, not read
const { RES_OPTIONS, LOCALDOMAIN, HOSTALIASES } = process.env
const ENVIRONMENT = { RES_OPTIONS, LOCALDOMAIN, HOSTALIASES, UV_THREADPOOL_SIZE: THREADS }

interface Pending {
  readonly answer: Promise<readonly ResolvedAddress[]>
  readonly settle: (answer: readonly ResolvedAddress[] | Promise<readonly ResolvedAddress[]>) => void
}

/**
 * Resolves names as the system does (getaddrinfo: hosts file, search domains, additions of nsswitch.conf), in a separate process with many
 * threads. A look-up that hangs cannot be aborted, and two of them would delay all others of this process (docs/adr/0006). The process
 * starts with the first name and ends after a minute without one.
 */
export class LookUps {
  readonly #pending = new Map<string, Pending>()
  #child: KillableChild<LookUpAnswer> | null = null
  #idle: NodeJS.Timeout | null = null

  /** Rejects like `dns.lookup`. Concurrent look-ups of one name share a result. */
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

  /** Ends the process, if it runs. Pending names are then resolved in this process. */
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
    // Pending names must not keep this process alive.
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

  /** If the child or so many threads cannot be started, names are resolved in this process. */
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
