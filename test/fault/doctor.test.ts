import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, withConnection } from '../harness/database.js'
import { environment } from '../harness/environment.js'
import { freePort } from '../harness/ports.js'
import { startRedis } from '../harness/redis.js'
import { useResource } from '../harness/use-resource.js'

const DOCTOR = fileURLToPath(new URL('../../services/tools/dist/doctor/main.js', import.meta.url))

interface Finding {
  level: 'ok' | 'warn' | 'fault'
  about: string
  finding: string
  advice: string | null
}

const home = useResource(
  () => mkdtempSync(join(tmpdir(), 'gateway-test-doctor-')),
  (path) => rmSync(path, { recursive: true }),
)
const database = useResource(freshDatabase, (made) => made.drop())
const redis = useResource(startRedis, (made) => made.stop())
let settings: Record<string, string>
const closing: (() => unknown)[] = []

beforeAll(async () => {
  mkdirSync(join(home(), 'maps'))
  settings = {
    CONFIG_FILE: join(home(), 'service.env'),
    DATA_DIR: join(home(), 'data'),
    DATABASE_URL: database().url,
    REDIS_URL: redis().url,
    BASEMAP_ROOTS: join(home(), 'maps'),
    API_PORT: String(await freePort()),
    CONTROL_PORT: String(await freePort()),
  }
})

afterAll(async () => {
  for (const close of closing) await close()
})

/** @param prefix a command that runs another one */
async function doctor(changes: Record<string, string>, prefix: readonly string[] = [], options = ['--json']) {
  const [command = '', ...args] = [...prefix, process.execPath, DOCTOR, ...options]
  const child = spawn(command, args, { env: environment('', { ...settings, ...changes }) })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect(stderr).toBe('')
  return { stdout, code }
}

async function findings(changes: Record<string, string>, prefix: readonly string[] = []) {
  const { stdout, code } = await doctor(changes, prefix)
  const answer = JSON.parse(stdout) as { status: number; findings: readonly Finding[] }
  expect(code).toBe(answer.status)
  const troubles = answer.findings.filter(({ level }) => level !== 'ok')
  return { code, all: answer.findings, lines: troubles.map((f) => `${f.level} ${f.about}: ${f.finding}: ${f.advice}`) }
}

const url = (change: (address: URL) => void): string => {
  const address = new URL(database().url)
  change(address)
  return address.href
}

test('on a healthy machine there is no fault, and every part is named', async () => {
  const { all, lines } = await findings({})
  expect(lines.filter((line) => line.startsWith('fault'))).toEqual([])
  const named = new Set(all.map(({ about }) => about))
  expect(named).toEqual(
    new Set([
      'machine',
      'settings',
      'proxies',
      'ports',
      'native tier',
      'GDAL',
      'store',
      'clock',
      'folders',
      'bus',
      'audit',
    ]),
  )
})

test('many faults at once are each reported in one line with the remedy', async () => {
  const taken = createServer((socket) => socket.end('no gateway\n')).listen(Number(settings.API_PORT), '127.0.0.1')
  closing.push(() => taken.close())
  const config = join(home(), 'readable.env')
  writeFileSync(config, 'ADMIN_PASSWORD=secret-of-the-test\n')
  chmodSync(config, 0o644)
  writeFileSync(join(home(), 'a-file'), '')
  await withConnection(database().url, (sql) =>
    sql.begin((tx) =>
      upsertScanSource(tx, { code: 'gone', kind: 'basemap', path: join(home(), 'gone'), name: 'gone', enabled: true }),
    ),
  )
  const faults = {
    CONFIG_FILE: config,
    REDIS_URL: `redis://:wrong-password@127.0.0.1:${await freePort()}`,
    DATA_DIR: join(home(), 'a-file/data'),
    BASEMAP_ROOTS: join(home(), 'nowhere'),
    TRUSTED_PROXIES: '0.0.0.0/0',
  }
  const { code, lines } = await findings(faults, ['prlimit', '--nofile=512:512', 'faketime', '-f', '+600'])
  expect(code).toBe(2)
  const expected = [
    /^fault machine: 512 open files.*: raise the hard limit/,
    /^warn settings: .*readable\.env may be read by others.*: chmod 600/,
    /^fault proxies: TRUSTED_PROXIES has 0\.0\.0\.0\/0.*: name only the addresses/,
    /^fault ports: API_PORT \d+ on 127\.0\.0\.1 is taken.*: end it/,
    /^warn clock: the clock is (59\d|60\d)\.\d s ahead of that of Postgres: synchronize/,
    /^fault folders: DATA_DIR .*ENOTDIR.*: name a folder/,
    /^fault folders: BASEMAP_ROOTS .*nowhere.*ENOENT.*: create it, mount it/,
    /^fault folders: scan source gone .*ENOENT/,
    /^fault bus: Redis at .*ECONNREFUSED.*: start Redis/,
  ]
  for (const pattern of expected) expect(lines.join('\n')).toMatch(new RegExp(pattern.source, 'm'))
  expect(lines.join('\n')).not.toMatch(/secret-of-the-test|wrong-password/)
  await withConnection(database().url, (sql) => sql`DELETE FROM scan_sources`)
})

