import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readBasemap } from '@gateway/store/basemaps.js'
import { readVector } from '@gateway/store/vectors.js'
import { ZipArchive } from 'archiver'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { deliveries } from '../../features.js'
import { fillCatalog } from '../../testing/catalog.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const TOKEN = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const MAX_BYTES = 2_000_000

let home: string
let sender: TestApp
let receiver: TestApp
let url: string
let loop: Promise<unknown>

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'imports-'))
  sender = await startTestApp(process.env.TEST_POSTGRES_URL, {
    RETRY_WAITS: '0.05',
    DATA_DIR: path.join(home, 'sender'),
  })
  const settings = {
    IMPORT_TOKEN: TOKEN,
    IMPORT_MAX_BYTES: String(MAX_BYTES),
    DATA_DIR: path.join(home, 'receiver'),
  }
  // The first pause after a wrong credential lasts a second, and a busy machine may take that long between two requests.
  const begun = Date.now()
  receiver = await startTestApp(process.env.TEST_POSTGRES_URL, settings, undefined, () => begun)
  await fillCatalog(sender.ctx.sql, home)
  await receiver.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(receiver.app.server.address() as AddressInfo).port}/api/v1/import`
  loop = deliveries.run(sender.ctx)
})
afterAll(async () => {
  await sender.close()
  await loop
  await receiver.close()
  rmSync(home, { recursive: true })
})
afterEach(() => {
  expect(leftBehind()).toEqual([])
})

const imports = () => path.join(home, 'receiver/imports')

function leftBehind(): string[] {
  if (!existsSync(imports())) return []
  return readdirSync(imports(), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.tmp'))
}

async function push(kind: 'pushes' | 'vector-pushes', body: object, secret: string | null = TOKEN) {
  const target = { code: 'twin', kind: 'http', mode: 'upload', url, secret }
  await sender.admin({ method: 'POST', url: '/api/v1/admin/targets', payload: target })
  const accepted = await sender.admin({
    method: 'POST',
    url: `/api/v1/admin/${kind}`,
    payload: { target_code: 'twin', ...body },
  })
  expect(accepted.statusCode, accepted.body).toBe(202)
  const records = kind === 'pushes' ? 'push-records' : 'vector-push-records'
  for (;;) {
    const record = (await sender.admin({ method: 'GET', url: `/api/v1/admin/${records}/${accepted.json().id}` })).json()
    if (record.next_attempt_at === null) return record
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

type Files = Readonly<Record<string, string | Buffer>>

async function zip(files: Files, link: string | null = null): Promise<Buffer> {
  const archive = new ZipArchive({ zlib: { level: 6 } })
  for (const [name, data] of Object.entries(files)) archive.append(Buffer.from(data), { name })
  if (link !== null) archive.symlink('world/x/0/0/0.png', link)
  void archive.finalize()
  return buffer(archive)
}

async function send(event: unknown, archive: Buffer | null, headers: Record<string, string> = {}) {
  const form = new FormData()
  form.append('event', JSON.stringify(event))
  if (archive !== null)
    form.append('archive', new Blob([new Uint8Array(archive)], { type: 'application/zip' }), 'a.zip')
  const answer = await fetch(url, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

const worldEvent = (version: string, code = 'world') => ({
  event: 'basemap.version.pushed',
  record: { basemap_code: code, version },
  basemap: { name: 'World' },
})
const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

describe('from gateway to gateway', () => {
  test('a pushed version in folders arrives complete and is in the catalog of the other gateway', async () => {
    const record = await push('pushes', { basemap_code: 'world', version: 'v1' })
    expect(record).toMatchObject({ status: 'succeeded', attempts: 1 })
    expect(JSON.parse(record.attempt_log[0].answer)).toMatchObject({ code: 'world', version: 'v1', files: 17 })
    const basemap = await readBasemap(receiver.ctx.sql, 'world')
    expect(basemap).toMatchObject({ sourceCode: 'imports', name: 'World', defaultVersion: 'v1' })
    expect(basemap?.versions).toMatchObject([
      { version: 'v1', storage: 'xyz', format: 'png', minZoom: 2, maxZoom: 2, available: true },
    ])
    const tile = 'world/v1/2/3/1.png'
    const there = readFileSync(path.join(imports(), 'basemaps', tile))
    expect(there.equals(readFileSync(path.join(home, 'maps', tile)))).toBe(true)
  })

  test('a later push of the same version replaces it, and a scan finds nothing new after an import', async () => {
    expect(await push('pushes', { basemap_code: 'world', version: 'v1' })).toMatchObject({ status: 'succeeded' })
    const scan = await receiver.admin({ method: 'POST', url: '/api/v1/admin/scan-sources/imports/run' })
    expect(scan.json()).toMatchObject({ status: 'succeeded', added: 0, updated: 0, missing: 0 })
  })

  test('vectors are stored under their relative paths', async () => {
    expect(await push('vector-pushes', { vector_code: 'main' })).toMatchObject({ status: 'succeeded' })
    expect(await readVector(receiver.ctx.sql, 'roads-main')).toMatchObject({
      kind: 'geojson',
      relativePath: 'roads/main.geojson',
      sourceCode: 'imports-vectors',
      available: true,
    })
  })

  test('a version that cannot be served there fails with the reason, and the existing version stays', async () => {
    const record = await push('pushes', { basemap_code: 'world', version: 'v2' })
    expect(record).toMatchObject({ status: 'failed', message: '400 Bad Request' })
    expect((await readBasemap(receiver.ctx.sql, 'world'))?.versions.map((one) => one.version)).toEqual(['v1'])
  })

  test('nothing is accepted with another secret', async () => {
    expect(await push('pushes', { basemap_code: 'world', version: 'v1' }, 'another secret')).toMatchObject({
      status: 'failed',
      message: '401 Unauthorized',
    })
  })

  test('the test call reaches the gateway', async () => {
    const target = { code: 'twin', kind: 'http', mode: 'upload', url, secret: TOKEN }
    await sender.admin({ method: 'POST', url: '/api/v1/admin/targets', payload: target })
    const trial = await sender.admin({ method: 'POST', url: '/api/v1/admin/targets/twin/test' })
    expect(trial.json()).toMatchObject({ delivered: true, status: 200 })
  })
})

test('a script with the token imports a version', async () => {
  const sent = await send(worldEvent('by-hand', 'other'), await zip({ 'other/by-hand/0/0/0.png': PNG }))
  expect(sent).toMatchObject({ status: 200, body: { code: 'other', version: 'by-hand', files: 1 } })
  const audit = (await receiver.admin({ method: 'GET', url: '/api/v1/admin/audit' })).json()
  expect(audit.items[0]).toMatchObject({ actor: 'import', action: 'import', subject: 'other' })
})

test('a body that differs from the signed one is refused after reading, and leaves nothing behind', async () => {
  const key = Buffer.from(TOKEN.slice('whsec_'.length), 'base64')
  const timestamp = String(Math.floor(Date.now() / 1000))
  const sign = (body: string) => `v1,${createHmac('sha256', key).update(`msg_9.${timestamp}.${body}`).digest('base64')}`
  const form = new FormData()
  form.append('event', JSON.stringify(worldEvent('forged')))
  form.append('archive', new Blob([new Uint8Array(await zip({ 'world/forged/0/0/0.png': PNG }))]), 'a.zip')
  const headers = {
    'webhook-id': 'msg_9',
    'webhook-timestamp': timestamp,
    'webhook-proof': sign(''),
    'webhook-signature': sign('other'),
  }
  const answer = await fetch(url, { method: 'POST', body: form, headers })
  expect(answer.status).toBe(401)
  expect(existsSync(path.join(imports(), 'basemaps/world/forged'))).toBe(false)
})

/** Appends the end of a zip64 archive (APPNOTE 4.3.14), which names the position of its directory and its number of entries. */
function zip64(archive: Buffer, entries: bigint, directoryAt: bigint): Buffer {
  const front = archive.subarray(0, archive.length - 22)
  const end = Buffer.alloc(56)
  end.writeUInt32LE(0x06064b50)
  end.writeBigUInt64LE(44n, 4)
  for (const [value, at] of [
    [entries, 24],
    [entries, 32],
    [100n, 40],
    [directoryAt, 48],
  ] as const)
    end.writeBigUInt64LE(value, at)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50)
  locator.writeBigUInt64LE(BigInt(front.length), 8)
  locator.writeUInt32LE(1, 16)
  const last = Buffer.alloc(22, 0xff)
  last.writeUInt32LE(0x06054b50)
  last.writeUInt16LE(0, 20)
  return Buffer.concat([front, end, locator, last])
}

describe('is refused, and leaves nothing behind:', () => {
  const refused: [string, () => Promise<{ status: number; body: Record<string, unknown> }>, number, RegExp][] = [
    [
      'no token',
      async () => send(worldEvent('x'), await zip({}), { authorization: 'Bearer wrong wrong wrong' }),
      401,
      /IMPORT_TOKEN/,
    ],
    ['no archive', () => send(worldEvent('x'), null), 400, /archive/],
    ['an event of another kind', async () => send({ event: 'tile.job.finished' }, await zip({})), 400, /event/],
    ['no zip', () => send(worldEvent('x'), Buffer.from('not a zip at all')), 400, /not a zip/],
    ['an empty zip', async () => send(worldEvent('x'), await zip({})), 400, /empty/],
    [
      'a file that does not belong',
      async () => send(worldEvent('x'), await zip({ 'world/x/run.sh': '#' })),
      400,
      /does not belong/,
    ],
    [
      'a climbing name',
      async () => {
        const archive = (await zip({ 'world/x/0/0/0.png': PNG })).toString('latin1')
        return send(
          worldEvent('x'),
          Buffer.from(archive.replaceAll('world/x/0/0/0.png', 'world/x/../../a.p'), 'latin1'),
        )
      },
      400,
      /invalid relative path/,
    ],
    [
      'two storages at once',
      async () => send(worldEvent('x'), await zip({ 'world/x/0/0/0.png': PNG, 'world/x.mbtiles': 'm' })),
      400,
      /more than one storage/,
    ],
    ['a symbolic link', async () => send(worldEvent('x'), await zip({}, '/etc/passwd')), 400, /link/],
    [
      'a bomb',
      async () => send(worldEvent('x'), await zip({ 'world/x/0/0/0.png': Buffer.alloc(50_000_000) })),
      400,
      /larger than 2000000 bytes when unpacked/,
    ],
    [
      'an entry that is larger than it says',
      async () => {
        const archive = await zip({ 'world/x/0/0/0.png': Buffer.alloc(50_000_000) })
        // The uncompressed size in the central directory, the only part that was examined.
        const central = archive.indexOf(Buffer.from('504b0102', 'hex'))
        archive.writeUInt32LE(1000, central + 24)
        return send(worldEvent('x'), archive)
      },
      400,
      /too many bytes/,
    ],
    [
      'a damaged file',
      async () => {
        const archive = await zip({ 'world/x/0/0/0.png': PNG })
        archive.writeUInt32LE(1, archive.indexOf(Buffer.from('504b0102', 'hex')) + 16)
        return send(worldEvent('x'), archive)
      },
      400,
      /damaged/,
    ],
    [
      'a directory that declares more entries than an archive may have',
      async () => send(worldEvent('x'), zip64(await zip({ 'world/x/0/0/0.png': PNG }), 2n ** 60n, 0n)),
      400,
      /more than 5000000 files/,
    ],
    [
      'a directory at a position that no file has',
      async () => send(worldEvent('x'), zip64(await zip({ 'world/x/0/0/0.png': PNG }), 1n, 2n ** 62n)),
      400,
      /position|range/,
    ],
    ['one name twice', async () => send(worldEvent('x'), await twice()), 400, /twice/],
    [
      'tiles that are none',
      async () => send(worldEvent('x'), await zip({ 'world/x/metadata.json': '{}' })),
      400,
      /no tiles/,
    ],
    ['too large a body', async () => send(worldEvent('x'), Buffer.alloc(MAX_BYTES + 1)), 413, /larger than/],
    [
      'JSON',
      async () => {
        const answer = await fetch(url, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        })
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
      },
      415,
      /multipart/,
    ],
  ]
  test.each(refused)('%s', async (_name, request, status, message) => {
    const answer = await request()
    expect(answer.body.error).toMatch(message)
    expect(answer.status).toBe(status)
    expect(existsSync(path.join(imports(), 'basemaps/world/x'))).toBe(false)
  })

  async function twice(): Promise<Buffer> {
    const archive = new ZipArchive({ store: true })
    for (const text of ['a', 'b']) archive.append(Buffer.from(text), { name: 'world/x/0/0/0.png' })
    void archive.finalize()
    return buffer(archive)
  }

  test('a code that belongs to another scan source', async () => {
    const sql = receiver.ctx.sql
    await sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('mine', 'm', 'basemap', '/m')`
    await sql`INSERT INTO basemaps (code, name, tile_base_url, source_code) VALUES ('owned', 'o', 'http://h', 'mine')`
    const answer = await send(worldEvent('x', 'owned'), await zip({ 'owned/x/0/0/0.png': PNG }))
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('mine') } })
  })
})

