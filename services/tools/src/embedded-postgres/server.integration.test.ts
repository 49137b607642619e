import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { openStore, type Sql } from '@gateway/store/connect.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findPostgresBinaries } from './binaries.js'
import { chooseRunAs } from './run-as.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './server.js'

const asRoot = process.getuid?.() === 0
let parent: string
let dir: string

beforeEach(() => {
  // mkdtemp makes folders of mode 0700: as root, the way without a reachable folder is the default here.
  parent = mkdtempSync(join(tmpdir(), 'postgres-'))
  dir = join(parent, 'postgres')
})
afterEach(() => rmSync(parent, { recursive: true }))

function start(): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dir,
    log: () => {},
    onLost: (reason) => {
      throw new Error(reason)
    },
  })
}

async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openStore(url, { applicationName: 'test', maxConnections: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

async function rememberedNumbers(url: string): Promise<number[]> {
  return withSql(url, async (sql) =>
    (await sql<{ n: number }[]>`SELECT n FROM remembered ORDER BY n`).map((row) => row.n),
  )
}

async function answers(url: string): Promise<void> {
  for (;;) {
    try {
      await withSql(url, (sql) => sql`SELECT 1`)
      return
    } catch {
      // Not back yet: the test's time limit is the limit.
    }
  }
}

describe.each([
  { who: 'in a folder that everyone can reach', mode: 0o755 },
  { who: 'below a folder that only its owner can enter', mode: 0o700 },
])('$who', ({ mode }) => {
  beforeEach(() => chmodSync(parent, mode))

  test('what was committed is there after a stop and a second start', async () => {
    const first = await start()
    await withSql(first.url, (sql) => sql`CREATE TABLE remembered AS SELECT 1 AS n`)
    await first.stop()
    const second = await start()
    expect(await rememberedNumbers(second.url)).toEqual([1])
    await second.stop()
  })

  test('a server that was killed comes back by itself, at the same address, with what was committed', async () => {
    const server = await start()
    await withSql(server.url, (sql) => sql`CREATE TABLE remembered AS SELECT 1 AS n`)
    const [pid, url] = [server.pid(), server.url]
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => server.pid()).not.toBe(pid)
    await answers(url)
    expect(server.url).toBe(url)
    expect(await rememberedNumbers(url)).toEqual([1])
    await server.stop()
  })

  test('when the starting process is killed its server ends too, and the next start finds the data', async () => {
    const { child, url } = await startElsewhere([])
    await withSql(url, (sql) => sql`CREATE TABLE remembered AS SELECT 1 AS n`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const next = await start()
    expect(await rememberedNumbers(next.url)).toEqual([1])
    await next.stop()
  })
})

test('a record of an earlier server whose number another process has now does not keep it from starting', async () => {
  const first = await start()
  await withSql(first.url, (sql) => sql`CREATE TABLE remembered AS SELECT 1 AS n`)
  await first.stop()
  const bystander = spawn('sleep', ['60'])
  writeFileSync(join(dir, 'data/postmaster.pid'), `${bystander.pid}\n${join(dir, 'data')}\n`)
  const second = await start()
  expect(await rememberedNumbers(second.url)).toEqual([1])
  expect(bystander.exitCode).toBe(null)
  await second.stop()
  bystander.kill()
})

test('the password is wanted, and only the owner can read it', async () => {
  const server = await start()
  const wrong = new URL(server.url)
  wrong.password = 'wrong'
  await expect(withSql(wrong.href, (sql) => sql`SELECT 1`)).rejects.toThrow(/password authentication failed/)
  expect(statSync(join(dir, 'password')).mode & 0o777).toBe(0o600)
  await server.stop()
})

test.runIf(asRoot)('root that can reach the folder later in another way gets the same data', async () => {
  const first = await start()
  await withSql(first.url, (sql) => sql`CREATE TABLE remembered AS SELECT 1 AS n`)
  await first.stop()
  chmodSync(parent, 0o755)
  const second = await start()
  expect(await rememberedNumbers(second.url)).toEqual([1])
  await second.stop()
})

test.runIf(asRoot)('an ordinary user runs it as well', async () => {
  chmodSync(parent, 0o777)
  // If nobody else can enter the checkout, a user namespace stands in for the other user.
  const { prefix } = chooseRunAs([parent, dirname((await findPostgresBinaries()).postgres), import.meta.dirname])
  const { child, url } = await startElsewhere(prefix)
  expect(await withSql(url, (sql) => sql`SELECT 1 AS n`)).toEqual([{ n: 1 }])
  child.stdin?.end()
  expect(await once(child, 'exit')).toEqual([0, null])
  await expect(withSql(url, (sql) => sql`SELECT 1`)).rejects.toThrow(/ECONNREFUSED/)
})

/** Starts a separate process that starts the server, says its address, and stops it when its input ends. */
async function startElsewhere(prefix: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const module = new URL('../../dist/embedded-postgres/server.js', import.meta.url).href
  const code = `import { startEmbeddedPostgres } from ${JSON.stringify(module)}
    const server = await startEmbeddedPostgres({ dir: ${JSON.stringify(dir)}, log: () => {}, onLost: console.error })
    console.log(server.url)
    process.stdin.resume().on('end', () => server.stop())`
  const [command = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', code]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/' })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, url }
}
