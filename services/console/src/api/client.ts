/** An answer that is no success, or none at all. */
export class ApiError extends Error {
  /** the HTTP status; 0: nothing came back */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
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

const ADMIN = '/api/v1/admin'

/** @param path after `/api/v1/admin`. Throws ApiError. */
export function adminGet<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(ADMIN + path, { signal: signal ?? null })
}

/** @param path after `/api/v1/admin`. Throws ApiError. */
export function adminPost<T>(path: string, body?: unknown): Promise<T> {
  return ask<T>(ADMIN + path, {
    method: 'POST',
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  })
}

/** A path below the origin, as JSON. The browser adds its Basic credential by itself. Throws ApiError. */
export async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  let answer: Response
  try {
    answer = await fetch(path, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, (error as Error).message)
  }
  if (!answer.ok) throw new ApiError(answer.status, await refusalIn(answer))
  return (await answer.json()) as T
}

/** The words of an error answer; its status where it has none. */
export async function refusalIn(answer: Response): Promise<string> {
  const text = await answer.text().catch(() => '')
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    if (typeof error === 'string') return error
  } catch {
    // Whoever answered is not this service: a proxy's page says less than its status.
  }
  return `${answer.status} ${answer.statusText}`.trim()
}

/** One segment of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}
