import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../platform/http/app-type.js'
import { trackPaths } from '../../platform/http/unrouted.js'
import { serveDocs } from './docs-site.js'
import { serveMapPage } from './routes.js'
import { serveBuiltConsole } from './static-files.js'

const POLICY = "default-src 'none';script-src 'self';style-src 'self'"
const NOT_BUILT = refuse('not_found', coded('console_not_built'))
const DOCS_PAGE = '<script type="module" src="/docs/assets/app.1a2b.js"></script><script id="dark">let dark</script>'

let home: string
let app: App
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'console-'))
  const dist = join(home, 'dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  writeFileSync(join(dist, 'index.html'), '<title>console</title><meta content="__CSP_NONCE__">')
  writeFileSync(join(dist, 'assets/main-1a2b.js'), 'export {}')
  writeFileSync(join(dist, 'assets/main-1a2b.js.gz'), 'packed')
  mkdirSync(join(dist, 'map'))
  writeFileSync(join(dist, 'map/index.html'), '<title>map</title>')
  writeFileSync(join(dist, 'map/maplibre-gl.mjs'), 'export {}')
  writeFileSync(join(home, 'outside.txt'), 'kept private')
  const docs = join(home, 'docs')
  mkdirSync(join(docs, 'assets'), { recursive: true })
  mkdirSync(join(docs, 'zh'))
  writeFileSync(join(docs, 'index.html'), DOCS_PAGE)
  writeFileSync(join(docs, 'zh/index.html'), DOCS_PAGE)
  writeFileSync(join(docs, 'assets/app.1a2b.js'), 'export {}')
  writeFileSync(join(docs, '404.html'), '<title>no page</title>')
  writeFileSync(join(docs, 'install.html'), '<title>install</title>')
  mkdirSync(join(docs, 'adr'))
  writeFileSync(join(docs, 'adr/README.html'), '<title>decisions</title>')
  mkdirSync(join(docs, 'files'))
  writeFileSync(join(docs, 'files/compose.yaml.txt'), 'services: {}')
  app = Fastify() as unknown as App
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store').header('Content-Security-Policy', POLICY)
  })
  const refuseOtherMethods = trackPaths(app, () => false)
  await app.register(fastifyStatic, { serve: false, preCompressed: true, cacheControl: false })
  serveBuiltConsole(app, `${dist}/`, NOT_BUILT)
  serveMapPage(app, `${dist}/`, NOT_BUILT)
  serveDocs(app, `${docs}/`, NOT_BUILT)
  refuseOtherMethods()
})
afterAll(async () => {
  await app.close()
  rmSync(home, { recursive: true })
})

test.each(['/admin/', '/admin/index.html', '/admin/tokens', '/admin/basemaps/world/versions'])(
  'the address %s of the built console answers its page, which is never cached',
  async (url) => {
    const answer = await app.inject({ url })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toMatch(/^<title>console/)
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
    expect(answer.headers['cache-control']).toBe('no-store')
  },
)

test('the page and the policy of one response share a nonce for styles, and no two responses do', async () => {
  const nonces = await Promise.all(
    ['/admin/', '/admin/'].map(async (url) => {
      const answer = await app.inject({ url })
      const [, nonce] = /^default-src 'none';script-src 'self';style-src 'self' 'nonce-([\w-]{22})'$/.exec(
        String(answer.headers['content-security-policy']),
      ) as unknown as [string, string]
      expect(answer.body).toContain(`content="${nonce}"`)
      return nonce
    }),
  )
  expect(new Set(nonces).size).toBe(2)
})

test('its hashed files may be cached for ever', async () => {
  const answer = await app.inject({ url: '/admin/assets/main-1a2b.js' })
  expect(answer.body).toBe('export {}')
  expect(answer.headers['cache-control']).toMatch(/^private.*immutable/)
})

test('files compressed at the build are sent compressed to clients that accept it', async () => {
  const answer = await app.inject({ url: '/admin/assets/main-1a2b.js', headers: { 'accept-encoding': 'gzip, br' } })
  expect([answer.headers['content-encoding'], answer.body]).toEqual(['gzip', 'packed'])
  expect(answer.headers['content-type']).toMatch(/javascript/)
  expect(answer.headers.vary).toMatch(/accept-encoding/i)
  // A separate URL would expose a second form of the same file, with the type of an archive.
  expect((await app.inject({ url: '/admin/assets/main-1a2b.js.gz' })).statusCode).toBe(404)
})

test('a file of an older build does not return a page', async () => {
  expect((await app.inject({ url: '/admin/assets/main-0000.js' })).statusCode).toBe(404)
})

