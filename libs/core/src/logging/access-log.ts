import { clipped, type Log } from './log.js'

/** One answer, as the access log tells it. Absent values are left out of the line. */
export interface AccessLine {
  readonly kind: string
  readonly method: string
  readonly path: string
  /** without credentials; '' where there is none */
  readonly query: string
  readonly status: number
  /** of the body, as announced; null: not known when the answer began */
  readonly bytes: number | null
  /** milliseconds to the first byte of the answer */
  readonly ms: number
  /** the prefix of the service token */
  readonly token: string
  readonly client: string
  readonly userAgent: string
  readonly referer: string
  readonly traceId: string
  readonly requestId: string
}

/** Parameters that let their bearer in. */
const CREDENTIALS: ReadonlySet<string> = new Set(['token', 'access_token', 'tk', 'sig'])

/** One line for one answer in `every`, whatever LOG_LEVEL says. */
export class AccessLog {
  readonly #log: Log
  readonly every: number
  #left: number

  constructor(log: Log, every: number) {
    this.#log = log.child({}, { level: 'info' })
    this.every = every
    this.#left = every
  }

  /** Whether it is the turn of a line. */
  takes(): boolean {
    if (--this.#left > 0) return false
    this.#left = this.every
    return true
  }

  write(line: AccessLine): void {
    const { bytes, ms } = line
    this.#log.info(
      {
        kind: line.kind,
        method: line.method,
        path: clipped(line.path),
        query: clipped(line.query) || undefined,
        status: line.status,
        bytes: bytes ?? undefined,
        ms: Math.round(ms * 1000) / 1000,
        token_prefix: line.token || undefined,
        client: line.client || undefined,
        user_agent: clipped(line.userAgent) || undefined,
        referer: clipped(line.referer) || undefined,
        trace_id: line.traceId || undefined,
        request_id: clipped(line.requestId) || undefined,
      },
      'access',
    )
  }
}

/** A raw query without what lets its bearer in, under whatever spelling of its name. */
export function queryWithoutCredentials(query: string): string {
  if (query === '') return ''
  const kept = [...new URLSearchParams(query)].filter(([name]) => !CREDENTIALS.has(name.toLowerCase()))
  return new URLSearchParams(kept).toString()
}

/** The address of a page without its query, which may hold credentials. */
export function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '')
}
