import { hasRole, ROLES, type Role } from '@gateway/contracts/operator.js'
import { insertSession } from '@gateway/store/operator-sessions.js'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSessionId, sessionDigest } from '../platform/admin-gate/session-cookie.js'
import { ADMIN_PASSWORD, startTestApp, type TestApp } from '../testing/test-app.js'

const BASE = 'http://127.0.0.1:8910'
const SESSION = '/api/v1/admin/session'
const TTL_SECONDS = 3600

let test0: TestApp
beforeAll(async () => {
  test0 = await startTestApp(process.env.TEST_POSTGRES_URL, {
    // No server listens there: these tests hold while the provider is down.
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_ROLES: 'admin=gis-admins',
  })
})
afterAll(() => test0.close())

/** Starts a session like a sign-in; returns its cookie. */
async function begin(role: Role, ttlSeconds = TTL_SECONDS): Promise<string> {
  const id = newSessionId()
  const who = { name: `A ${role}`, actor: `${role}@example.com`, role, begunBy: 'oidc' } as const
  await test0.store.sql.begin((tx) => insertSession(tx, sessionDigest(id), who, ttlSeconds))
  return `gateway_session=${id}`
}

const digestOf = (cookie: string) => sessionDigest(cookie.replace('gateway_session=', ''))
const as = (cookie: string, options: InjectOptions) =>
  test0.app.inject({ ...options, headers: { cookie, origin: BASE, host: '127.0.0.1:8910', ...options.headers } })

