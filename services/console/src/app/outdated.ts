import { isReachable } from '../api/live.js'

/** A second failure within this time means that reloading does not help. */
const ONCE_WITHIN_MS = 10_000
const STORED_AS = 'console.reloaded-at'

const missing = new WeakSet<Error>()

/** Marks errors of chunks that cannot be loaded. */
export function watchChunks(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))
}

export function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}

/**
 * Reloads the page once. After an upgrade the server no longer has the files of an open page. If the server does not respond, the page
 * stays: a reload would show the browser's own error page.
 */
export async function reloadOnce(): Promise<void> {
  const last = Number(sessionStorage.getItem(STORED_AS) ?? 0)
  if (Date.now() - last < ONCE_WITHIN_MS || !(await isReachable())) return
  sessionStorage.setItem(STORED_AS, String(Date.now()))
  window.location.reload()
}
