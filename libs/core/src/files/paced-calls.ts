/** Number of first calls that are not judged yet. */
const LEAST_CALLS = 16

/** Milliseconds above which a call is slow. A local disk's cache takes a hundredth of that, a network file system some milliseconds. */
const SLOW_MS = 1

/** Calls that blocked this process, and how many of them were slow; null: none may block. */
let blocking: { calls: number; slow: number } | null = null

/**
 * Lets the file calls of this process block it while the file system answers quickly: thousands of short calls cost a third of the processor time that
 * they take through threads. Only for a process that does nothing else, and that another one ends if it hangs.
 * @param mayBlock false: every call goes through threads, which is the default
 */
export function blockWhileFast(mayBlock = true): void {
  blocking = mayBlock ? { calls: 0, slow: 0 } : null
}

/**
 * Runs one short call of the file system, in either of two forms with the same result. It goes through threads, where a slow mount serves several at a
 * time, unless the process may block and most calls were fast. A busy machine delays only some calls. Use it only within an asynchronous function, so
 * that an error of both forms is a rejection.
 */
export function fileCall<T>(now: () => T, later: () => Promise<T>): T | Promise<T> {
  if (blocking === null || (blocking.calls >= LEAST_CALLS && blocking.slow * 2 > blocking.calls)) return later()
  const startedAt = performance.now()
  try {
    return now()
  } finally {
    blocking.calls++
    if (performance.now() - startedAt > SLOW_MS) blocking.slow++
  }
}
