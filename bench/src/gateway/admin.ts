import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { IssuedToken, TokenBody } from '@gateway/contracts/token.js'

const SCAN_WITHIN_MS = 120_000
const LOOK_AGAIN_MS = 50
/** Maximum number of concurrent calls when many tokens are issued: more would only queue. */
const AT_ONCE = 16

/** The admin interface of a gateway. Every call throws unless the response has a 2xx status. */
export class AdminClient {
  readonly #base: string
  readonly #credential: string

  constructor(url: string, adminToken: string) {
    this.#base = `${url}/api/v1/admin`
    this.#credential = `Bearer ${adminToken}`
  }

  /** Sends GET, or POST if there is a body. */
  async call<T>(path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.#base}${path}`, {
      headers: { authorization: this.#credential, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as T
  }

  issueToken(body: Partial<TokenBody> = {}): Promise<IssuedToken> {
    return this.call('/tokens', { name: 'bench', basemap_codes: ['*'], vector_codes: ['*'], ...body })
  }

  async issueTokens(count: number): Promise<IssuedToken[]> {
    const issued: IssuedToken[] = []
    while (issued.length < count) {
      const some = Math.min(AT_ONCE, count - issued.length)
      issued.push(...(await Promise.all(Array.from({ length: some }, () => this.issueToken()))))
    }
    return issued
  }

  disableToken(id: string): Promise<DisabledToken> {
    return this.call(`/tokens/${id}/disable`, {})
  }

  /** Registers a directory and resolves when it has been scanned. */
  scan(code: string, kind: SourceKind, path: string): Promise<void> {
    return this.scanSource({ code, kind, path })
  }

  /** Registers a scan source of any kind and resolves when it has been scanned. */
  async scanSource(source: {
    readonly code: string
    readonly kind: SourceKind
    readonly [field: string]: unknown
  }): Promise<void> {
    const { code } = source
    await this.call('/scan-sources', source)
    const deadline = Date.now() + SCAN_WITHIN_MS
    while (!(await this.#scanned(code))) {
      if (Date.now() > deadline) throw new Error(`the scan of ${code} does not end`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }

  #begun = new Set<string>()

  async #scanned(code: string): Promise<boolean> {
    if (!this.#begun.has(code)) {
      // Refused with 409 as long as another scan runs, such as the first one after a start.
      await this.call(`/scan-sources/${code}/run`, {}).then(
        () => this.#begun.add(code),
        (error: Error) => {
          if (!error.message.includes('answered 409')) throw error
        },
      )
      return false
    }
    const { items } = await this.call<{ items: readonly ScanSource[] }>('/scan-sources')
    const last = items.find((source) => source.code === code)?.last_scan
    if (last?.status === 'failed') throw new Error(`the scan of ${code} failed: ${last.message}`)
    return last?.status === 'succeeded'
  }
}
