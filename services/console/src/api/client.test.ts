import { afterEach, expect, test, vi } from 'vitest'
import { ApiError, call, curlOf, send } from './client.js'

const basemap = (code: string) => call('get', '/api/v1/admin/basemaps/{code}', { params: { path: { code } } })

afterEach(() => vi.unstubAllGlobals())

const hanging = (_: string, { signal }: RequestInit) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

test('a request without a response is aborted and reported as timed out', async () => {
  vi.stubGlobal('fetch', hanging)
  const error = await send({ ...basemap('x'), timeoutMs: 5 }).catch((e: unknown) => e)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 0, timedOut: true })
})

test('a body that does not arrive in time is a time-out as well', async () => {
  const json = (signal: AbortSignal) => () =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => ({
    ok: true,
    json: json(signal as AbortSignal),
  }))
  await expect(send({ ...basemap('x'), timeoutMs: 5 })).rejects.toMatchObject({ timedOut: true })
})

test('a request that the caller aborts rejects with the caller’s reason, not with a service error', async () => {
  vi.stubGlobal('fetch', hanging)
  const stop = new AbortController()
  const request = send(basemap('x'), stop.signal)
  stop.abort(new Error('the page was left'))
  await expect(request).rejects.toThrow('the page was left')
})

test('a refusal has the words of the service, or its status if they are missing', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ error: 'no such basemap' }, { status: 404 }))
  await expect(send(basemap('x'))).rejects.toMatchObject({ status: 404, message: 'no such basemap' })
  vi.stubGlobal('fetch', async () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))
  await expect(send(basemap('x'))).rejects.toMatchObject({ status: 502, message: '502 Bad Gateway' })
})

test('codes are one path segment each, and undefined parameters are left out of a query', () => {
  const params = { path: { code: 'a/b?' }, query: { q: '50 % + more', sort: undefined as never } }
  expect(call('get', '/api/v1/admin/basemaps/{code}/versions', { params })).toMatchObject({
    method: 'GET',
    path: '/api/v1/admin/basemaps/a%2Fb%3F/versions?q=50%20%25%20%2B%20more',
  })
})

test('the compiler refuses a path, a parameter or a body that the API does not have', () => {
  const calls = [
    // @ts-expect-error: no such path
    () => call('get', '/api/v1/admin/base-maps'),
    // @ts-expect-error: no such method
    () => call('delete', '/api/v1/admin/slice/jobs/{id}'),
    // @ts-expect-error: its code is missing
    () => call('get', '/api/v1/admin/basemaps/{code}'),
    // @ts-expect-error: no such filter
    () => call('get', '/api/v1/admin/tokens', { params: { query: { colour: 'red' } } }),
    // @ts-expect-error: no such scope
    () => call('post', '/api/v1/admin/tokens', { body: { name: 'x', scopes: ['fly'] } }),
    // @ts-expect-error: a token without a name
    () => call('post', '/api/v1/admin/tokens', { body: {} }),
    // @ts-expect-error: no such field of an answer
    async () => (await send(basemap('x'))).colour,
  ]
  expect(calls).toHaveLength(7)
})

test('a change as a shell command equals the request that would be sent', () => {
  vi.stubGlobal('window', { location: { origin: 'http://gateway' } })
  const body = { name: "O'Hare" }
  expect(curlOf(call('post', '/api/v1/admin/tokens', { body })).replaceAll(' \\\n ', '')).toBe(
    `curl -X POST 'http://gateway/api/v1/admin/tokens' -H "Authorization: Bearer $ADMIN_TOKEN" -H 'Content-Type: application/json' -d '{"name":"O'\\''Hare"}'`,
  )
})