interface Operation {
  readonly 'x-required-role'?: Role
  readonly description?: string
  readonly responses: Readonly<Record<string, { readonly content?: object }>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

const adminPaths = async () => {
  const { paths } = (await test0.app.inject({ url: '/api/v1/openapi.json' })).json<{ paths: Paths }>()
  return Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/admin/'))
}
const isStream = ({ responses }: Operation) => JSON.stringify(responses).includes('text/event-stream')
const addressAt = (path: string) =>
  path.replaceAll('{id}', '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10').replaceAll(/\{\w+\}/g, 'nothing')
const cookiesOfRoles = async () =>
  Object.fromEntries(await Promise.all(ROLES.map(async (role) => [role, await begin(role)] as const))) as Record<
    Role,
    string
  >

test('every admin operation of the OpenAPI document states its role, and refuses lower roles', async () => {
  const cookies = await cookiesOfRoles()
  const needed = new Map<Role, number>()
  const seen: unknown[] = []
  const expected: unknown[] = []
  for (const [path, item] of await adminPaths()) {
    for (const [method, operation] of Object.entries(item)) {
      const role = operation['x-required-role'] as Role
      expect([method, path, ROLES.includes(role), operation.description]).toEqual([
        method,
        path,
        true,
        expect.stringContaining(`Needs the role \`${role}\`.`),
      ])
      needed.set(role, (needed.get(role) ?? 0) + 1)
      // Streams do not end; a sign-out would end the sessions of the others.
      if (isStream(operation) || (method === 'delete' && path === SESSION)) continue
      for (const own of ROLES) {
        const { statusCode, body } = await as(cookies[own], {
          method: method.toUpperCase() as 'GET',
          url: addressAt(path),
        })
        seen.push([own, method, path, statusCode === 401 || (statusCode === 403 && body.includes('needs the role'))])
        expected.push([own, method, path, !hasRole(own, role)])
      }
    }
  }
  expect(seen).toEqual(expected)
  // Each role is of use.
  for (const role of ROLES) expect([role, needed.get(role)]).toEqual([role, expect.toSatisfy((n) => n > 5)])
})

test('HEAD needs the role of GET on every admin path of the OpenAPI document, and OPTIONS reads nothing', async () => {
  const cookies = await cookiesOfRoles()
  let refused = 0
  for (const [path, { get }] of await adminPaths()) {
    for (const own of ROLES) {
      const asking = (method: 'GET' | 'HEAD' | 'OPTIONS') => as(cookies[own], { method, url: addressAt(path) })
      const options = await asking('OPTIONS')
      // Only admins learn which methods a path has.
      expect([path, own, options.statusCode]).toEqual([path, own, own === 'admin' ? 405 : 403])
      if (get === undefined || isStream(get)) continue
      const role = get['x-required-role'] as Role
      const [whole, head] = [await asking('GET'), await asking('HEAD')]
      if (hasRole(own, role)) {
        // Streams have no HEAD.
        expect([path, own, head.body]).toEqual([path, own, ''])
        expect([whole.statusCode, 405]).toContain(head.statusCode)
        continue
      }
      refused++
      expect([path, own, head.statusCode]).toEqual([path, own, 403])
      // The length is that of the refusal, which does not reveal anything about the resource.
      expect([path, head.headers['content-length']]).toEqual([path, String(whole.body.length)])
      expect(whole.json().error).toBe(`this needs the role ${role}, and yours is ${own}`)
    }
  }
  expect(refused).toBeGreaterThan(0)
})

test('no method reveals the length of a directory list to a viewer', async () => {
  const cookie = await begin('viewer')
  const lengths = new Set<unknown>()
  for (const dir of ['/', '/etc', '/nowhere', import.meta.dirname]) {
    const url = `/api/v1/admin/slice/files?dir=${encodeURIComponent(dir)}`
    const { statusCode, headers } = await as(cookie, { method: 'HEAD', url })
    expect([dir, statusCode]).toEqual([dir, 403])
    lengths.add(headers['content-length'])
  }
  expect(lengths.size).toBe(1)
})

test.each([
  ['POST', '/api/v1/admin/scan-sources/nothing/run', 'operator'],
  ['PATCH', '/api/v1/admin/basemaps/nothing', 'operator'],
  ['POST', '/api/v1/admin/tokens', 'admin'],
  ['POST', '/api/v1/admin/targets', 'admin'],
  ['DELETE', '/api/v1/admin/vectors/nothing', 'admin'],
  ['POST', '/api/v1/admin/what-nobody-has-thought-of', 'admin'],
] as const)('%s %s needs the role %s', async (method, url, needed) => {
  for (const role of ROLES) {
    const { statusCode } = await as(await begin(role), { method, url })
    expect([role, statusCode === 403]).toEqual([role, !hasRole(role, needed)])
  }
})

test('a session cannot change data if a foreign page sent the request; programs send no origin', async () => {
  const cookie = await begin('admin')
  const payload = { name: 'without a page' }
  const post = (headers: Record<string, string>) =>
    test0.app.inject({ method: 'POST', url: '/api/v1/admin/tokens', payload, headers: { cookie, ...headers } })
  for (const headers of [{ origin: 'null' }, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    expect([headers, (await post(headers)).statusCode]).toEqual([headers, 403])
  }
  for (const headers of [{ 'sec-fetch-site': 'same-origin' }, {}])
    expect([headers, (await post(headers as Record<string, string>)).statusCode]).toEqual([headers, 200])
  const { items } = (await as(cookie, { url: '/api/v1/admin/audit?action=token.issue' })).json()
  expect(items).toMatchObject(Array(2).fill({ actor: 'admin@example.com' }))
})

test('a session ends after its time, and when it is idle; the browser opens no dialogue', async () => {
  const expired = await begin('admin', 0.001)
  const idle = await begin('admin')
  await test0.store
    .sql`UPDATE operator_sessions SET used_at = now() - interval '3 hours' WHERE digest = ${digestOf(idle)}`
  for (const cookie of [expired, idle, 'gateway_session=', 'gateway_session=%00', 'gateway_session=made-up']) {
    const { statusCode, headers } = await as(cookie, { url: SESSION })
    expect([cookie, statusCode]).toEqual([cookie, 401])
    expect(headers['www-authenticate']).not.toMatch(/basic/i)
  }
})

test('automatic requests of a page do not extend a session', async () => {
  const cookie = await begin('viewer')
  const usedAt = async () => {
    const [row] = await test0.store.sql<{ at: Date }[]>`
      SELECT used_at AS at FROM operator_sessions WHERE digest = ${digestOf(cookie)}`
    return row?.at.getTime() ?? 0
  }
  await test0.store
    .sql`UPDATE operator_sessions SET used_at = now() - interval '1 hour' WHERE digest = ${digestOf(cookie)}`
  const before = await usedAt()
  await as(cookie, { url: SESSION, headers: { 'x-background': '1' } })
  expect(await usedAt()).toBe(before)
  await as(cookie, { url: SESSION })
  expect(await usedAt()).toBeGreaterThan(before)
})

test('signing out ends a session at once, and the audit names the user', async () => {
  const cookie = await begin('viewer')
  expect((await as(cookie, { url: SESSION })).json()).toMatchObject({ name: 'A viewer', role: 'viewer', by: 'oidc' })
  const answer = await as(cookie, { method: 'DELETE', url: SESSION })
  expect([answer.statusCode, answer.json()]).toEqual([200, { ended: true }])
  expect(answer.headers['set-cookie']).toMatch(/^gateway_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)
  expect((await as(cookie, { url: SESSION })).statusCode).toBe(401)
  const { items } = (await test0.admin({ url: '/api/v1/admin/audit?action=session.end' })).json()
  expect(items).toMatchObject([{ actor: 'viewer@example.com', subject: 'viewer@example.com' }])
})

test('credentials of the request take precedence over a session, and cannot be signed out', async () => {
  const headers = { cookie: await begin('viewer') }
  const session = await test0.admin({ url: SESSION, headers })
  expect(session.json()).toEqual({ name: 'token', actor: 'token', role: 'admin', by: 'bearer', expires_at: null })
  expect((await test0.admin({ method: 'DELETE', url: SESSION, headers })).json()).toEqual({ ended: false })
  expect((await as(headers.cookie, { url: SESSION })).statusCode).toBe(200)
})

test('a page without a session leads to the sign-in, and back to that page', async () => {
  const open = (url: string, accept: string) => test0.app.inject({ url, headers: { accept } })
  const page = await open('/admin/tokens?q=a&sort=-name', 'text/html,*/*;q=0.8')
  const where = '/admin/sign-in?to=%2Fadmin%2Ftokens%3Fq%3Da%26sort%3D-name'
  expect([page.statusCode, page.headers.location]).toEqual([302, where])
  expect((await test0.app.inject({ url: where })).body).toContain(
    'href="/admin/sign-in/start?to=%2Fadmin%2Ftokens%3Fq%3Da%26sort%3D-name"',
  )
  // Programs get the status.
  expect((await open('/admin/tokens', '*/*')).statusCode).toBe(401)
  expect((await open('/api/v1/admin/tokens', 'text/html')).statusCode).toBe(401)
})

test.each([
  'https://evil.example/',
  '//evil.example/admin/',
  '/\\evil.example/admin/',
  'javascript:alert(1)',
  '/admin/../x',
])('signing in does not lead to %s', async (to) => {
  const { body } = await test0.app.inject({ url: `/admin/sign-in?to=${encodeURIComponent(to)}` })
  expect(body).toContain('href="/admin/sign-in/start?to=%2Fadmin%2F"')
  expect(body).not.toMatch(/evil|javascript:/)
})

test('while the provider is down the page says so, and the password signs in', async () => {
  const host = '127.0.0.1:8910'
  const start = await test0.app.inject({ url: '/admin/sign-in/start?to=/admin/audit', headers: { host } })
  expect([start.statusCode, start.headers['set-cookie']]).toEqual([503, undefined])
  expect(start.body).toContain('does not answer at the moment')
  const chinese = await test0.app.inject({
    url: '/admin/sign-in/start',
    headers: { host, 'accept-language': 'zh-CN,en' },
  })
  expect(chinese.body).toContain('登录服务暂时没有响应')
  const sent = (password: string, origin = BASE) =>
    test0.app.inject({
      method: 'POST',
      url: '/admin/sign-in/password?to=/admin/audit',
      payload: new URLSearchParams({ user: 'admin', password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', host, origin },
    })
  const wrong = await sent('wrong')
  expect([wrong.statusCode, wrong.headers['set-cookie'], wrong.headers['www-authenticate']]).toEqual([
    401,
    undefined,
    undefined,
  ])
  expect(wrong.body).toContain('The user name or the password is wrong.')
  expect((await sent(ADMIN_PASSWORD, 'https://evil.example')).statusCode).toBe(403)
  const right = await sent(ADMIN_PASSWORD)
  expect([right.statusCode, right.headers.location]).toEqual([303, '/admin/audit'])
  const cookie = String(right.headers['set-cookie']).split(';')[0] as string
  expect((await as(cookie, { url: SESSION })).json()).toMatchObject({ actor: 'admin', role: 'admin', by: 'password' })
})

test('a sign-in started at another host name continues at the base URL, once', async () => {
  const start = (query: string) =>
    test0.app.inject({ url: `/admin/sign-in/start?${query}`, headers: { host: 'localhost:8910' } })
  const moved = await start('to=/admin/audit')
  expect([moved.statusCode, moved.headers.location]).toEqual([
    302,
    `${BASE}/admin/sign-in/start?moved&to=%2Fadmin%2Faudit`,
  ])
  // Behind a proxy that always shows this Host: no circle.
  expect((await start('moved&to=/admin/audit')).statusCode).toBe(503)
})

test('a provider’s response without a sign-in of this browser is refused', async () => {
  const { statusCode, body } = await test0.app.inject({ url: '/admin/sign-in/callback?code=x&state=made-up' })
  expect([statusCode, body]).toEqual([400, expect.stringContaining('begun in another window')])
})

test('without an OpenID provider the password signs in by the form, and ends by signing out', async () => {
  const plain = await startTestApp(process.env.TEST_POSTGRES_URL)
  const page = await plain.app.inject({ url: '/admin/sign-in?to=/admin/tokens' })
  expect(page.body).toContain('action="/admin/sign-in/password?to=%2Fadmin%2Ftokens"')
  expect(page.body).not.toContain('/admin/sign-in/start')
  const host = '127.0.0.1:8910'
  const sent = await plain.app.inject({
    method: 'POST',
    url: '/admin/sign-in/password?to=/admin/tokens',
    payload: new URLSearchParams({ user: 'admin', password: ADMIN_PASSWORD }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', host, origin: BASE },
  })
  expect([sent.statusCode, sent.headers.location]).toEqual([303, '/admin/tokens'])
  const headers = { cookie: String(sent.headers['set-cookie']).split(';')[0] as string, host, origin: BASE }
  expect((await plain.app.inject({ url: SESSION, headers })).json()).toMatchObject({ by: 'password', role: 'admin' })
  // The page for signing in leads on to the page that was wanted.
  const again = await plain.app.inject({ url: '/admin/sign-in?to=/admin/audit', headers })
  expect([again.statusCode, again.headers.location]).toEqual([302, '/admin/audit'])
  expect((await plain.app.inject({ method: 'DELETE', url: SESSION, headers })).json()).toEqual({ ended: true })
  const ended = await plain.app.inject({ url: SESSION, headers })
  // A Basic challenge would open the browser's dialogue over the console.
  expect([ended.statusCode, ended.headers['www-authenticate']]).toEqual([401, expect.not.stringMatching(/basic/i)])
  const reopened = await plain.app.inject({ url: '/admin/audit', headers: { ...headers, accept: 'text/html' } })
  expect(reopened.headers.location).toBe('/admin/sign-in?to=%2Fadmin%2Faudit')
  await plain.close()
})

test('without an OpenID provider a browser without credentials gets the Basic challenge, and a session of a provider is not accepted', async () => {
  const plain = await startTestApp(process.env.TEST_POSTGRES_URL)
  const challenged = await plain.app.inject({ url: '/admin/', headers: { accept: 'text/html' } })
  expect([challenged.statusCode, challenged.headers['www-authenticate']]).toEqual([
    401,
    expect.stringMatching(/^Basic/),
  ])
  const id = newSessionId()
  const who = { name: 'x', actor: 'x', role: 'admin', begunBy: 'oidc' } as const
  await plain.store.sql.begin((tx) => insertSession(tx, sessionDigest(id), who, TTL_SECONDS))
  const { statusCode } = await plain.app.inject({ url: SESSION, headers: { cookie: `gateway_session=${id}` } })
  expect(statusCode).toBe(401)
  await plain.close()
})

test('without a password the page for signing in names the setting, and its form is absent', async () => {
  const plain = await startTestApp(process.env.TEST_POSTGRES_URL, { ADMIN_PASSWORD: '' })
  const { statusCode, body } = await plain.app.inject({ url: '/admin/sign-in' })
  expect([statusCode, body]).toEqual([200, expect.stringContaining('ADMIN_PASSWORD')])
  expect(body).not.toContain('<form')
  await plain.close()
})
