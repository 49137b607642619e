import { expect, test } from 'vitest'
import { ADMIN_PASSWORD, ADMIN_USER } from '../harness/gateway.js'
import { useMaps } from './maps.js'
import { rawRequest } from './raw-request.js'

const maps = useMaps()
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const ADMIN_PATHS = [
  '/api/v1/admin/tokens',
  '/api/v1/admin/basemaps',
  '/api/v1/admin/dashboard',
  '/admin/',
  '/admin/docs',
]

test('admin routes accept only Basic and Bearer credentials', async () => {
  for (const path of ADMIN_PATHS) {
    const status = async (authorization?: string) =>
      (await maps().get(path, authorization === undefined ? {} : { Authorization: authorization })).status
    expect([path, await status()]).toEqual([path, 401])
    expect([path, await status(basic(ADMIN_USER, ADMIN_PASSWORD))]).toEqual([path, 200])
    expect([path, await status(`Bearer ${maps().gateway.adminToken}`)]).toEqual([path, 200])
  }
})

test('wrong credentials and service tokens get 401 in the error form', async () => {
  const { token } = await maps().gateway.issueToken({ basemap_codes: ['*'] })
  for (const authorization of [
    basic(ADMIN_USER, 'wrong'),
    basic('other', ADMIN_PASSWORD),
    'Bearer wrong',
    `Bearer ${token}`,
  ]) {
    const answer = await maps().get('/api/v1/admin/tokens', { Authorization: authorization })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/Basic/)
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  }
})

test('unknown admin paths reveal nothing to callers without credentials', async () => {
  expect((await maps().get('/api/v1/admin/nothing-here')).status).toBe(401)
  const { status, body } = await maps().gateway.admin.call('/nothing-here')
  expect(status).toBe(404)
  expect(body).toEqual({ error: expect.any(String) })
})

test('a request from loopback with a forwarding header and no trusted proxy counts as remote', async () => {
  const names = [
    'X-Forwarded-For',
    'Forwarded',
    'X-Real-IP',
    'X-Envoy-External-Address',
    'X-Forwarded-By',
    'Fastly-Client-IP',
  ]
  for (const header of [...names, 'X-Forwarded-Client-Cert', 'CDN-Loop', 'X-Azure-ClientIP', 'X-Anything-Client-IP']) {
    const value = header === 'Forwarded' ? 'for=127.0.0.1' : '127.0.0.1'
    const answer = await maps().get('/api/v1/admin/tokens', {
      Authorization: `Bearer ${maps().gateway.adminToken}`,
      [header]: value,
    })
    expect([header, answer.status]).toEqual([header, 403])
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  }
})

test('headers that the edge sends to the control plane are ignored if a caller sends them', async () => {
  for (const url of [maps().gateway.url, maps().gateway.controlPlane.url]) {
    const answer = await fetch(`${url}/api/v1/admin/tokens`, {
      headers: {
        Authorization: `Bearer ${maps().gateway.adminToken}`,
        'X-Forwarded-For': '10.0.0.1',
        'X-Edge-Peer': '127.0.0.1',
        'X-Edge-Key': 'guess',
      },
    })
    expect([url, answer.status]).toEqual([url, 403])
  }
})

test('a foreign Host is refused (DNS rebinding)', async () => {
  const answer = await rawRequest(
    maps().gateway.url,
    `GET /api/v1/admin/tokens HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${maps().gateway.adminToken}\r\n\r\n`,
  )
  expect(answer?.status).toBe(403)
})

test('state-changing requests from another origin are refused', async () => {
  const issue = (headers: Record<string, string>) =>
    maps().gateway.admin.call('/tokens', { body: { name: 'cross-site' }, headers })
  expect((await issue({ Origin: 'https://evil.example' })).status).toBe(403)
  expect((await issue({ Origin: 'null' })).status).toBe(403)
  expect((await issue({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect((await issue({ Origin: maps().gateway.url, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
})

test('a body that is not JSON, of another type, or too large is refused in the fixed form', async () => {
  const post = (body: string, type = 'application/json') =>
    fetch(`${maps().gateway.url}/api/v1/admin/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${maps().gateway.adminToken}`, 'Content-Type': type },
      body,
    })
  for (const [answer, status] of [
    [await post('{"name":'), 400],
    [await post(''), 400],
    [await post('name=x', 'application/x-www-form-urlencoded'), 415],
    [await post(JSON.stringify({ name: 'x'.repeat(2 << 20) })), 413],
  ] as const) {
    expect(answer.status).toBe(status)
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  }
})

test('unknown paths and methods are refused in the fixed form', async () => {
  for (const [method, path, status] of [
    ['GET', '/nowhere', 404],
    ['GET', '/api/v1/nowhere', 404],
    ['GET', '/api/v2/system', 404],
    ['DELETE', '/api/v1/system', 405],
    ['POST', '/health', 405],
  ] as const) {
    const answer = await fetch(maps().gateway.url + path, { method })
    expect([method, path, answer.status]).toEqual([method, path, status])
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  }
})

test.each([
  ['/tokens', 405, 'GET, HEAD, POST'],
  ['/health/check', 405, 'POST'],
  ['/nowhere', 404, null],
])(
  'a method that nothing answers is refused at %s with %i, and with the methods that it has',
  async (path, status, allow) => {
    for (const method of ['PROPFIND', 'TEST']) {
      const answer = await maps().gateway.admin.call(path, { method })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, status, allow])
      expect(answer.body).toEqual({ error: expect.any(String) })
    }
  },
)

test('the same wrong credential gets 401 however often it is sent; many different ones are slowed down', async () => {
  for (let i = 0; i < 80; i++) {
    expect((await maps().get('/api/v1/admin/tokens', { Authorization: 'Bearer outdated' })).status).toBe(401)
  }
  const statuses = new Set<number>()
  for (let i = 0; i < 40 && !statuses.has(429); i++) {
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, j) =>
        maps().get('/api/v1/admin/tokens', { Authorization: `Bearer guess ${i} ${j}` }),
      ),
    )
    for (const answer of answers) {
      statuses.add(answer.status)
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  }
  expect(statuses).toContain(429)
})
