import { isReachable } from '../api/live.js'

/** A second failure within so short a time means that reloading does not help. */
const ONCE_WITHIN_MS = 10_000
const STORED_AS = 'console.reloaded-at'

const missing = new WeakSet<Error>()

/** Has errors of chunks that cannot be loaded told from others. */
export function watchChunks(): void {
  window.addEventListener('vite:preloadError', ({ payload }) => missing.add(payload))
}

export function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && missing.has(error)
}

/**
 * After an upgrade the server has no files of the page that is still open: it is reloaded, once. Where the server does not answer the page
 * stays: reloading it would leave the browser's own error page.
 */
export async function reloadOnce(): Promise<void> {
  const last = Number(sessionStorage.getItem(STORED_AS) ?? 0)
  if (Date.now() - last < ONCE_WITHIN_MS || !(await isReachable())) return
  sessionStorage.setItem(STORED_AS, String(Date.now()))
  window.location.reload()
}
