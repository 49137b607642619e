import { unlessSet } from './child-environment.js'

/** libuv's own number of threads for file calls, name look-ups and compression, and the most that it takes. */
const DEFAULT_THREADS = 4
const MOST_THREADS = 1024

/** How many threads the pool of this process has. libuv reads the variable when the first is needed. */
export function threadPoolSize(): number {
  const size = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10)
  return size > 0 ? Math.min(size, MOST_THREADS) : DEFAULT_THREADS
}

/** What gives a child process a pool of that many threads; nothing where the operator has set a size. */
export function withThreadPool(threads: number): Record<string, string> {
  return unlessSet('UV_THREADPOOL_SIZE', String(threads))
}
