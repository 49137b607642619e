import { unlessSet } from './child-environment.js'

/** Default and maximum number of libuv's threads for file calls, name look-ups and compression. */
const DEFAULT_THREADS = 4
const MOST_THREADS = 1024

/** Returns the number of threads in this process's pool. libuv reads the variable when it starts the first one. */
export function threadPoolSize(): number {
  const size = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '', 10)
  return size > 0 ? Math.min(size, MOST_THREADS) : DEFAULT_THREADS
}

/** Returns the environment that gives a child process a pool of that many threads; empty if the operator has set a size. */
export function withThreadPool(threads: number): Record<string, string> {
  return unlessSet('UV_THREADPOOL_SIZE', String(threads))
}
