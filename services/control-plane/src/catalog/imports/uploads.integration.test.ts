import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ZipArchive } from 'archiver'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const LAKES = JSON.stringify({
  type: 'FeatureCollection',
  features: [{ type: 'Feature', properties: { name: 'Lake' }, geometry: { type: 'Point', coordinates: [8, 53] } }],
})
const ADMIN = '/api/v1/admin'

let home: string
let gateway: TestApp

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'uploads-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { DATA_DIR: home, IMPORT_MAX_BYTES: '100000' })
})
afterAll(async () => {
  await gateway.close()
  rmSync(home, { recursive: true })
})

async function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object | Buffer) {
  const isBytes = Buffer.isBuffer(body)
  const response = await gateway.admin({
    method,
    url: `${ADMIN}${url}`,
    ...(body !== undefined && {
      headers: { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' },
      payload: isBytes ? body : JSON.stringify(body),
    }),
  })
  return { status: response.statusCode, body: response.body === '' ? null : response.json() }
}

async function sent(content: Buffer | string): Promise<string> {
  const { id } = (await call('POST', '/uploads')).body
  await call('PUT', `/uploads/${id}/content?offset=0`, Buffer.from(content))
  return id
}
const kept = () => readdirSync(path.join(home, 'imports')).filter((name) => name.startsWith('.upload-'))

test('a file that comes in parts continues where it was interrupted, and becomes a vector', async () => {
  const content = Buffer.from(LAKES)
  const { body: begun, status } = await call('POST', '/uploads')
  expect([status, begun.received]).toEqual([201, 0])
  const at = (offset: number) => `/uploads/${begun.id}/content?offset=${offset}`
  expect((await call('PUT', at(0), content.subarray(0, 40))).body.received).toBe(40)
  expect(await call('PUT', at(10), content.subarray(10, 50))).toMatchObject({ status: 409 })
  const target = { kind: 'vector', file: 'lakes.geojson', bytes: content.length, code: 'lakes' }
  expect(await call('POST', `/uploads/${begun.id}/import`, target)).toMatchObject({ status: 409 })
  expect((await call('GET', `/uploads/${begun.id}`)).body.received).toBe(40)
  expect((await call('PUT', at(40), content.subarray(40))).body.received).toBe(content.length)
  expect(await call('POST', `/uploads/${begun.id}/import`, target)).toMatchObject({
    status: 200,
    body: { kind: 'vector', code: 'lakes', version: null },
  })
  expect((await call('GET', '/vectors/lakes')).body).toMatchObject({ available: true, source_code: 'imports-vectors' })
  expect(await call('GET', `/uploads/${begun.id}`)).toMatchObject({ status: 404 })
  expect(kept()).toEqual([])
})

test('a refused file stays until it is deleted, and leaves nothing in the catalog', async () => {
  const id = await sent('no tiles')
  const target = { kind: 'basemap', file: 'a.mbtiles', bytes: 8, code: 'town', version: '1' }
  expect(await call('POST', `/uploads/${id}/import`, target)).toMatchObject({ status: 400 })
  expect(await call('POST', `/uploads/${id}/import`, { ...target, file: 'a.exe' })).toMatchObject({ status: 400 })
  expect(await call('POST', `/uploads/${id}/import`, { ...target, version: '../1' })).toMatchObject({ status: 400 })
  expect(await call('GET', '/basemaps/town')).toMatchObject({ status: 404 })
  expect((await call('GET', `/uploads/${id}`)).body.received).toBe(8)
  expect((await call('DELETE', `/uploads/${id}`)).status).toBe(200)
  expect(kept()).toEqual([])
})

test('a style document becomes a style, and a zip without a shapefile is refused', async () => {
  const style = JSON.stringify({ version: 8, name: 'Town', sources: {}, layers: [] })
  const id = await sent(style)
  const target = { kind: 'style', file: 'style.json', bytes: style.length, code: 'town' }
  expect(await call('POST', `/uploads/${id}/import`, target)).toMatchObject({ status: 200, body: { code: 'town' } })
  const zip = new ZipArchive()
  zip.append('x', { name: 'readme.txt' })
  void zip.finalize()
  const content = await buffer(zip)
  const other = await sent(content)
  const vector = { kind: 'vector', file: 'roads.zip', bytes: content.length, code: 'roads' }
  const refused = await call('POST', `/uploads/${other}/import`, vector)
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('one shapefile') } })
  await call('DELETE', `/uploads/${other}`)
})

test('a part that would exceed the limit is refused', async () => {
  const id = await sent('')
  expect(await call('PUT', `/uploads/${id}/content?offset=0`, Buffer.alloc(100_001))).toMatchObject({ status: 413 })
  await call('DELETE', `/uploads/${id}`)
})
