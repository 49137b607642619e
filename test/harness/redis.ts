import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './ports.js'
import { ServiceProcess } from './service-process.js'

/** A redis-server for one test, without persistence. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  readonly process: ServiceProcess
  /** Restarts it on the same port after `process.kill()`; resolves when it serves. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** @param more further options; `port` of the server is always a free one */
export async function startRedis(
  env: NodeJS.ProcessEnv = process.env,
  more: (port: number) => Readonly<Record<string, string | number>> = () => ({}),
): Promise<TestRedis> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-redis-'))
  const options = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'no', daemonize: 'no', ...more(port) }
  const command = ['redis-server', ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])]
  const process = new ServiceProcess('redis', command, env)
  const ready = (after: number) => process.line((line) => isReady(line.raw) && process.lines.indexOf(line) >= after)
  await ready(0)
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    process,
    restart: async () => {
      const before = process.lines.length
      process.start()
      await ready(before)
    },
    stop: async () => {
      await process.stop(5_000)
      await rm(dir, { recursive: true })
    },
  }
}

/** Starts a Redis Sentinel that monitors one master, called `main`, with a quorum of one. */
export async function startSentinel(master: TestRedis): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-sentinel-'))
  const config = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
  ]
  await writeFile(join(dir, 'sentinel.conf'), `${config.join('\n')}\n`)
  const sentinel = new ServiceProcess(
    'sentinel',
    ['redis-server', join(dir, 'sentinel.conf'), '--sentinel'],
    process.env,
  )
  // From now on it can name the replica to promote.
  await sentinel.line(({ raw }) => raw.includes('+slave'))
  return {
    port,
    stop: async () => {
      await sentinel.stop(5_000)
      await rm(dir, { recursive: true })
    },
  }
}

function isReady(line: string): boolean {
  return line.includes('Ready to accept connections')
}
