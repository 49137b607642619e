import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Export } from '@gateway/contracts/export.js'
import { coded } from '@gateway/contracts/messages.js'
import { claimExport, finishExport } from '@gateway/store/exports.js'
import { PMTiles } from 'pmtiles'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../deliveries/testing/receiver.js'
import { parseForm, unzip } from '../deliveries/testing/unpack.js'
import { deliveries } from '../features.js'
import { fillCatalog } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { exportLoop, removeOldExports } from './loop.js'

const URL = '/api/v1/admin/exports'
const ID = '00000000-0000-4000-8000-000000000001'
let home: string
let gateway: TestApp
let loops: Promise<unknown>
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'exports-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: home, RETRY_WAITS: '0.05' })
  await fillCatalog(gateway.ctx.sql, home)
  loops = Promise.all([exportLoop.run(gateway.ctx), deliveries.run(gateway.ctx)])
})
afterAll(async () => {
  await gateway.close()
  await loops
  rmSync(home, { recursive: true })
})

const ask = (method: 'GET' | 'POST' | 'DELETE' | 'HEAD', url: string, payload?: object, headers = {}) =>
  gateway.admin({ method, url, headers, ...(payload && { payload }) })
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736'
const create = async (more: object = {}): Promise<Export> => {
  const headers = { traceparent: `${TRACE}-00f067aa0ba902b7-01` }
  const answer = await ask('POST', URL, { basemap_code: 'world', version: 'v1', ...more }, headers)
  expect(answer.statusCode, answer.body).toBe(202)
  return answer.json()
}
const ended = async ({ id }: Export): Promise<Export> => {
  await expect.poll(async () => (await ask('GET', `${URL}/${id}`)).json().finished_at).not.toBeNull()
  return (await ask('GET', `${URL}/${id}`)).json()
}
const fileOf = ({ id }: Export) => path.join(home, 'exports', `${id}.pmtiles`)
const written = async (more: object = {}) => {
  const one = await ended(await create(more))
  expect(one.message).toBe('')
  return one
}

test('a part of a version is written as an archive that is downloaded by ranges', async () => {
  const requested = await create({ bounds: [1, 1, 179, 60], zoom_min: 0, zoom_max: 9 })
  expect(requested).toMatchObject({ status: 'pending', zoom_min: 2, zoom_max: 2, download_url: null })
  const done = await ended(requested)
  expect(done).toMatchObject({ status: 'succeeded', progress: 100, tiles: 2, requested_by: 'token' })
  const file = `${URL}/${done.id}/file`
  expect(done.download_url).toBe(`http://127.0.0.1:8910${file}`)
  const whole = await ask('GET', file)
  expect(whole.headers).toMatchObject({
    'content-type': 'application/vnd.pmtiles',
    'content-length': String(done.bytes),
    'content-disposition': 'attachment; filename="world-v1.pmtiles"',
    'accept-ranges': 'bytes',
  })
  const head = await ask('HEAD', file)
  expect([head.statusCode, head.headers['content-length'], head.rawPayload.length]).toEqual([200, `${done.bytes}`, 0])
  const range = await ask('GET', file, undefined, { range: 'bytes=0-6' })
  expect([range.statusCode, range.body, range.headers['content-range']]).toEqual([
    206,
    'PMTiles',
    `bytes 0-6/${done.bytes}`,
  ])
  const beyond = await ask('GET', file, undefined, { range: 'bytes=99999999-' })
  expect([beyond.statusCode, beyond.json()]).toEqual([416, { error: expect.any(String) }])
  expect(beyond.headers['content-range']).toBe(`bytes */${done.bytes}`)
  const archive = new PMTiles({
    getKey: () => 'export',
    getBytes: async (offset, length) => ({
      data: Uint8Array.from(whole.rawPayload.subarray(offset, offset + length)).buffer,
    }),
  })
  expect(await archive.getMetadata()).toMatchObject({ name: 'World', version: 'v1' })
  const tile = await archive.getZxy(2, 3, 1)
  expect(
    Buffer.from(tile?.data ?? new ArrayBuffer()).equals(readFileSync(path.join(home, 'maps/world/v1/2/3/1.png'))),
  ).toBe(true)
  expect(await archive.getZxy(2, 3, 2)).toBeUndefined()
})

test.each([
  ['mbtiles', 'application/vnd.sqlite3', 'SQLite format 3'],
  ['gpkg', 'application/geopackage+sqlite3', 'SQLite format 3'],
  ['tpkx', 'application/octet-stream', 'PK\x03\x04'],
] as const)('an export as %s is downloaded under that extension, and pushed', async (format, type, magic) => {
  const target = path.join(home, `target-${format}`)
  mkdirSync(target)
  await ask('POST', '/api/v1/admin/targets', { code: format, kind: 'directory', path: target })
  const done = await written({ format, target_code: format })
  expect(done).toMatchObject({ format, tiles: 16 })
  const whole = await ask('GET', `${URL}/${done.id}/file`)
  expect(whole.headers).toMatchObject({
    'content-type': type,
    'content-length': String(done.bytes),
    'content-disposition': `attachment; filename="world-v1.${format}"`,
  })
  expect(whole.rawPayload.subarray(0, magic.length).toString('latin1')).toBe(magic)
  const place = path.join(target, `world/v1.${format}`)
  await expect.poll(() => existsSync(place)).toBe(true)
  await ask('DELETE', `${URL}/${done.id}`)
  expect(readdirSync(path.join(home, 'exports'))).not.toContain(`${done.id}.${format}`)
})

