import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileC } from '../compile-c.js'
import { onCore } from '../machine.js'

/** A load: the requests in its file, and their target and rate. */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** a file of `writeRequests` */
  readonly requests: string
  readonly core: number | undefined
  /** requests per second of all connections together; absent: as many as the server handles */
  readonly rate?: number
  /** true if the port expects TLS */
  readonly isEncrypted?: boolean
}

/** Latencies in microseconds, from sending a request to the last byte of its response. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly bytes: number
  /** connections that broke or got no response */
  readonly failures: number
  readonly statuses: Readonly<Record<string, number>>
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
}

export interface Request {
  /** default: GET */
  readonly method?: 'HEAD'
  readonly path: string
  readonly headers: readonly string[]
}

export type Generator = (load: Load) => Promise<LoadResult>

/** Additional time in ms before a load is aborted: a hanging server must not hang the suite. */
const GRACE_MS = 30_000

const execute = promisify(execFile)
const SOURCE = fileURLToPath(new URL('../../src/load/load.c', import.meta.url))

/** Writes one request per line, fields separated by tabs, which occur neither in paths nor in headers. */
export function writeRequests(file: string, requests: readonly Request[]): string {
  const line = ({ method, path, headers }: Request) =>
    [method === undefined ? path : `${method} ${path}`, ...headers].join('\t')
  writeFileSync(file, `${requests.map(line).join('\n')}\n`)
  return file
}

/** Returns the suite's own generator, compiled at its first use. Throws if there is no C compiler. */
export function loadGenerator(): Generator {
  const program = compileC(SOURCE, ['ssl', 'crypto'])
  if (program === null)
    throw new Error('a comparison needs a C compiler (cc) and OpenSSL: apt-get install gcc libc6-dev libssl-dev')
  return (load) => runOwn(program, load)
}

async function runOwn(program: string, load: Load): Promise<LoadResult> {
  const { port, connections, seconds, requests, rate = 0 } = load
  const [command = '', ...args] = [
    ...onCore(load.core),
    program,
    ...[port, connections, seconds, requests, rate].map(String),
    ...(load.isEncrypted ? ['tls'] : []),
  ]
  try {
    const { stdout } = await execute(command, args, { timeout: seconds * 1000 + GRACE_MS })
    return JSON.parse(stdout) as LoadResult
  } catch (error) {
    throw new Error(`the load generator ended ${howItEnded(error as Ended)}: ${args.join(' ')}`, { cause: error })
  }
}

type Ended = Error & {
  readonly killed?: boolean
  readonly signal?: string | null
  readonly code?: number
  readonly stderr?: string
}

function howItEnded({ killed, signal, code, stderr, message }: Ended): string {
  if (killed) return `because it did not end by itself in ${GRACE_MS / 1000} s more than it was to take`
  if (signal) return `by ${signal}`
  return stderr ? `with ${code} (${stderr.trim()})` : message
}
