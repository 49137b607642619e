import { clipped, type Log } from './log.js'

/** One response in the access log. Absent values are omitted from the line. */
export interface AccessLine {
  readonly kind: string
  readonly method: string
  readonly path: string
  /** without credentials; '' if absent */
  readonly query: string
  readonly status: number
  /** announced size of the body; null if it was unknown when the response began */
  readonly bytes: number | null
  /** milliseconds to the first byte of the response */
  readonly ms: number
  /** prefix of the service token */
  readonly token: string
  readonly client: string
  readonly userAgent: string
  readonly referer: string
  readonly traceId: string
  readonly requestId: string
}

/** Parameters that authorize their bearer. */
const CREDENTIALS: ReadonlySet<string> = new Set(['token', 'access_token', 'tk', 'sig'])

/** Writes one line for one in `every` responses, independent of LOG_LEVEL. */
export class AccessLog {
  readonly #log: Log
  readonly every: number
  #left: number

  constructor(log: Log, every: number) {
    this.#log = log.child({}, { level: 'info' })
    this.every = every
    this.#left = every
  }

  /** True if the next response gets a line. */
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

/** Returns a raw query without credentials, in any spelling of their names. */
export function queryWithoutCredentials(query: string): string {
  if (query === '') return ''
  const kept = [...new URLSearchParams(query)].filter(([name]) => !CREDENTIALS.has(name.toLowerCase()))
  return new URLSearchParams(kept).toString()
}

/** Returns the URL of a page without its query, which may hold credentials. */
export function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '')
}
