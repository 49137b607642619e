import { expect, test } from 'vitest'
import { askEverywhere } from '../harness/ask-everywhere.js'
import { useMaps } from './maps.js'

const WORKERS = 2
/** Grace long enough for requests on a busy machine. */
const GRACE_SECONDS = 15
const maps = useMaps({ edges: 2, edgeWorkers: WORKERS })

interface Changed {
  readonly confirmed: readonly unknown[]
  readonly pending: readonly unknown[]
  readonly token?: string
}

const TILE = '/tiles/world/2026-2/0/0/0.png'

/** The four ways of delivery. */
const WAYS: readonly ((token: string) => { query?: string; headers?: Record<string, string> })[] = [
  (token) => ({ headers: { authorization: `Bearer ${token}` } }),
  (token) => ({ headers: { 'x-access-token': token } }),
  (token) => ({ query: `?token=${token}` }),
  (token) => ({ query: `?access_token=${token}` }),
]

/** Returns the statuses of every process of both edges for each way of delivery. Asks twice, so that hot tiles are served natively. */
async function statuses(token: string, path = TILE, headers: Record<string, string> = {}): Promise<number[]> {
  const seen = new Set<number>()
  for (let round = 0; round < 2; round++) {
    for (const way of WAYS) {
      const delivered = way(token)
      const all = { ...delivered.headers, ...headers }
      for (const { status } of await askEverywhere(maps().gateway, `${path}${delivered.query ?? ''}`, all))
        seen.add(status)
    }
  }
  return [...seen]
}

async function change(path: string, method: string, body?: object): Promise<Changed> {
  const answer = await maps().gateway.admin.expect<Changed>(path, { method, ...(body && { body }) })
  expect([answer.confirmed.length, answer.pending.length]).toEqual([2 * WORKERS, 0])
  return answer
}

test('changed grants hold on every process once the call has returned, and the secret stays', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['world'] })
  expect(await statuses(token)).toEqual([200])
  expect(await change(`/tokens/${id}`, 'PATCH', { basemap_codes: ['flipped'] })).not.toHaveProperty('token')
  expect(await statuses(token)).toEqual([403])
  await change(`/tokens/${id}`, 'PATCH', { basemap_codes: ['world'], name: 'renamed' })
  expect(await statuses(token)).toEqual([200])
  await change(`/tokens/${id}`, 'PATCH', { scopes: ['slice'] })
  expect(await statuses(token)).toEqual([403])
  expect(await maps().gateway.admin.expect(`/tokens/${id}`)).toMatchObject({
    name: 'renamed',
    basemap_codes: ['world'],
    scopes: ['slice'],
  })
})

test('a token ends by a changed expiry and is valid again after a later one', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['world'], expires_at: 0 })
  expect(await statuses(token)).toEqual([200])
  await change(`/tokens/${id}`, 'PATCH', { expires_at: '2020-01-01' })
  expect(await statuses(token)).toEqual([401])
  await change(`/tokens/${id}`, 'PATCH', { expires_at: 0 })
  expect(await statuses(token)).toEqual([200])
})

test('a token can be deleted once it is disabled or expired, and is unknown afterwards', async () => {
  const { admin } = maps().gateway
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['world'] })
  expect(await statuses(token)).toEqual([200])
  expect((await admin.call(`/tokens/${id}`, { method: 'DELETE' })).status).toBe(409)
  await change(`/tokens/${id}`, 'PATCH', { expires_at: '2020-01-01' })
  await change(`/tokens/${id}`, 'DELETE')
  expect(await statuses(token)).toEqual([401])
  for (const method of ['GET', 'DELETE']) expect((await admin.call(`/tokens/${id}`, { method })).status).toBe(404)
})

test('a rotated token has a new secret on every process, and the old one ends at once', async () => {
  const { id, token, prefix } = await maps().gateway.issueToken({ basemap_codes: ['world'] })
  expect(await statuses(token)).toEqual([200])
  const rotated = await change(`/tokens/${id}/rotate`, 'POST', {})
  expect(rotated).toMatchObject({ id, basemap_codes: ['world'], previous_prefix: null })
  expect(await statuses(token)).toEqual([401])
  expect(await statuses(rotated.token as string)).toEqual([200])
  const read = await maps().gateway.admin.expect<{ prefix: string }>(`/tokens/${id}`)
  expect(read).not.toHaveProperty('token')
  expect([read.prefix, read.prefix === prefix]).toEqual([rotated.token?.slice(0, 12), false])
})

test('during the grace both secrets work, then the old one ends by itself, natively too', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['world'] })
  const rotated = await change(`/tokens/${id}/rotate`, 'POST', { grace_seconds: 600 })
  for (const secret of [token, rotated.token as string]) expect(await statuses(secret)).toEqual([200])
  await change(`/tokens/${id}`, 'PATCH', { basemap_codes: ['flipped'] })
  for (const secret of [token, rotated.token as string]) expect(await statuses(secret)).toEqual([403])
  await change(`/tokens/${id}`, 'PATCH', { basemap_codes: ['world'] })
  const third = await change(`/tokens/${id}/rotate`, 'POST', { grace_seconds: GRACE_SECONDS })
  const startedAt = Date.now()
  const one = async () => (await maps().get(TILE, { 'x-access-token': rotated.token as string })).status
  expect(await one()).toBe(200)
  // The requests take a part of the grace.
  expect(await statuses(token)).toEqual([401])
  while ((await one()) === 200) await new Promise((resolve) => setTimeout(resolve, 50))
  expect(Date.now() - startedAt).toBeGreaterThan(GRACE_SECONDS * 500)
  expect(await statuses(rotated.token as string)).toEqual([401])
  expect(await statuses(third.token as string)).toEqual([200])
})

test('disabling ends both secrets', async () => {
  const { id, token } = await maps().gateway.issueToken({ basemap_codes: ['world'] })
  const rotated = await change(`/tokens/${id}/rotate`, 'POST', { grace_seconds: 600 })
  for (const secret of [token, rotated.token as string]) expect(await statuses(secret)).toEqual([200])
  await change(`/tokens/${id}/disable`, 'POST')
  for (const secret of [token, rotated.token as string]) expect(await statuses(secret)).toEqual([401])
})