test('an export from an older version contains the differences, and lists removals', async () => {
  const folder = path.join(home, 'maps/world/v3')
  cpSync(path.join(home, 'maps/world/v1'), folder, { recursive: true })
  writeFileSync(path.join(folder, '2/0/0.png'), 'another')
  rmSync(path.join(folder, '2/1/1.png'))
  const { sql } = gateway.ctx
  await sql`
    INSERT INTO basemap_versions SELECT (jsonb_populate_record(v, jsonb_build_object('version', 'v3', 'path', ${folder}::text))).*
    FROM basemap_versions v WHERE basemap_code = 'world' AND version = 'v1'`
  const done = await written({ version: 'v3', from_version: 'v1' })
  expect(done).toMatchObject({ version: 'v3', from_version: 'v1', tiles: 1, target_code: null })
  const file = await ask('GET', `${URL}/${done.id}/file`)
  expect(file.headers['content-disposition']).toBe('attachment; filename="world-v3-from-v1.pmtiles"')
  const archive = new PMTiles({
    getKey: () => 'delta',
    getBytes: async (offset, length) => ({
      data: Uint8Array.from(file.rawPayload.subarray(offset, offset + length)).buffer,
    }),
  })
  expect(Buffer.from((await archive.getZxy(2, 0, 0))?.data ?? new ArrayBuffer()).toString()).toBe('another')
  expect(await archive.getMetadata()).toMatchObject({
    version: 'v3',
    delta: { from_version: 'v1', to_version: 'v3', from_tiles: 16, to_tiles: 15, removed: [[2, 1, 1]] },
  })
  const status = async (body: object) =>
    (await ask('POST', URL, { basemap_code: 'world', version: 'v3', ...body })).statusCode
  expect(await status({ from_version: 'v9' })).toBe(404)
  expect(await status({ from_version: 'v3' })).toBe(400)
  expect(await status({ from_version: '' })).toBe(400)
  expect(await status({ from_version: 'v1', format: 'gpkg' })).toBe(400)
  await ask('POST', '/api/v1/admin/targets', { code: 'there', kind: 'directory', path: path.join(home, 'there') })
  expect(await status({ from_version: 'v1', target_code: 'there' })).toBe(400)
  await sql`DELETE FROM basemap_versions WHERE basemap_code = 'world' AND version = 'v3'`
})

test.each([
  ['two formats', { formats: ['png', 'jpg'] }, '.jpg'],
  ['two extensions', { extension: 'png,PNG' }, '.PNG'],
])('an export of a folder with tiles of %s contains all of them', async (_, facts, extension) => {
  const version = `v${extension}`
  const folder = path.join(home, 'maps/world', version)
  cpSync(path.join(home, 'maps/world/v1'), folder, { recursive: true })
  renameSync(path.join(folder, '2/0/0.png'), path.join(folder, `2/0/0${extension}`))
  const { sql } = gateway.ctx
  await sql`
    INSERT INTO basemap_versions SELECT (jsonb_populate_record(v, ${sql.json({ ...facts, version, path: folder })})).*
    FROM basemap_versions v WHERE basemap_code = 'world' AND version = 'v1'`
  expect(await written({ version })).toMatchObject({ tiles: 16 })
  await sql`DELETE FROM basemap_versions WHERE basemap_code = 'world' AND version = ${version}`
})

test('an invalid export is refused, and an unreadable version fails with the reason', async () => {
  const status = async (body: object) =>
    (await ask('POST', URL, { basemap_code: 'world', version: 'v1', ...body })).statusCode
  expect(await status({ basemap_code: 'nowhere' })).toBe(404)
  expect(await status({ version: 'v9' })).toBe(404)
  expect(await status({ target_code: 'nobody' })).toBe(404)
  await ask('POST', '/api/v1/admin/targets', { code: 'cache', kind: 'purge', url: 'http://cache.example/' })
  expect(await status({ target_code: 'cache' })).toBe(400)
  expect(await status({ zoom_min: 3 })).toBe(400)
  expect(await status({ bounds: [0, 10, 10, 0] })).toBe(400)
  expect(await status({ zoom: 1 })).toBe(400)
  expect(await status({ format: 'zip' })).toBe(400)
  const { message, status: end } = await ended(await create({ version: 'v2' }))
  expect([end, message]).toEqual(['failed', 'this is not an SQLite database'])
  expect((await ask('GET', `${URL}/${ID}`)).statusCode).toBe(404)
  expect((await ask('GET', `${URL}/${ID}/file`)).statusCode).toBe(404)
})

