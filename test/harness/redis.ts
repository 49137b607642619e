import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './ports.js'
import { ServiceProcess } from './service-process.js'

/** A redis-server of the test's own, with nothing kept on disk. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  readonly process: ServiceProcess
  /** Starts it again on the same port after `process.kill()`; answers when it serves. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startRedis(env: NodeJS.ProcessEnv = process.env): Promise<TestRedis> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'gateway-test-redis-'))
  const options = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'no', daemonize: 'no' }
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

function isReady(line: string): boolean {
  return line.includes('Ready to accept connections')
}
