import type { Scan, ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'

/** A whole answer, read to its end. */
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

/** The admin interface with the Bearer credential of the gateway under test; what is refused is answered, not thrown. */
export class Admin {
  readonly #baseUrl: string
  readonly #token: string

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl
    this.#token = token
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

  /** Throws unless the call was answered with 2xx. */
  async expect<T>(path: string, call: AdminCall = {}): Promise<T> {
    const { status, body } = await this.call<T>(path, call)
    if (status < 200 || status > 299)
      throw new Error(`${call.method ?? ''} ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }

  /** Issues a token; a name is made up where none is given. */
  issueToken(body: Partial<TokenBody> = {}): Promise<IssuedToken> {
    return this.expect<IssuedToken>('/tokens', { body: { name: 'test', ...body } })
  }

  /** Registers a directory as a scan source and scans it; answers what the scan found. Throws where it failed. */
  async scanSource(code: string, kind: SourceKind, path: string): Promise<Scan> {
    await this.expect('/scan-sources', { body: { code, kind, path } })
    return this.rescan(code)
  }

  async rescan(code: string): Promise<Scan> {
    while ((await this.call(`/scan-sources/${code}/run`, { method: 'POST' })).status === 409) await nextTurn()
    for (;;) {
      const { items } = await this.expect<{ items: readonly ScanSource[] }>('/scan-sources')
      const last = items.find((source) => source.code === code)?.last_scan
      if (last?.status === 'succeeded') return last
      if (last?.status === 'failed') throw new Error(`the scan of ${code} failed: ${last.message}`)
      await nextTurn()
    }
  }
}

/** Between two looks at something that the interface has no event for. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
