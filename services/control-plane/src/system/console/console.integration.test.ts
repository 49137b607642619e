import { upsertBasemap } from '@gateway/store/basemaps.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, startTestApp, type TestApp } from '../../testing/test-app.js'

let gateway: TestApp
let url: string
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  await gateway.store.sql.begin(async (tx) => {
    await upsertScanSource(tx, { code: 's', kind: 'basemap', path: '/maps', name: undefined, enabled: undefined })
    await upsertBasemap(tx, { code: 'world', name: 'World', tileBaseUrl: 'http://tiles', sourceCode: 's' })
  })
})
afterAll(() => gateway.close())

const preview = (payload: object) =>
  gateway.admin({ method: 'POST', url: '/api/v1/admin/preview-token', payload: payload as never })

test('a preview token reads only its basemap, and is never listed or counted', async () => {
  const answer = await preview({ basemap_code: 'world' })
  expect(answer.statusCode).toBe(200)
  const { token, expires_at } = answer.json<{ token: string; expires_at: string }>()
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000)
  const seen = await gateway.app.inject({
    url: '/api/v1/catalog/basemaps/world',
    headers: { 'x-access-token': token },
  })
  expect(seen.statusCode).toBe(200)
  expect((await gateway.admin({ url: '/api/v1/admin/tokens' })).json()).toEqual({ items: [], total: 0 })
  const dashboard = (await gateway.admin({ url: '/api/v1/admin/dashboard' })).json()
  expect(dashboard.tokens).toEqual({ active: 0, expired: 0, disabled: 0, items: [] })
})

test('expired preview tokens are removed when another one is issued', async () => {
  await gateway.store.sql`UPDATE tokens SET expires_at = now() - interval '1 second' WHERE preview`
  await preview({ basemap_code: 'world' })
  const [left] = await gateway.store.sql<{ n: number }[]>`SELECT count(*) AS n FROM tokens WHERE preview`
  expect(left?.n).toBe(1)
})

test('a preview of nothing, of everything, or of two things at once is refused', async () => {
  expect((await preview({ basemap_code: 'nowhere' })).statusCode).toBe(404)
  expect((await preview({ basemap_code: '*' })).statusCode).toBe(404)
  expect((await preview({})).statusCode).toBe(400)
  expect((await preview({ basemap_codes: ['nowhere'] })).statusCode).toBe(404)
  expect((await preview({ basemap_codes: [] })).statusCode).toBe(400)
  expect((await preview({ basemap_code: 'world', vector_code: 'v' })).statusCode).toBe(400)
  expect((await preview({ vector_codes: ['nowhere'] })).statusCode).toBe(404)
  expect((await preview({ basemap_codes: ['world'], vector_codes: ['nowhere'] })).statusCode).toBe(200)
  expect((await preview({ vector_code: 'v', vector_codes: ['v'] })).statusCode).toBe(400)
})

test('an open console is notified of a token issued elsewhere, although no edge has to be', async () => {
  const stream = await fetch(`${url}/api/v1/admin/dashboard/live`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const reader = (stream.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  const heard = async (wanted: RegExp) => {
    let text = ''
    while (!wanted.test(text)) text += (await reader.read()).value ?? ''
  }
  await heard(/^event: watching\n/m)
  await gateway.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload: { name: 'someone' } })
  await heard(/^event: touched\ndata: \[.*"audit".*\]$/m)
  await gateway.store.sql`
    INSERT INTO exports (basemap_code, version, zoom_min, zoom_max, requested_by, status, finished_at)
    VALUES ('world', 'v', 0, 1, 'somebody', 'failed', now())`
  await heard(/^event: touched\ndata: \[.*"exports".*\]$/m)
  await reader.cancel()
})

test('settings are shown without secrets, and traffic with its start', async () => {
  const settings = await gateway.admin({ url: '/api/v1/admin/settings' })
  expect(settings.body).not.toContain(ADMIN_TOKEN)
  const traffic = (await gateway.admin({ url: '/api/v1/admin/dashboard/traffic' })).json()
  expect(Date.parse(traffic.since)).toBeLessThanOrEqual(Date.now())
})

test('one token previews the basemaps of a list, without missing ones', async () => {
  const answer = await preview({ basemap_codes: ['world', 'nowhere'] })
  expect(answer.statusCode).toBe(200)
  const [issued] = await gateway.store.sql<{ codes: string[] }[]>`
    SELECT basemap_codes AS codes FROM tokens WHERE preview AND name = 'preview of world' ORDER BY created_at DESC LIMIT 1`
  expect(issued?.codes).toEqual(['world'])
})
