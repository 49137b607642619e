import { listOf } from '@gateway/contracts/common.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import Fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import type { App } from './app-type.js'
import { registerBoundedLists } from './bounded-lists.js'

const MANY = 3_000
/** Size above which a response depends on the amount of stored data. */
const LARGE_BYTES = 64 * 1024

let gateway: TestApp
let token: string
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  token = createToken()
  const { sql } = gateway.store
  await sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('maps', 'Maps', 'basemap', '/maps'), ('files', 'Files', 'vector', '/files')`
  await sql`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    SELECT 'map-' || n, 'Map ' || n, 'http://tiles.example', 'maps' FROM generate_series(1, ${MANY}::int) AS n`
  await sql`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint)
    SELECT code, 'v1', 'xyz', 'png', 'png', 256, 0, 4, '/maps/' || code, 'f' FROM basemaps`
  await sql`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, path, fingerprint)
    SELECT 'map-1', 'w' || n, 'xyz', 'png', 'png', 256, 0, 4, '/maps/map-1/' || n, 'f' FROM generate_series(1, ${MANY}::int) AS n`
  await sql`
    INSERT INTO vectors (code, name, kind, relative_path, file_name, path, size, modified_at, fingerprint, source_code)
    SELECT 'file-' || n, 'File ' || n, 'geojson', n || '.geojson', n || '.geojson', '/files/' || n, 1, now(), 'f', 'files'
    FROM generate_series(1, ${MANY}::int) AS n`
  await sql`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
    SELECT 'many', 'bmp_' || n, sha256(n::text::bytea), '{*}', '{*}', '{read}' FROM generate_series(1, ${MANY}::int) AS n`
  await sql`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
    VALUES ('mine', ${token.slice(0, 12)}, ${tokenDigest(token)}, '{*}', '{*}', '{read,slice}')`
  await sql`
    INSERT INTO audit (actor, address, action, subject, detail)
    SELECT 'ann', '::1', 'many', 'n' || n, '{}' FROM generate_series(1, ${MANY}::int) AS n`
})
afterAll(() => gateway.close())

interface Operation {
  readonly responses?: Readonly<Record<string, unknown>>
}

test('every large response of the control plane over a large catalog is limited, or built once', async () => {
  const { paths } = gateway.app.swagger() as { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }
  const values: Readonly<Record<string, string>> = { code: 'map-1', version: 'v1' }
  const large: string[] = []
  const unbounded: string[] = []
  for (const [path, item] of [...Object.entries(paths), ['/api/v1/openapi.json', { get: {} }] as const]) {
    const isStream = JSON.stringify(item.get?.responses ?? '').includes('event-stream')
    if (item.get === undefined || isStream || !path.startsWith('/api/')) continue
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1')
    const headers = path.startsWith('/api/v1/admin/') ? {} : { authorization: `Bearer ${token}` }
    const answer = await gateway.admin({ url, headers })
    if (answer.rawPayload.length <= LARGE_BYTES) continue
    large.push(path)
    if (!gateway.app.boundedLists.has(path.replaceAll(/\{(\w+)\}/g, ':$1'))) unbounded.push(path)
  }
  // An export is read and written in parts, at the speed of its reader; the document is built and compressed once (kept-text.ts).
  expect(unbounded).toEqual(['/api/v1/admin/audit/export', '/api/v1/openapi.json'])
  expect(large).toEqual(
    expect.arrayContaining(['/api/v1/catalog/basemaps', '/api/v1/admin/basemaps', '/api/v1/admin/tokens']),
  )
})

test('the OpenAPI document has an ETag, and returns 304 to clients that have it', async () => {
  const url = '/api/v1/openapi.json'
  const plain = await gateway.app.inject({ url })
  for (const encoding of ['br', 'gzip']) {
    const packed = await gateway.app.inject({ url, headers: { 'accept-encoding': encoding } })
    expect(packed.headers).toMatchObject({ 'content-encoding': encoding, etag: plain.headers.etag })
    expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3)
  }
  const known = await gateway.app.inject({ url, headers: { 'if-none-match': String(plain.headers.etag) } })
  expect([known.statusCode, known.rawPayload.length]).toEqual([304, 0])
})

/** An application whose list waits until the test releases it. */
function waitingApp() {
  const app = Fastify() as unknown as App
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  registerBoundedLists(app)
  const begun: (() => void)[] = []
  const item = z.object({ n: z.number() })
  app.get('/list', { schema: { response: { 200: listOf(item) } } }, async () => {
    await new Promise<void>((resolve) => begun.push(resolve))
    return { items: [{ n: 1 }], total: 1 }
  })
  app.get('/one', { schema: { response: { 200: item } } }, async () => ({ n: 1 }))
  return { app, begun }
}

test('a limited number of lists is built at once, a limited number waits, and the rest is refused', async () => {
  const { app, begun } = waitingApp()
  const answers = Array.from({ length: 200 }, () => app.inject({ url: '/list' }))
  await expect.poll(() => begun.length).toBe(8)
  // Other responses do not wait.
  expect((await app.inject({ url: '/one' })).statusCode).toBe(200)
  const release = setInterval(() => begun.shift()?.(), 1)
  const all = await Promise.all(answers)
  clearInterval(release)
  const refused = all.filter(({ statusCode }) => statusCode === 429)
  expect(refused).toHaveLength(200 - 8 - 100)
  expect(refused[0]?.headers['retry-after']).toBe('2')
  expect(refused[0]?.json()).toEqual({ error: expect.stringContaining('too many lists') })
  expect(all.filter(({ statusCode }) => statusCode === 200)).toHaveLength(108)
  await app.close()
})

test('a list whose handler fails frees its slot', async () => {
  const app = Fastify() as unknown as App
  app.setSerializerCompiler(serializerCompiler)
  registerBoundedLists(app)
  app.get('/list', { schema: { response: { 200: listOf(z.object({})) } } }, async () => {
    throw new Error('no store')
  })
  for (let i = 0; i < 20; i++) expect((await app.inject({ url: '/list' })).statusCode).toBe(500)
  await app.close()
})
