/** Returns this process's environment with additions, for a child process. Only the child sees the additions. */
export function childEnvironment(additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...additions }
}

/** Returns a variable for a child process, unless the operator set it for this process. */
export function unlessSet(name: string, value: string): Record<string, string> {
  return process.env[name] ? {} : { [name]: value }
}

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
