import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLES, READABLE } from './platform/openapi/examples/apply.js'
import { ADMIN_PASSWORD, ADMIN_TOKEN, startTestApp, type TestApp } from './testing/test-app.js'

let test0: TestApp
beforeAll(async () => {
  test0 = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(() => test0.close())

const TOKENS = '/api/v1/admin/tokens'
const basic = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString('base64')}`
const bearer = `Bearer ${ADMIN_TOKEN}`
const inject = (options: InjectOptions) => test0.app.inject(options)
const ERROR_FORM = { error: expect.stringMatching(/./) }

test.each([basic, bearer])('administrators pass the gate with %s', async (authorization) => {
  expect((await inject({ url: TOKENS, headers: { authorization } })).statusCode).toBe(200)
})

test.each([
  [401, 'no credentials', {}],
  [401, 'wrong credentials', { authorization: 'Bearer wrong' }],
  [403, 'a forwarding header that nobody is trusted for', { authorization: bearer, 'x-forwarded-for': '127.0.0.1' }],
  [403, 'a foreign Host', { authorization: bearer, host: 'evil.example' }],
  [403, 'a foreign Host before its credentials', { host: 'evil.example' }],
])('%i returns %s', async (status, _, headers) => {
  const answer = await inject({ url: TOKENS, headers })
  expect(answer.statusCode).toBe(status)
  expect(answer.json()).toEqual(ERROR_FORM)
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.headers['www-authenticate'] !== undefined).toBe(status === 401)
})

test('the root path describes the service to browsers and programs, without a credential', async () => {
  const page = await inject({ url: '/', headers: { accept: 'text/html,*/*;q=0.8', 'accept-language': 'en' } })
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.body).toContain('href="/admin/sign-in"')
  const nonce = /style nonce="([^"]+)"/.exec(page.body)?.[1]
  expect(page.headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
  expect((await inject({ url: '/', headers: { accept: 'text/html', 'accept-language': 'zh-CN' } })).body).toContain(
    '打开控制台',
  )
  const program = await inject({ url: '/' })
  expect(program.json()).toMatchObject({ service: 'map-asset-gateway', openapi: '/api/v1/openapi.json' })
})

test('a refused browser gets instructions, and a program the error', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8' }
  const page = await inject({ url: '/admin/', headers })
  expect([page.statusCode, page.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
  expect(page.headers['www-authenticate']).toContain('Basic')
  expect(page.body).toContain('href="/admin/sign-in"')
  const remote = await inject({ url: '/admin/', headers, remoteAddress: '192.0.2.4' })
  expect([remote.statusCode, remote.body]).toEqual([403, expect.stringContaining('ADMIN_ALLOW_REMOTE')])
  expect((await inject({ url: '/admin/' })).json()).toEqual(ERROR_FORM)
  expect((await inject({ url: TOKENS, headers })).json()).toEqual(ERROR_FORM)
})

test('a remote peer is refused while remote administration is disabled', async () => {
  const answer = await inject({ url: TOKENS, headers: { authorization: bearer }, remoteAddress: '192.0.2.4' })
  expect(answer.statusCode).toBe(403)
})

test.each([{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])(
  'a change that a foreign page asks for (%o) is refused and not made',
  async (headers) => {
    const payload = { name: 'from a foreign page' }
    const answer = await test0.admin({ method: 'POST', url: TOKENS, payload, headers })
    expect(answer.statusCode).toBe(403)
    expect((await test0.admin({ url: TOKENS })).body).not.toContain('from a foreign page')
  },
)

test.each(['/admin/nothing', '/api/v1/admin/nothing', '/ADMIN/', '//admin/', '/api/v1/%61dmin/tokens'])(
  'the unknown admin path %s tells nothing without credentials',
  async (url) => {
    expect((await inject({ url })).statusCode).toBe(401)
    // A foreign method on the path reveals nothing, either.
    expect((await inject({ url, method: 'DELETE' })).statusCode).toBe(401)
  },
)

test.each([
  [404, { url: '/nowhere' }, undefined],
  [404, { url: '/api/v2/system' }, undefined],
  [405, { url: '/health', method: 'POST' as const }, 'GET, HEAD'],
  [405, { url: '/api/v1/catalog/basemaps', method: 'PUT' as const }, 'GET, HEAD, OPTIONS'],
  [400, { url: '/%zz' }, undefined],
])('%i returns %o in the common form of errors', async (status, options, allow) => {
  const answer = await inject(options)
  expect(answer.statusCode).toBe(status)
  expect(answer.json()).toEqual(ERROR_FORM)
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
  expect(answer.headers.allow).toBe(allow)
})

test('a method that a path lacks returns 405 whatever its body is', async () => {
  const answer = await test0.admin({
    method: 'PUT',
    url: TOKENS,
    payload: '<x/>',
    headers: { 'content-type': 'application/xml' },
  })
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
})

test('every documented path lists its methods in Allow, and returns 405 for all others', async () => {
  const { paths } = (await inject({ url: '/api/v1/openapi.json' })).json()
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
  let looked = 0
  for (const [path, operations] of Object.entries<object>(paths)) {
    const url = path.replaceAll(/\{\w+\}/g, 'x')
    const refusal = await test0.admin({ method: 'TRACE' as never, url })
    // These paths belong to the edge.
    if (refusal.statusCode === 404) continue
    looked++
    const allowed = String(refusal.headers.allow).split(', ')
    expect(allowed, path).toEqual(expect.arrayContaining(Object.keys(operations).map((one) => one.toUpperCase())))
    for (const method of methods.filter((one) => !allowed.includes(one))) {
      const { statusCode, headers } = await test0.admin({ method, url })
      expect([statusCode, headers.allow], `${method} ${path}`).toEqual([405, refusal.headers.allow])
    }
  }
  expect(looked).toBeGreaterThan(70)
})

test('an unknown method returns 405 like any other that a path lacks', async () => {
  await test0.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = test0.app.server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}${TOKENS}`, {
    method: 'PROPFIND',
    headers: { authorization: bearer },
  })
  expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([
    405,
    'GET, HEAD, POST',
    ERROR_FORM,
  ])
  expect((await fetch(`http://127.0.0.1:${port}${TOKENS}`, { method: 'PROPFIND' })).status).toBe(401)
})

