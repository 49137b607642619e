import type { Settings } from '@gateway/core/settings/load.js'

/** Time limit of a call. Scans of demo data take a second or two. */
const ANSWER_WITHIN_MS = 120_000

/** An unexpected response of the control plane. The message contains the call and the response's text. */
export class AdminCallFailed extends Error {
  override name = 'AdminCallFailed'
  readonly status: number

  constructor(call: string, status: number, words: string) {
    super(`${call} answered ${status}: ${words}`)
    this.status = status
  }
}

/** The admin API of the control plane, as scripts use it. Throws AdminCallFailed for a response other than 2xx. */
export interface AdminClient {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
}

/** Returns the Authorization header for scripts; null if neither ADMIN_TOKEN nor ADMIN_PASSWORD is set. */
export function adminAuthorization({
  adminUser,
  adminPassword,
  adminToken,
}: Pick<Settings, 'adminUser' | 'adminPassword' | 'adminToken'>): string | null {
  if (adminToken !== null) return `Bearer ${adminToken}`
  if (adminPassword === null) return null
  return `Basic ${Buffer.from(`${adminUser}:${adminPassword}`).toString('base64')}`
}

/** @param baseUrl URL of the control plane, without a trailing slash */
export function adminClient(baseUrl: string, authorization: string): AdminClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${baseUrl}/api/v1/admin${path}`, {
      method,
      headers: {
        authorization,
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
