import type { Scan, ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'

/** A complete response. */
export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export interface AdminCall {
  readonly method?: string
  /** sent as JSON */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The admin interface with the Bearer credential of the gateway under test; refusals are returned, not thrown. */
export class Admin {
  readonly #baseUrl: string
  readonly #token: string
  readonly #afterScan: () => Promise<void>

  /** @param afterScan waits until all processes know the result of a scan */
  constructor(baseUrl: string, token: string, afterScan: () => Promise<void> = async () => {}) {
    this.#baseUrl = baseUrl
    this.#token = token
    this.#afterScan = afterScan
  }

  /** @param path after `/api/v1/admin` */
  async call<T = unknown>(path: string, { method, body, headers }: AdminCall = {}): Promise<Answer<T>> {
    const answer = await fetch(`${this.#baseUrl}/api/v1/admin${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: (text === '' ? null : JSON.parse(text)) as T }
  }

  /** Throws unless the response has a 2xx status. */
  async expect<T>(path: string, call: AdminCall = {}): Promise<T> {
    const { status, body } = await this.call<T>(path, call)
    if (status < 200 || status > 299)
      throw new Error(`${call.method ?? ''} ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  /** Issues a token, with a generated name by default. */
  issueToken(body: Partial<TokenBody> = {}): Promise<IssuedToken> {
    return this.expect<IssuedToken>('/tokens', { body: { name: 'test', ...body } })
  }

  /** Registers a directory as a scan source and scans it; returns the result once every edge has applied it. Throws if the scan failed. */
  async scanSource(code: string, kind: SourceKind, path: string): Promise<Scan> {
    await this.expect('/scan-sources', { body: { code, kind, path } })
    return this.rescan(code)
  }

  async rescan(code: string): Promise<Scan> {
    const deadline = Date.now() + SCAN_WITHIN_MS
    for (;;) {
      const started = await this.call(`/scan-sources/${code}/run`, { method: 'POST' })
      if (started.status < 300) break
      if (started.status !== 409) throw new Error(`the scan of ${code} was refused: ${JSON.stringify(started.body)}`)
      await nextLook(deadline, `another scan keeps ${code} from being scanned`)
    }
    for (;;) {
      const { items } = await this.expect<{ items: readonly ScanSource[] }>('/scan-sources')
      const last = items.find((source) => source.code === code)?.last_scan
      if (last?.status === 'succeeded') {
        await this.#afterScan()
        return last
      }
      if (last?.status === 'failed') throw new Error(`the scan of ${code} failed: ${last.message}`)
      await nextLook(deadline, `the scan of ${code} does not end: ${JSON.stringify(last)}`)
    }
  }
}

/** Timeout of a scan that hangs, below the time limits of hooks and tests. */
const SCAN_WITHIN_MS = 120_000

/** Pause between two requests for the state of a scan, each of which takes some milliseconds of the processor that the scan needs. */
const LOOK_AGAIN_MS = 50

/** Waits between two polls of a state for which the interface has no event. */
function nextLook(deadline: number, complaint: string): Promise<void> {
  if (Date.now() > deadline) throw new Error(complaint)
  return new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
}
