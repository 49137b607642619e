import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../http/app-type.js'
import { trackPaths } from '../http/unrouted.js'
import { registerConsole } from './routes.js'

let home: string
let app: App
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'console-'))
  const dist = join(home, 'dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  writeFileSync(join(dist, 'index.html'), '<title>console</title>')
  writeFileSync(join(dist, 'assets/main-1a2b.js'), 'export {}')
  writeFileSync(join(home, 'outside.txt'), 'kept private')
  app = Fastify() as unknown as App
  app.addHook('onRequest', async (_request, reply) => void reply.header('Cache-Control', 'no-store'))
  const refuseOtherMethods = trackPaths(app)
  // The built console alone needs neither the context nor the edges.
  await registerConsole(app, undefined as never, undefined as never, dist)
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
    expect([answer.statusCode, answer.body]).toEqual([200, '<title>console</title>'])
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
    expect(answer.headers['cache-control']).toBe('no-store')
  },
)

test('its hashed files may be kept for good', async () => {
  const answer = await app.inject({ url: '/admin/assets/main-1a2b.js' })
  expect(answer.body).toBe('export {}')
  expect(answer.headers['cache-control']).toMatch(/^private.*immutable/)
})

test('/admin leads to /admin/', async () => {
  expect((await app.inject({ url: '/admin' })).headers.location).toBe('/admin/')
})

test('nothing but the console is reached through it', async () => {
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