test('the archive is pushed to a directory and by upload, and the push fails once the export is removed', async () => {
  const target = path.join(home, 'target')
  mkdirSync(target)
  await ask('POST', '/api/v1/admin/targets', { code: 'disk', kind: 'directory', path: target })
  const done = await written({ target_code: 'disk' })
  const place = path.join(target, 'world/v1.pmtiles')
  await expect.poll(() => existsSync(place)).toBe(true)
  expect(readFileSync(place).equals(readFileSync(fileOf(done)))).toBe(true)
  const record = () => ask('GET', `/api/v1/admin/push-records/${done.push_id}`)
  await expect.poll(async () => (await record()).json().status).toBe('succeeded')
  const pushed = { basemap_code: 'world', version: 'v1', export_id: done.id }
  const part = { bounds: null, zoom_min: done.zoom_min, zoom_max: done.zoom_max }
  expect((await record()).json()).toMatchObject({ ...pushed, export: part })
  expect((await ask('GET', '/api/v1/admin/push-records')).json().items[0]).toMatchObject({ ...pushed, export: part })

  const receiver = await startReceiver()
  await ask('POST', '/api/v1/admin/targets', { code: 'far', kind: 'http', url: receiver.url, mode: 'upload' })
  const sent = await written({ target_code: 'far', zoom_max: 2 })
  await expect.poll(() => receiver.received.length).toBe(1)
  const [upload] = receiver.received
  // The trace of the request for the export.
  expect(upload!.headers.traceparent).toContain(TRACE)
  const form = await parseForm(Buffer.from(upload!.body, 'latin1'), String(upload!.headers['content-type']))
  expect(JSON.parse(form.event!.toString())).toMatchObject({
    event: 'basemap.version.pushed',
    export: { id: sent.id, bounds: null, zoom_min: 2, zoom_max: 2, tiles: 16, bytes: sent.bytes },
  })
  expect((await unzip(form.archive!))['world/v1.pmtiles']).toEqual(readFileSync(fileOf(sent)))
  await receiver.close()

  expect((await ask('DELETE', `${URL}/${done.id}`)).statusCode).toBe(200)
  expect(existsSync(fileOf(done))).toBe(false)
  await ask('POST', `/api/v1/admin/push-records/${done.push_id}/retry`)
  await expect
    .poll(async () => (await record()).json())
    .toMatchObject({
      ...pushed,
      export: null,
      message: 'the export was removed',
    })
})

test('an export whose process died is written again, and the late process records nothing', async () => {
  const { sql } = gateway.ctx
  const first = await written()
  const digest = (one: Export) =>
    createHash('sha256')
      .update(readFileSync(fileOf(one)))
      .digest('hex')
  const [row] = await sql`
    INSERT INTO exports (basemap_code, version, zoom_min, zoom_max, requested_by, status, lease_owner, lease_until, fence)
    VALUES ('world', 'v1', 2, 2, 'token', 'running', ${ID}, now() - interval '1 second', 1) RETURNING id`
  const { id } = row as { id: string }
  mkdirSync(path.join(home, `exports/.${id}-1.tmp`))
  await sql`SELECT pg_notify('gateway_exports', '')`
  const done = await ended({ id } as Export)
  expect(done).toMatchObject({ status: 'succeeded', tiles: 16 })
  expect(digest(done)).toBe(digest(first))
  expect(readdirSync(path.join(home, 'exports')).filter((name) => name.endsWith('.tmp'))).toEqual([])
  const late = await sql.begin((tx) =>
    finishExport(tx, { id, owner: ID, fence: 1 }, { failed: coded('export_room_full') }),
  )
  expect(late).toBeNull()
  expect(await claimExport(sql, ID, 10)).toBeNull()
})

test('expired exports are removed, together with files without a record', async () => {
  const { sql } = gateway.ctx
  const [old, kept] = [await written(), await written()]
  await sql`UPDATE exports SET finished_at = now() - interval '8 days' WHERE id = ${old.id}`
  writeFileSync(fileOf({ id: ID } as Export), 'left')
  await removeOldExports(gateway.ctx)
  const names = readdirSync(path.join(home, 'exports'))
  expect(names).toContain(`${kept.id}.pmtiles`)
  for (const gone of [old.id, ID]) expect(names).not.toContain(`${gone}.pmtiles`)
  expect((await ask('GET', `${URL}/${old.id}`)).statusCode).toBe(404)
})

test('an export that would not fit in addition to the others fails, and names the relevant setting', async () => {
  await gateway.ctx.sql`
    INSERT INTO exports (basemap_code, version, zoom_min, zoom_max, requested_by, status, bytes, finished_at)
    VALUES ('world', 'v1', 2, 2, 'token', 'succeeded', ${20 * 2 ** 30}, now())`
  const { status, message } = await ended(await create())
  expect([status, message]).toEqual(['failed', expect.stringContaining('EXPORT_MAX_BYTES')])
})
