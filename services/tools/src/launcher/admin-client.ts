/** Scans of demo data take a second or two; everything else answers at once. */
const ANSWER_WITHIN_MS = 120_000

/** What the control plane answered that was not expected: the message names the call and carries the answer's own words. */
export class AdminCallFailed extends Error {
  override name = 'AdminCallFailed'
  readonly status: number

  constructor(call: string, status: number, words: string) {
    super(`${call} answered ${status}: ${words}`)
    this.status = status
  }
}

/** The admin interface of the control plane, as any script would use it. Throws AdminCallFailed for an answer other than 2xx. */
export interface AdminClient {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
}

/** @param baseUrl where the control plane listens, without a trailing slash */
export function adminClient(baseUrl: string, adminToken: string): AdminClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${baseUrl}/api/v1/admin${path}`, {
      method,
      headers: {
        authorization: `Bearer ${adminToken}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    const text = await answer.text()
    if (!answer.ok) throw new AdminCallFailed(`${method} ${path}`, answer.status, text)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  return { get: (path) => call('GET', path), post: (path, body) => call('POST', path, body) }
}