test.each<[string, () => Promise<Record<string, string>>, RegExp]>([
  ['a setting that is malformed', async () => ({ API_PORT: '0' }), /^fault settings: API_PORT must be .*: correct it/],
  [
    'a store that is out of reach',
    async () => ({ DATABASE_URL: `postgres://u:hidden@127.0.0.1:${await freePort()}/x` }),
    /^fault store: the store is out of reach at 127\.0\.0\.1:\d+\/x .*: start Postgres/,
  ],
  [
    'a wrong password',
    async () => ({ DATABASE_URL: url((address) => Object.assign(address, { password: 'hidden' })) }),
    /^fault store: the store refuses the credentials.*: correct DATABASE_URL/,
  ],
  [
    'a database that is missing',
    async () => ({ DATABASE_URL: url((address) => Object.assign(address, { pathname: '/absent' })) }),
    /^fault store: the store has no database of the name.*: correct DATABASE_URL; create/,
  ],
  [
    'a role without rights',
    async () => {
      await withConnection(database().url, async (sql) => {
        await sql`CREATE ROLE doctor_test LOGIN PASSWORD 'hidden'`
        closing.push(() => withConnection(database().url, (own) => own`DROP ROLE doctor_test`))
      })
      return { DATABASE_URL: url((address) => Object.assign(address, { username: 'doctor_test', password: 'hidden' })) }
    },
    /^fault store: role doctor_test may not create tables.*: GRANT CREATE/,
  ],
  [
    'a store that has no connection left',
    async () => {
      await withConnection(database().url, async (sql) => {
        await sql`CREATE ROLE doctor_late LOGIN PASSWORD 'hidden' CONNECTION LIMIT 0`
        closing.push(() => withConnection(database().url, (own) => own`DROP ROLE doctor_late`))
      })
      return { DATABASE_URL: url((address) => Object.assign(address, { username: 'doctor_late', password: 'hidden' })) }
    },
    /^fault store: the store has no connection left .*: raise max_connections/,
  ],
  [
    'a store that was made read-only',
    async () => ({ DATABASE_URL: url((address) => address.searchParams.set('default_transaction_read_only', 'on')) }),
    /^fault store: nothing can be written: the store can only be read.*: find who set default_transaction_read_only/,
  ],
  [
    'a Redis without memory',
    async () => {
      const full = await startRedis(process.env, () => ({ maxmemory: 1 }))
      closing.push(() => full.stop())
      return { REDIS_URL: full.url }
    },
    /^fault bus: Redis at .*OOM.*: raise maxmemory/,
  ],
  [
    'a schema of a newer version',
    async () => {
      await withConnection(
        database().url,
        (sql) => sql`INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, '9999_newer.sql', '')`,
      )
      return {}
    },
    /^fault store: the store has migration 9999_newer\.sql of a newer version/,
  ],
])('%s is named in one line', async (_, plant, pattern) => {
  const { code, lines } = await findings(await plant())
  expect(lines.join('\n')).toMatch(new RegExp(pattern.source, 'm'))
  expect(lines.join('\n')).not.toMatch(/hidden/)
  expect(code).toBe(2)
})

test('slice sources that are open to the network are a warning until SLICE_SOURCE_ROOTS is set', async () => {
  const open = { CONTROL_HOST: '0.0.0.0', ADMIN_PASSWORD: 'a password of the test', ADMIN_TOKEN: 'a token of the test' }
  const warning = /^warn settings: SLICE_SOURCE_ROOTS is not set and CONTROL_HOST=0\.0\.0\.0.*: set SLICE_SOURCE_ROOTS/m
  expect((await findings(open)).lines.join('\n')).toMatch(warning)
  expect((await findings({ ...open, SLICE_SOURCE_ROOTS: home() })).lines.join('\n')).not.toMatch(warning)
})

test('without --json each finding is one line, and an unknown option is refused', async () => {
  const { stdout, code } = await doctor({ API_PORT: 'many' }, [], [])
  expect(stdout).toMatch(
    /^ok {4}machine .*\n(?:(?:ok|warn|fault) +machine .*\n)fault settings +API_PORT must be a port number: correct it; .*\n$/,
  )
  expect(code).toBe(2)
})
