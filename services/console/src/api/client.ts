import type { ErrorCode } from '@gateway/contracts/errors.js'
import { backgroundHeader } from './activity.js'

/** An answer that is no success, or none at all. */
export class ApiError extends Error {
  /** the HTTP status; 0: nothing came back */
  readonly status: number
  readonly timedOut: boolean
  /** which refusal it is, where the service says so */
  readonly code: ErrorCode | null

  constructor(status: number, message: string, { timedOut = false, code = null as ErrorCode | null } = {}) {
    super(message)
    this.status = status
    this.timedOut = timedOut
    this.code = code
  }

  /** Whether the same request may succeed a moment later. */
  get mayPass(): boolean {
    return this.status === 0 || this.status >= 500
  }
}

export interface List<T> {
  readonly items: readonly T[]
  readonly total: number
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** from the first byte out to the last byte in; default: 30 s */
  readonly timeoutMs?: number
}

const ADMIN = '/api/v1/admin'
/** `REFUSAL_HEADER` of the contracts. */
const REFUSAL_HEADER = 'x-refusal'
const unauthorized = new Set<() => void>()

/** Calls back for every request that is refused for lack of credentials, until the function that it answers is called. */
export function onUnauthorized(listener: () => void): () => void {
  unauthorized.add(listener)
  return () => void unauthorized.delete(listener)
}

const TIMEOUT_MS = 30_000
/** For scans, availability checks and downloads. */
export const LONG_TIMEOUT_MS = 600_000

/** @param path after `/api/v1/admin`. Throws ApiError. */
export function adminGet<T>(path: string, signal?: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<T> {
  return getJson<T>(ADMIN + path, { signal, timeoutMs })
}

/** A request that changes something. */
export interface Command {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** after `/api/v1/admin` */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** see RequestOptions */
  readonly timeoutMs?: number
}

/** Throws ApiError. */
export function adminSend<T>({ method, path, body, ...options }: Command, signal?: AbortSignal): Promise<T> {
  const json = body !== undefined && { headers: JSON_BODY, body: JSON.stringify(body) }
  return request(ADMIN + path, { method, ...json }, { ...options, signal }, readJson<T>)
}

/** Makes a save create: what is there already stays as it is (412). */
export const CREATES_ONLY = { headers: { 'If-None-Match': '*' } }

const JSON_BODY = { 'Content-Type': 'application/json' }

/** What makes the same change from a terminal. Its credential comes from the environment, so that no history of a shell has it. */
export function curlOf({ method, path, body, headers = {} }: Command): string {
  const all = { ...headers, ...(body !== undefined && JSON_BODY) }
  return [
    `curl -X ${method} ${quoted(window.location.origin + ADMIN + path)}`,
    '-H "Authorization: Bearer $ADMIN_TOKEN"',
    ...Object.entries(all).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ')
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A path below the origin, as JSON. The browser adds its Basic credential by itself. Throws ApiError. */
export function getJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return request(path, {}, options, readJson<T>)
}

/** Throws ApiError, also where reading the body fails or takes too long; what `signal` aborts rejects with the reason of the signal. */
export async function request<T>(
  path: string,
  init: RequestInit,
  { signal, headers, timeoutMs = TIMEOUT_MS }: RequestOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(path, {
      ...init,
      headers: { ...backgroundHeader(), ...(init.headers as Record<string, string>), ...headers },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (response.status === 401 && path.startsWith(ADMIN)) for (const listener of unauthorized) listener()
    if (!response.ok) {
      const code = response.headers.get(REFUSAL_HEADER) as ErrorCode | null
      throw new ApiError(response.status, await refusalIn(response), { code })
    }
    return await read(response)
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error
    throw new ApiError(0, (error as Error).message, { timedOut: timeout.aborted })
  }
}

function readJson<T>(response: Response): Promise<T> {
  return response.json() as Promise<T>
}

/** The message of an error response; its status where it has none. */
export async function refusalIn(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // Not an answer of this service: a proxy's page says less than its status.
  }
  return `${response.status} ${response.statusText}`.trim()
}

/** One segment of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}