const post = (payload: string | Buffer, type = 'application/json') =>
  test0.admin({ method: 'POST', url: TOKENS, payload, headers: { 'content-type': type } })

test.each([
  [400, '{"name":', 'application/json'],
  [400, '', 'application/json'],
  [400, '[]', 'application/json'],
  [400, '{"name":"a\\u0000b"}', 'application/json'],
  [400, Buffer.from('{"name":"\xff"}', 'latin1'), 'application/json'],
  [400, '{"name":"half a \\ud83d character"}', 'application/json'],
  [400, '{"name":"x","__proto__":{"scopes":["slice"]}}', 'application/json'],
  [415, 'name=x', 'application/x-www-form-urlencoded'],
  [415, '<x/>', 'text/xml'],
  [413, JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), 'application/json'],
])('%i returns the body %.30s of type %s', async (status, payload, type) => {
  const answer = await post(payload, type)
  expect(answer.statusCode).toBe(status)
  expect(answer.json()).toEqual(ERROR_FORM)
  const code = { 400: 'invalid_parameters', 413: 'payload_too_large', 415: 'unsupported_media_type' }[status]
  expect(answer.headers['x-refusal']).toBe(code)
})

test('a compressed body is refused with that reason', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const payload = gzipSync('{"name":"x"}')
  const answer = await test0.admin({ method: 'POST', url: TOKENS, payload, headers })
  expect([answer.statusCode, answer.json()]).toEqual([415, { error: expect.stringContaining('Content-Encoding') }])
})

test('an action whose path looks like that of an object hides no object of its name', async () => {
  const url = '/api/v1/admin/scan-sources/try'
  const payload = { code: 'try', kind: 'vector', path: '/data/try' }
  await test0.admin({ method: 'POST', url: '/api/v1/admin/scan-sources', payload })
  expect((await test0.admin({ url })).json()).toMatchObject(payload)
  const refused = await test0.admin({ method: 'PUT', url })
  expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'GET, HEAD, POST, DELETE'])
  expect((await test0.admin({ method: 'DELETE', url })).statusCode).toBe(200)
})

test('a refused body names each invalid field', async () => {
  const { error } = (await post('{"scopes":["write"],"expires_at":"tomorrow","extra":1}')).json()
  expect(error).toMatch(/body\.name: .*body\.scopes\.0: .*body\.expires_at: .*extra/)
})

