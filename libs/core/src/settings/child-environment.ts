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

/** Secrets that only a control plane needs. */
const OF_CONTROL_PLANE = ['ADMIN_PASSWORD', 'ADMIN_TOKEN', 'OIDC_CLIENT_SECRET', 'IMPORT_TOKEN', 'SMTP_URL'] as const

/**
 * Like `childEnvironment`, without the secrets that an edge does not need, for the processes that read requests. The startup guard would demand
 * credentials for remote administration, which an edge does not judge.
 */
export function edgeEnvironment(additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const env = childEnvironment({ ...additions, ADMIN_ALLOW_REMOTE: 'false' })
  for (const name of OF_CONTROL_PLANE) {
    delete env[name]
    delete env[`${name}_FILE`]
  }
  return env
}
