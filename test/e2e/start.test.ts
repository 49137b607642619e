import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Vector } from '@gateway/contracts/vector.js'
import { isReady } from '@gateway/core/processes/readiness.js'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fromBuffer } from 'yauzl'
import { freshDatabase } from '../harness/database.js'
import type { TestSettings } from '../harness/environment.js'
import type { LogLine } from '../harness/log-lines.js'
import { startRedis } from '../harness/redis.js'
import type { ServiceProcess } from '../harness/service-process.js'
import { type Printed, printed, StartHome, terminate } from '../harness/start-command.js'
import { useResource } from '../harness/use-resource.js'

const execute = promisify(execFile)
const home = useResource(StartHome.make, (made) => made.remove())

async function nothingIsLeft(): Promise<void> {
  expect(await home().left()).toEqual([])
}

/** Runs a printed command as if pasted into a shell, in the home directory, and returns the file it wrote. */
async function paste(command: string | undefined): Promise<Buffer> {
  const file = /-o (\S+)/.exec(command ?? '')?.[1] ?? 'no -o in the command'
  await execute('sh', ['-c', command ?? 'false'], { cwd: home().dir })
  return readFile(join(home().dir, file))
}

const isLog = ({ from }: LogLine) => from === 'stdout'

function namesInZip(zip: Buffer): Promise<string[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(zip, (error, opened) => {
      if (error) return reject(error)
      const names: string[] = []
      opened.on('entry', (entry) => names.push(entry.fileName))
      opened.on('end', () => resolve(names))
      opened.on('error', reject)
    })
  })
}