test('a query parameter out of bounds is refused with its name', async () => {
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'offset=-1']) {
    const answer = await test0.admin({ url: `${TOKENS}?${query}` })
    expect([query, answer.statusCode]).toEqual([query, 400])
    expect(answer.json().error).toContain(`query.${query.split('=')[0]}`)
  }
})

test('every response keeps browsers from sniffing, framing and foreign content', async () => {
  const { headers } = await inject({ url: '/health' })
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
  })
  expect(headers['strict-transport-security']).toBeUndefined()
})

test('/metrics counts requests and refused credentials, and /api/v1/system contains no secret', async () => {
  await inject({ url: TOKENS, headers: { authorization: 'Bearer wrong' } })
  const { body } = await inject({ url: '/metrics' })
  expect(body).not.toMatch(/^# TYPE \w+_total gauge$/m)
  expect(body).toMatch(/^gateway_control_auth_failures_total\{kind="admin",reason="admin_credentials_wrong"\} \d/m)
  expect(body).toMatch(/^gateway_control_requests_total\{method="GET",route="\/health",status="200"\} \d/m)
  expect(body).toMatch(/^gateway_control_slice_jobs\{status="pending"\} 0$/m)
  expect(body).toMatch(/^gateway_control_deliveries_waiting 0$/m)
  expect(body).toMatch(/^gateway_control_store_up 1$/m)
  const system = await inject({ url: '/api/v1/system' })
  expect(system.json()).toMatchObject({ service: 'map-asset-gateway', api_base_url: 'http://127.0.0.1:8910' })
  expect(system.body).not.toMatch(new RegExp(`${ADMIN_TOKEN}|${ADMIN_PASSWORD}`))
})

test('the console page and the API reference are behind the gate and load nothing from other hosts', async () => {
  for (const url of ['/admin/', '/admin/docs/', '/admin/docs/static/swagger-ui.css', '/admin/docs/json']) {
    expect([url, (await inject({ url })).statusCode]).toEqual([url, 401])
    const answer = await inject({ url, headers: { authorization: basic } })
    expect([url, answer.statusCode]).toEqual([url, 200])
    expect(answer.headers['content-security-policy']).not.toMatch(/https:|unsafe-eval|upgrade-insecure/)
  }
})

const SCHEMES = [
  // Esri's clients read there how to authenticate.
  [/arcgis\/rest\/info$/, undefined],
  [/admin/, 'adminBasic'],
  [/import/, 'importBearer'],
  [
    /catalog|tiles|vectors|archives|styles|fonts|geojson|shp|slice|wmts|wms|ogc|tms|arcgis|tianditu|forward-auth/,
    'serviceQuery',
  ],
] as const

test('the OpenAPI document needs no credentials, marks secured operations, and describes every error', async () => {
  const document = (await inject({ url: '/api/v1/openapi.json' })).json()
  expect(document.openapi).toBe('3.1.0')
  for (const [path, item] of Object.entries<Record<string, { security: object[]; responses: object }>>(
    document.paths,
  )) {
    for (const operation of Object.values(item)) {
      const schemes = operation.security.flatMap((requirement) => Object.keys(requirement))
      const expected = SCHEMES.find(([pattern]) => pattern.test(path))?.[1]
      expect([path, expected === undefined ? schemes.length === 0 : schemes.includes(expected)]).toEqual([path, true])
    }
  }
  const statuses = (operation: { responses: object }) => Object.keys(operation.responses)
  expect(statuses(document.paths['/api/v1/admin/scan-sources/{code}/run'].post)).toContain('409')
  expect(statuses(document.paths['/api/v1/admin/pushes'].post)).toContain('404')
  expect(statuses(document.paths['/api/v1/import'].post)).toContain('401')
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] as string)
  expect(references.length).toBeGreaterThan(50)
  for (const reference of new Set(references)) {
    const target = reference.split('/').reduce((node, key) => node?.[key], document)
    expect([reference, typeof target]).toEqual([reference, 'object'])
  }
})