test('the route serves only files of the console', async () => {
  for (const url of [
    '/admin/../outside.txt',
    '/admin/..%2foutside.txt',
    '/admin/%2e%2e/outside.txt',
    '/admin/..%5coutside.txt',
  ]) {
    expect((await app.inject({ url })).body).not.toContain('kept private')
  }
  expect((await app.inject({ url: '/admin/tokens', method: 'POST' })).statusCode).toBe(405)
})

test('the page of the first map and its library are for pages of any origin, and are revalidated', async () => {
  const page = await app.inject({ url: '/map/' })
  expect([page.body, page.headers['content-security-policy']]).toEqual(['<title>map</title>', POLICY])
  const library = await app.inject({ url: '/map/maplibre-gl.mjs' })
  expect(library.headers).toMatchObject({
    'content-type': expect.stringMatching(/^(text|application)\/javascript/),
    'cache-control': 'public, no-cache',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  })
  const known = { 'if-none-match': String(library.headers.etag) }
  expect((await app.inject({ url: '/map/maplibre-gl.mjs', headers: known })).statusCode).toBe(304)
  expect((await app.inject({ url: '/map' })).headers.location).toBe('/map/')
  expect((await app.inject({ url: '/map/none.mjs' })).statusCode).toBe(404)
  expect((await app.inject({ url: '/admin/map/maplibre-gl.mjs' })).body).toMatch(/^<title>console/)
})

test.each(['/docs/', '/docs/index.html', '/docs/zh/'])(
  'the page %s of the documentation may run the scripts in its head, by their digests, and no others',
  async (url) => {
    const { body, headers } = await app.inject({ url })
    expect(body).toBe(DOCS_PAGE)
    const digest = createHash('sha256').update('let dark').digest('base64')
    expect(headers['content-security-policy']).toBe(
      `default-src 'none';script-src 'self' 'sha256-${digest}';style-src 'self';style-src-attr 'unsafe-inline'`,
    )
    expect(headers['cache-control']).toBe('public, no-cache')
  },
)

test('hashed files of the documentation may be cached, and missing files return 404', async () => {
  const { headers } = await app.inject({ url: '/docs/assets/app.1a2b.js' })
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await app.inject({ url: '/docs' })).headers.location).toBe('/docs/')
  for (const url of ['/docs/none.html', '/docs/..%2foutside.txt', '/docs/%2e%2e/outside.txt'])
    expect((await app.inject({ url })).statusCode).toBe(404)
})

test.each([
  ['/docs/install', '/docs/install.html'],
  ['/docs/install/', '/docs/install.html'],
  ['/docs/install.html/', '/docs/install.html'],
  ['/docs/zh', '/docs/zh/'],
  ['/docs/adr', '/docs/adr/README.html'],
  ['/docs/files/compose.yaml', '/docs/files/compose.yaml.txt'],
])('the URL %s of the documentation leads to %s, which can be revalidated', async (url, location) => {
  const redirect = await app.inject({ url })
  expect([redirect.statusCode, redirect.headers.location]).toEqual([308, location])
  const page = await app.inject({ url: location })
  expect(page.statusCode).toBe(200)
  const known = { 'if-none-match': String(page.headers.etag) }
  expect((await app.inject({ url: location, headers: known })).statusCode).toBe(304)
})

test('a missing page of the documentation returns a page to browsers and an error body to programs', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const page = await app.inject({ url: '/docs/none', headers: { accept } })
  expect([page.statusCode, page.headers['content-type'], page.body]).toEqual([
    404,
    'text/html; charset=utf-8',
    '<title>no page</title>',
  ])
  expect(page.headers['content-security-policy']).toContain("script-src 'self' 'sha256-")
  const body = await app.inject({ url: '/docs/none' })
  expect([body.statusCode, Object.keys(body.json())]).toEqual([404, ['error']])
})

test('a request waits for a build that is running, and a site without a build returns 404', async () => {
  const late = Fastify() as unknown as App
  await late.register(fastifyStatic, { serve: false, preCompressed: true, cacheControl: false })
  const dist = join(home, 'late')
  serveBuiltConsole(late, `${dist}/`, NOT_BUILT)
  expect((await late.inject({ url: '/admin/' })).statusCode).toBe(404)
  mkdirSync(`${dist}.new`)
  const answer = late.inject({ url: '/admin/' })
  writeFileSync(join(`${dist}.new`, 'index.html'), '<title>late</title>')
  renameSync(`${dist}.new`, dist)
  expect((await answer).body).toBe('<title>late</title>')
  await late.close()
})