test('the path does not exist without IMPORT_TOKEN', async () => {
  const answer = await sender.app.inject({
    method: 'POST',
    url: '/api/v1/import',
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  expect(answer.statusCode).toBe(404)
})

describe('guesses of the credential', () => {
  /** Uses a separate address, so that no other test is slowed down. */
  const guess = (localAddress: string, headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; retryAfter: string | undefined }>((resolve, reject) => {
      const asked = request(
        url,
        { method: 'POST', localAddress, headers: { via: 'a proxy', ...headers } },
        (answer) => {
          answer.resume()
          resolve({ status: answer.statusCode, retryAfter: answer.headers['retry-after'] })
        },
      )
      asked.on('error', reject)
      asked.end()
    })
  const proof = (n: number) => ({
    'webhook-id': 'a',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-proof': `v1,${n}`,
  })

  test.each([
    ['127.0.0.2', (n: number) => ({ authorization: `Bearer ${n}` })],
    ['127.0.0.3', proof],
  ])('from %s are slowed down after ten, also for the right one, and no other caller is', async (address, headers) => {
    for (let n = 0; n < 10; n++) expect((await guess(address, headers(n))).status).toBe(401)
    const slowed = await guess(address, headers(10))
    expect(slowed.status).toBe(429)
    expect(Number(slowed.retryAfter)).toBeGreaterThan(0)
    expect((await guess(address, { authorization: `Bearer ${TOKEN}` })).status).toBe(429)
    expect((await guess('127.0.0.4', { authorization: `Bearer ${TOKEN}` })).status).toBe(415)
  })

  test('missing credentials, and repeated wrong ones, do not count as guesses', async () => {
    for (let n = 0; n < 12; n++) {
      expect((await guess('127.0.0.5', {})).status).toBe(401)
      expect((await guess('127.0.0.5', { authorization: 'Bearer outdated' })).status).toBe(401)
    }
  })
})