interface Media {
  readonly schema?: object
  readonly example?: unknown
}
interface Described {
  readonly operationId?: string
  readonly summary?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

function bodiesWithoutExample(what: string, content: Readonly<Record<string, Media>> = {}): string[] {
  const readable = Object.entries(content).filter(([type]) => READABLE.test(type))
  return readable
    .filter(([, { example }]) => example === undefined)
    .map(([type]) => `no example of the ${what} (${type})`)
}

/** Returns the missing parts of an operation, described for its author. */
function missingFrom({ operationId, summary, tags, parameters = [], requestBody, responses }: Described): string[] {
  const path = parameters.filter((one) => one.in === 'path' && one.example === undefined)
  return [
    ...(operationId === undefined ? ["no operationId in its route's schema"] : []),
    ...(summary === undefined ? ["no summary in its route's schema"] : []),
    ...(tags?.length === 1 ? [] : ['not one tag: see platform/openapi/conventions.ts']),
    ...path.map(({ name }) => `no example of the parameter ${name}: see platform/openapi/examples`),
    ...bodiesWithoutExample('request: see platform/openapi/examples', requestBody?.content),
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([status, { content }]) =>
        bodiesWithoutExample(`answer ${status}: see platform/openapi/examples`, content),
      ),
  ]
}

test('every operation of the OpenAPI document has an id, a summary, a described tag and examples', async () => {
  const { paths, webhooks, tags } = (await inject({ url: '/api/v1/openapi.json' })).json()
  const operations = Object.entries<Record<string, Described>>({ ...paths, ...webhooks }).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  )
  expect(operations.length).toBeGreaterThan(80)
  expect(operations.flatMap(({ name, operation }) => missingFrom(operation).map((what) => `${name}: ${what}`))).toEqual(
    [],
  )
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  const described = new Set(tags.map(({ name }: { name: string }) => name))
  expect(operations.filter(({ operation }) => !described.has(operation.tags[0]))).toEqual([])
  expect(Object.keys(EXAMPLES).filter((id) => !ids.includes(id))).toEqual([])
})

test('the OpenAPI document describes the input and output of each operation, and its place', async () => {
  const { paths, webhooks } = (await inject({ url: '/api/v1/openapi.json' })).json()
  const operations = Object.entries<Record<string, Described>>(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, name: `${method} ${path}` })),
  )
  const names = (wanted: (one: Described) => boolean) => operations.filter(wanted).map(({ name }) => name)
  const answers = (status: string) => names(({ responses }) => status in responses)
  expect(names(({ summary }) => summary === undefined)).toEqual([])
  // The forward-auth operation responds to the proxy only by its status.
  expect(names(({ responses }) => !Object.entries(responses).some(([s, { content }]) => s < '300' && content))).toEqual(
    ['get /api/v1/forward-auth'],
  )
  expect(answers('409').sort()).toEqual([
    'delete /api/v1/admin/basemaps/{code}',
    'delete /api/v1/admin/basemaps/{code}/versions/{version}',
    'delete /api/v1/admin/scan-sources/{code}',
    'delete /api/v1/admin/tokens/{id}',
    'delete /api/v1/admin/uploads/{id}',
    'post /api/v1/admin/scan-sources/{code}/run',
    'post /api/v1/admin/slice/jobs/{id}/cancel',
    'post /api/v1/admin/styles/import',
    'post /api/v1/admin/tokens/{id}/rotate',
    'post /api/v1/admin/uploads/{id}/import',
    'post /api/v1/admin/vectors/rescan',
    'post /api/v1/import',
    'put /api/v1/admin/uploads/{id}/content',
  ])
  expect(answers('404')).toEqual(expect.arrayContaining(['post /api/v1/admin/pushes']))
  const bodies = operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}))
  expect(bodies.length).toBeGreaterThan(8)
  expect(bodies.filter(({ schema }) => schema === undefined)).toEqual([])
  expect(names(({ tags }) => tags[0] === 'Imports')).toEqual(['post /api/v1/import'])
  expect(names(({ tags }) => tags[0] === 'Admin: push').filter((name) => name.includes('callback'))).toHaveLength(5)
  expect(Object.keys(webhooks)).toEqual([
    'tile.job.finished',
    'basemap.version.pushed',
    'vector.pushed',
    'cache.purge',
    'basemap.version.approved',
    'basemap.version.rejected',
    'basemap.default.switched',
    'basemap.default.canary_started',
    'basemap.default.rolled_back',
    'basemap.default.switch_failed',
    'audit.head',
    'target.test',
  ])
})
