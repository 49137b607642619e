import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { openStore } from '@gateway/store/connect.js'
import { readSchemaState } from '@gateway/store/migrate.js'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { freshDatabase, withConnection } from './database.js'
import { environment } from './environment.js'
import { connectionsLeft, portsLeft, processesLeft, troubleIn } from './left-behind.js'
import { freePort } from './ports.js'
import { isAlive, MARK_VARIABLE } from './processes.js'
import { startRedis } from './redis.js'
import { ServiceProcess } from './service-process.js'

/** Short timeout for a wait that must fail. */
const SOON_MS = 200

function run(code: string, mark: string = randomUUID()): ServiceProcess {
  return new ServiceProcess('script', [process.execPath, '-e', code], environment(mark, {}))
}

test('databases are migrated, and no two have a random value in common', async () => {
  const databases = [await freshDatabase(), await freshDatabase()]
  const random = databases.map(({ url }) =>
    withConnection(url, async (sql) => {
      expect(await readSchemaState(sql)).toEqual({ pending: [], newer: [] })
      return sql<{ value: string }[]>`
        SELECT value FROM instance_keys
        UNION ALL SELECT encode(secret, 'hex') FROM signing_keys
        UNION ALL SELECT unnest(ARRAY[mark, previous_mark])::text FROM revision_counter`
    }),
  )
  const values = (await Promise.all(random)).flat().map(({ value }) => value)
  expect(values).toHaveLength(10)
  expect(new Set(values).size).toBe(10)
  for (const database of databases) await database.drop()
})

test('every database is fresh, and no longer exists after it was dropped', async () => {
  const [one, two] = [await freshDatabase(), await freshDatabase()]
  const sql = openStore(one.url, { applicationName: 'test', maxConnections: 1 })
  await sql`CREATE TABLE only_here (n integer)`
  expect(await one.connections()).toEqual(['test'])
  expect(await two.connections()).toEqual([])
  await sql.end()
  await two.drop()
  await one.drop()
  await expect(openStore(one.url, { applicationName: 'test', maxConnections: 1 })`SELECT 1`).rejects.toThrow(
    /does not exist/,
  )
})

test('a killed Redis restarts on its port', async () => {
  const redis = await startRedis()
  const client = new Redis(redis.url, { lazyConnect: true })
  client.on('error', () => {})
  await client.connect()
  expect(await client.ping()).toBe('PONG')
  await redis.process.kill()
  await redis.restart()
  expect(await client.ping()).toBe('PONG')
  client.disconnect()
  await redis.stop()
})

test('a process that outlives its parent is found by its mark, and killed', async () => {
  const mark = randomUUID()
  const leaver = run(
    `const child = require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
     child.unref()
     console.log(JSON.stringify({ pid: child.pid }))`,
    mark,
  )
  const line = await leaver.line(({ json }) => json !== null)
  await leaver.ended()
  expect(await processesLeft(mark, SOON_MS)).toEqual([`process ${line.json?.pid} is left: sleep 600`])
  await expect.poll(() => isAlive(Number(line.json?.pid))).toBe(false)
})

test('a port that is still listened on is found', async () => {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  expect(await portsLeft([port], SOON_MS)).toEqual([`port ${port} is still listened on`])
  await new Promise((resolve) => server.close(resolve))
  expect(await portsLeft([port])).toEqual([])
})

test('an open database connection is found by its name', async () => {
  const database = await freshDatabase()
  const sql = openStore(database.url, { applicationName: 'forgotten', maxConnections: 1 })
  await sql`SELECT 1`
  expect(await connectionsLeft(() => database.connections(), SOON_MS)).toEqual([
    'a database connection of forgotten is left',
  ])
  await sql.end()
  expect(await connectionsLeft(() => database.connections())).toEqual([])
  await database.drop()
})

test('error lines and text outside the log are problems, unless the test allows them', async () => {
  const service = run(`
    console.log(JSON.stringify({ level: 'info', msg: 'fine' }))
    console.log(JSON.stringify({ level: 'error', msg: 'expected: cut' }))
    console.error('Segmentation fault')`)
  await service.ended()
  expect(troubleIn([service], [/expected: cut/])).toEqual(['script wrote: Segmentation fault'])
  expect(troubleIn([service], [])).toHaveLength(2)
})

test('a process that ended by itself is reported, one that was killed on purpose is not', async () => {
  const failing = run('process.exit(3)')
  await failing.ended()
  expect(await failing.stop(1000)).toBe('script ended by itself (exit code 3)')
  const killed = run('setInterval(() => {}, 1000)')
  await killed.kill()
  expect(await killed.stop(1000)).toBe(null)
})

test('a process that does not end on SIGTERM is killed and reported', async () => {
  const stubborn = run(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('{}')`)
  await stubborn.line(() => true)
  expect(await stubborn.stop(200)).toMatch(/did not end within 200 ms/)
})

test('the environment of a gateway contains its mark, but no settings of the user who runs the tests', () => {
  process.env.API_PORT = '1'
  const env = environment('m', { CONTROL_PORT: '2' })
  delete process.env.API_PORT
  expect(env).toMatchObject({ [MARK_VARIABLE]: 'm', CONTROL_PORT: '2', PATH: process.env.PATH })
  expect(env).not.toHaveProperty('API_PORT')
})
