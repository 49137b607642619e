import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { SignedUrl } from '@gateway/contracts/signed-url.js'
import { openedBy, type PresentedSignature, presentedSignature } from '@gateway/core/access/signed-url.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { readSigningSecret, readSigningSecrets } from '@gateway/store/signing-keys.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillCatalog } from '../testing/catalog.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const home = mkdtempSync(path.join(tmpdir(), 'gateway-signing-'))
const EXPIRES = '2031-01-02T03:04:05.678Z'
let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
  await fillCatalog(gateway.store.sql, home)
})
afterAll(async () => {
  await gateway.close()
  rmSync(home, { recursive: true, force: true })
})

const sign = (payload: object) => gateway.admin({ method: 'POST', url: '/api/v1/admin/signed-urls', payload })

async function tokenWith(more: object): Promise<string> {
  const payload = { name: 'signs', scopes: ['sign'], basemap_codes: ['world'], ...more }
  return (await gateway.admin({ method: 'POST', url: '/api/v1/admin/tokens', payload })).json().token
}

const signBy = (token: string, payload: object) =>
  gateway.app.inject({
    method: 'POST',
    url: '/api/v1/catalog/signed-urls',
    payload,
    headers: { 'x-access-token': token },
  })

const presentedIn = (address: string) => presentedSignature(address.split('?')[1] ?? '') as PresentedSignature

test('the URLs of a version name its revision, and admit for the requested time', async () => {
  const signed = (await sign({ basemap_code: 'world', version: 'v1', expires_at: EXPIRES })).json() as SignedUrl
  expect(signed).toMatchObject({
    version: 'v1',
    bounds: null,
    expires_at: '2031-01-02T03:04:05.000Z',
    archive_url: null,
  })
  expect(signed.url_template).toMatch(
    /^http:\/\/127\.0\.0\.1:8910\/tiles\/world\/v1\/\{z\}\/\{x\}\/\{y\}\.png\?v=\d+&exp=1925089445&sig=[\w-]{43}$/,
  )
  expect(signed.tilejson_url).toMatch(/\/tiles\/world\/v1\/tilejson\.json\?exp=1925089445&sig=/)
  const secret = await readSigningSecret(gateway.store.sql)
  expect(openedBy(secret, presentedIn(signed.url_template), 'world', 'v1')).not.toBeNull()
})

test('the URLs of a basemap are those of current, and of its current archive', async () => {
  const signed = (await sign({ basemap_code: 'world', expires_at: EXPIRES })).json() as SignedUrl
  expect(signed.url_template).toContain('/tiles/world/current/{z}/{x}/{y}.png?exp=')
  expect(signed.archive_url).toMatch(/\/archives\/world\/v2\.mbtiles\?exp=\d+&sig=/)
  const bounded = (
    await sign({ basemap_code: 'world', expires_at: EXPIRES, bounds: [0, 0, 1.5, 2] })
  ).json() as SignedUrl
  expect([bounded.archive_url, bounded.url_template]).toEqual([null, expect.stringContaining('?bounds=0,0,1.5,2&exp=')])
})

test.each([
  ['no expiry', {}, 400],
  ['an expiry that is none', { expires_at: 'tomorrow' }, 400],
  ['no end', { expires_at: 0 }, 400],
  ['a year that no address can say', { expires_at: '9999-01-01' }, 400],
  ['bounds upside down', { expires_at: EXPIRES, bounds: [0, 2, 1, 1] }, 400],
  ['the alias', { expires_at: EXPIRES, version: 'current' }, 400],
  ['an unknown field', { expires_at: EXPIRES, code: 'world' }, 400],
  ['a version that is missing', { expires_at: EXPIRES, version: 'v9' }, 404],
  ['a basemap that is missing', { expires_at: EXPIRES, basemap_code: 'moon' }, 404],
])('%s is refused', async (_, body, status) => {
  expect((await sign({ basemap_code: 'world', ...body })).statusCode).toBe(status)
})

test('a token signs only what it is granted, with the required scope, and not beyond its own expiry', async () => {
  const body = { basemap_code: 'world', expires_at: '2031-01-02' }
  const token = await tokenWith({ expires_at: '2031-01-02' })
  expect((await signBy(token, body)).json()).toMatchObject({ basemap_code: 'world' })
  expect((await signBy(token, { ...body, expires_at: '2031-01-02T00:00:01' })).statusCode).toBe(400)
  expect((await signBy(await tokenWith({ scopes: ['read', 'slice'] }), body)).statusCode).toBe(403)
  // The response does not reveal if the basemap exists.
  for (const basemap_code of ['moon', 'mars'])
    expect((await signBy(token, { ...body, basemap_code })).statusCode).toBe(403)
  expect((await signBy('bmp_none', body)).statusCode).toBe(401)
})

test('a token with an area signs nothing beyond it, and its area is the default', async () => {
  const body = { basemap_code: 'world', expires_at: '2031-01-02' }
  const token = await tokenWith({ expires_at: '2032-01-01', bounds: [170, -20.12345678, -170, 20] })
  const signed = async (bounds?: number[]) => {
    const answer = await signBy(token, { ...body, ...(bounds && { bounds }) })
    return answer.statusCode === 200 ? answer.json().bounds : answer.statusCode
  }
  expect(await signed()).toEqual([170, -20.123456, -170, 20])
  expect(await signed([-180, -85, 180, 85])).toEqual([170, -20.123456, -170, 20])
  expect(await signed([160, 0, 175, 30])).toEqual([170, 0, 175, 20])
  expect(await signed([0, 0, 10, 10])).toBe(403)
  expect(await signed([-175, 0, 175, 10])).toBe(400)
  const { url_template: template } = (await signBy(token, body)).json()
  expect(presentedIn(template).bounds).toBe('170,-20.123456,-170,20')
})

test('a new key signs once edges have had the time to learn it, and the previous one stays valid for its grace', async () => {
  const { sql } = gateway.store
  const rotate = (payload: object) =>
    gateway.admin({ method: 'POST', url: '/api/v1/admin/signing-keys/rotate', payload })
  const [before, old] = [await currentState(sql), await readSigningSecret(sql)]
  const rotated = (await rotate({})).json()
  expect(rotated.items).toMatchObject([{ expires_at: null }, { expires_at: expect.any(String) }])
  expect(JSON.stringify(rotated)).not.toContain('secret')
  expect(await changesSince(sql, before)).toMatchObject({ changes: [{ kind: 'signing_key', key: '' }] })
  const [fresh] = await readSigningSecrets(sql)
  expect(await readSigningSecret(sql)).toEqual(old)
  await expect.poll(() => readSigningSecret(sql)).toEqual(fresh?.secret)
  await rotate({ grace_seconds: 0 })
  const secrets = await readSigningSecrets(sql)
  expect(secrets).toHaveLength(1)
  expect(await readSigningSecret(sql)).toEqual(secrets[0]?.secret)
  expect(secrets[0]?.secret).not.toEqual(fresh?.secret)
})