describe('on a machine without a database or Redis', () => {
  let first: Printed

  test('the start command brings a gateway with demo data, its printed commands work, and its log holds no secret', async () => {
    const start = home().run('start', { LOG_LEVEL: 'debug' })
    first = await printed(start)
    const tile = await sharp(await paste(first.Tile)).metadata()
    expect([tile.width, tile.height]).toEqual([256, 256])
    const geojson = JSON.parse((await paste(first.GeoJSON)).toString())
    expect(geojson.features.length).toBeGreaterThan(100)
    const names = await namesInZip(await paste(first.Shapefile))
    expect(names.map((name) => name.split('.').at(-1))).toEqual(expect.arrayContaining(['shp', 'shx', 'dbf']))
    const tilejson = (await (await fetch(first.TileJSON ?? '')).json()) as { tiles: string[] }
    expect((await fetch((tilejson.tiles[0] ?? '').replace(/\{[xyz]\}/g, '0'))).status).toBe(200)
    // The page with the form: the console itself returns 401.
    expect((await fetch(first.Console ?? '')).status).toBe(200)
    const { code, token: ofMap } = Object.fromEntries(new URLSearchParams(new URL(first.Map ?? '').hash.slice(1)))
    expect(first.TileJSON).toBe(`${home().url}/tiles/${code}/tilejson.json?token=${ofMap}`)
    expect((await fetch(first.Map ?? '')).headers.get('content-type')).toBe('text/html; charset=utf-8')
    const catalog = await fetch(`${home().url}/api/v1/catalog/vectors?token=${ofMap}`)
    const { items } = (await catalog.json()) as { items: readonly Vector[] }
    expect(items.map(({ tiles }) => tiles.status)).toEqual(['ready', 'ready'])
    expect(await terminate(start)).toEqual({ code: 0, signal: null })
    await nothingIsLeft()
    // Edges start while the migrations run.
    const warned = start.lines.filter(({ json }) => json?.level === 'warn').map(({ raw }) => raw)
    expect(warned.filter((line) => line.includes('does not exist'))).toEqual([])

    const token = new URL(first.TileJSON ?? '').searchParams.get('token') ?? ''
    const env = await readFile(home().configFile, 'utf8')
    const credentials = [...env.matchAll(/^ADMIN_(?:PASSWORD|TOKEN)=(\S{16,})$/gm)].map(([, secret]) => secret ?? '')
    expect(credentials).toHaveLength(2)
    const logged = start.lines.filter(({ json }) => json !== null).map(({ raw }) => raw)
    expect(logged.length).toBeGreaterThan(3)
    for (const secret of [token, ...credentials]) expect(logged.filter((line) => line.includes(secret))).toEqual([])
  })

  test('only the owner can read the credentials and the demo token', async () => {
    for (const file of [home().configFile, join(home().dataDir, 'demo-token')])
      expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('only the owner can enter the folders that the gateway writes', async () => {
    const { dataDir } = home()
    const folders = (await readdir(dataDir, { withFileTypes: true })).filter((entry) => entry.isDirectory())
    const modes = await Promise.all(
      folders.map(async ({ name }) => [name, ((await stat(join(dataDir, name))).mode & 0o777).toString(8)]),
    )
    // Postgres runs as another user if the gateway runs as root, and closes its own folder below.
    const closed = modes.filter(([name]) => name !== 'demo' && name !== 'postgres')
    expect(closed.length).toBeGreaterThan(9)
    expect(closed).toEqual(closed.map(([name]) => [name, '700']))
  })

  describe('started again', () => {
    let start: ServiceProcess

    beforeAll(async () => {
      start = home().run('start')
      await printed(start)
    })

    test('a second start serves the same data under the same token', async () => {
      const { TileJSON, Tile, GeoJSON } = first
      expect(await printed(start)).toMatchObject({ TileJSON, Tile, GeoJSON })
      expect((await fetch(TileJSON ?? '')).status).toBe(200)
    })

    test('standard output contains only the log; text for people goes to standard error', async () => {
      const [log, words] = [start.lines.filter(isLog), start.lines.filter((line) => !isLog(line))]
      expect(log.length).toBeGreaterThan(1)
      expect(log.map(({ json, raw }) => [json === null, raw])).toEqual(log.map(({ raw }) => [false, raw]))
      expect(words.map(({ raw }) => raw).join('\n')).toMatch(
        /^\n {2}Console .*\n {2}Gateway +ready; Ctrl-C stops it\n$/s,
      )
    })

    test('another start on the same data is refused with one line', async () => {
      const second = home().run('start')
      expect((await second.ended()).code).toBe(2)
      expect(second.lines.map(({ raw }) => raw)).toEqual([expect.stringMatching(/already runs a gateway on DATA_DIR/)])
      expect(await isReady(`${home().url}/ready`)).toBe(true)
    })

    test('a start on a used port is refused with one line that names the setting', async () => {
      const second = home().run('start', { DATA_DIR: join(home().dir, 'other') })
      expect((await second.ended()).code).toBe(2)
      expect(second.lines.map(({ raw }) => raw)).toEqual([expect.stringMatching(/^API_PORT \d+ is in use/)])
    })

    test('nothing survives a kill, and the next start continues', async () => {
      process.kill(Number(await readFile(join(home().dataDir, 'launcher.lock'), 'utf8')), 'SIGKILL')
      await start.ended()
      await nothingIsLeft()
      const next = home().run('start')
      expect((await printed(next)).TileJSON).toBe(first.TileJSON)
      await terminate(next)
    })

    afterAll(nothingIsLeft)
  })
})

describe('with an external database and Redis', () => {
  afterEach(nothingIsLeft)
  const database = useResource(freshDatabase, (made) => made.drop())
  const redis = useResource(startRedis, (made) => made.stop())
  let servers: TestSettings

  beforeAll(async () => {
    servers = { DATABASE_URL: database().url, REDIS_URL: redis().url, DATA_DIR: join(home().dir, 'with-servers') }
  })

  test('the start command uses them and starts no database', async () => {
    const passwordOnly = { CONFIG_FILE: join(home().dir, 'password.env'), ADMIN_PASSWORD: 'only-a-password' }
    const start = home().run('start', { ...servers, ...passwordOnly })
    const { Tile = '' } = await printed(start)
    expect((await sharp(await paste(Tile)).metadata()).width).toBe(256)
    expect(await database().connections()).not.toEqual([])
    await expect(stat(join(home().dir, 'with-servers/postgres'))).rejects.toThrow(/ENOENT/)
    expect(await terminate(start)).toEqual({ code: 0, signal: null })
    // Postgres ends its side of a closed connection a moment later.
    await expect.poll(() => database().connections()).toEqual([])
  })

  test('edge and control plane also run separately, and exit with 0 on request', async () => {
    const controlPlane = home().run('control-plane', servers)
    const edge = home().run('edge', servers)
    await expect.poll(() => isReady(`${home().url}/ready`)).toBe(true)
    const token = (await readFile(join(home().dir, 'with-servers/demo-token'), 'utf8')).trim()
    expect((await fetch(`${home().url}/api/v1/catalog/basemaps?token=${token}`)).status).toBe(200)
    expect(await terminate(edge)).toEqual({ code: 0, signal: null })
    expect(await terminate(controlPlane)).toEqual({ code: 0, signal: null })
  })
})

describe('with invalid settings', () => {
  afterEach(nothingIsLeft)

  test('the start is refused with one line that names the setting', async () => {
    const start = home().run('start', { API_PORT: 'eighty' })
    expect((await start.ended()).code).toBe(2)
    expect(start.lines.map(({ raw }) => raw)).toEqual([expect.stringMatching(/^API_PORT must be a port number/)])
  })

  test('a start is refused if edge and control plane would listen on one address', async () => {
    const start = home().run('start', {
      API_PORT: '8999',
      CONTROL_PORT: '8999',
      DATA_DIR: join(home().dir, 'one-port'),
    })
    expect((await start.ended()).code).toBe(2)
    expect(start.lines.map(({ raw }) => raw)).toEqual([expect.stringMatching(/^CONTROL_PORT 8999 is API_PORT too/)])
  })

  test.each([
    // mkdir there fails with an error that makes Node's recursive mkdir retry for ever.
    ['a data directory that cannot be made', { DATA_DIR: '/proc/nowhere/data' }, /^DATA_DIR .* cannot be used: ENOENT/],
    ['a data directory that is a file', { DATA_DIR: '/etc/passwd' }, /ENOTDIR.*remove the file.*or set DATA_DIR/],
    ['a certificate that is missing', { TLS_CERT_FILE: '/no.pem', TLS_KEY_FILE: '/no.pem' }, /^TLS_CERT_FILE .*ENOENT/],
  ])('%s is told in one line as well', async (_, settings, line) => {
    const start = home().run('start', settings)
    expect((await start.ended()).code).toBe(2)
    expect(start.lines.map(({ raw }) => raw)).toEqual([expect.stringMatching(line)])
  })

  test('an unreachable database is reported in one line without the password, and an interrupt ends the wait', async () => {
    const start = home().run('start', { DATABASE_URL: 'postgres://gateway:pass-word@127.0.0.1:1/gateway' })
    const { raw } = await start.line(({ from }) => from === 'stderr')
    expect(raw).toMatch(
      /^DATABASE_URL 127\.0\.0\.1:1: the store is out of reach .* waiting for it\. Start that Postgres/,
    )
    start.signal('SIGINT')
    expect((await start.ended()).code).toBe(0)
    expect(start.lines.filter(({ from }) => from === 'stderr')).toHaveLength(1)
    expect(start.lines.filter(({ raw }) => raw.includes('pass-word'))).toEqual([])
  })
})
