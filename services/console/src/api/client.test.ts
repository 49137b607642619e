import { afterEach, expect, test, vi } from 'vitest'
import { ApiError, getJson } from './client.js'

afterEach(() => vi.unstubAllGlobals())

const hanging = (_: string, { signal }: RequestInit) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

test('a request that nobody answers is given up and said to have timed out', async () => {
  vi.stubGlobal('fetch', hanging)
  const error = await getJson('/x', { timeoutMs: 5 }).catch((e) => e)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 0, timedOut: true })
})

test('a body that does not come in time is a time-out as well', async () => {
  const json = (signal: AbortSignal) => () =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => ({
    ok: true,
    json: json(signal as AbortSignal),
  }))
  await expect(getJson('/x', { timeoutMs: 5 })).rejects.toMatchObject({ timedOut: true })
})

test('what the caller aborts rejects with its reason, not with an error of the service', async () => {
  vi.stubGlobal('fetch', hanging)
  const stop = new AbortController()
  const request = getJson('/x', { signal: stop.signal })
  stop.abort(new Error('the page was left'))
  await expect(request).rejects.toThrow('the page was left')
})

test('a refusal has the words of the service, or its status where they are missing', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ error: 'no such basemap' }, { status: 404 }))
  await expect(getJson('/x')).rejects.toMatchObject({ status: 404, message: 'no such basemap' })
  vi.stubGlobal('fetch', async () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }))
  await expect(getJson('/x')).rejects.toMatchObject({ status: 502, message: '502 Bad Gateway' })
})
