import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'

const PROGRAMS = '/usr/lib/postgresql/15/bin'
/** Postgres refuses to run as root. */
const NOBODY = 65_534
const READY_MS = 60_000

/** A server of Debian's Postgres with PostGIS, which logs every statement, and whose database `test` has the role `reader`. */
export interface PostgisServer {
  readonly port: number
  /** of the owner */
  readonly url: string
  /** of a role that may only read, without its password `secret` */
  readonly readerUrl: string
  readonly owner: postgres.Sql
  /** The log so far. */
  log(): string
  stop(): Promise<void>
  /** Stops it, and starts it again on the same port. */
  restart(whileAway: () => Promise<void>): Promise<void>
}

export async function startPostgis(): Promise<PostgisServer> {
  const home = mkdtempSync(join(tmpdir(), 'gateway-test-postgis-'))
  const isRoot = process.getuid?.() === 0
  const prefix = isRoot
    ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--pdeathsig=INT']
    : []
  if (isRoot) chownSync(home, NOBODY, NOBODY)
  chmodSync(home, 0o700)
  const data = join(home, 'data')
  const run = (...words: string[]) => [...prefix, ...words] as [string, ...string[]]
  const [command, ...args] = run(
    `${PROGRAMS}/initdb`,
    '-D',
    data,
    '-U',
    'owner',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-sync',
    '--locale=C.UTF-8',
  )
  const made = spawnSync(command, args, { cwd: home, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stdout}${made.stderr}`)
  const port = await freePort()
  const url = `postgres://owner@127.0.0.1:${port}/test`
  const file = join(home, 'log')
  let server: ChildProcess
  const start = async () => {
    const settings = {
      fsync: 'off',
      log_statement: 'all',
      logging_collector: 'off',
      unix_socket_directories: home,
      listen_addresses: '127.0.0.1',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const words = [`${PROGRAMS}/postgres`, '-D', data, '-p', String(port), ...options]
    const [command, ...args] = run('sh', '-c', `exec "$@" >> ${file} 2>&1`, 'sh', ...words)
    server = spawn(command, args, { cwd: home, stdio: 'ignore' })
    const until = performance.now() + READY_MS
    const probe = postgres(`postgres://owner@127.0.0.1:${port}/postgres`, { max: 1, onnotice: () => {} })
    for (;;) {
      try {
        await probe`SELECT 1`
        return await probe.end()
      } catch (error) {
        if (performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  await start()
  const admin = postgres(`postgres://owner@127.0.0.1:${port}/postgres`, { max: 1, onnotice: () => {} })
  await admin`CREATE DATABASE test`
  await admin.end()
  const owner = postgres(url, { max: 2, onnotice: () => {}, fetch_types: false })
  await owner.unsafe("CREATE EXTENSION postgis; CREATE ROLE reader LOGIN PASSWORD 'secret'")
  const stop = () =>
    new Promise<void>((resolve) => {
      server.once('close', () => resolve())
      server.kill('SIGINT')
    })
  return {
    ...{ port, url, owner, readerUrl: `postgres://reader@127.0.0.1:${port}/test` },
    restart: async (whileAway) => {
      await stop()
      await whileAway()
      await start()
    },
    log: () => readFileSync(file, 'utf8'),
    stop: async () => {
      await owner.end({ timeout: 1 })
      await stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
