import { expect, test } from 'vitest'
import { useMaps } from './maps.js'

const maps = useMaps()
const DAY_MS = 86_400_000

const issue = (body: unknown) => maps().gateway.admin.call<Record<string, unknown>>('/tokens', { body })

const disable = (id: string) =>
  maps().gateway.admin.call<{ disabled_at: string; confirmed: unknown[]; pending: unknown[] }>(
    `/tokens/${id}/disable`,
    {
      method: 'POST',
    },
  )

test('the plaintext of a token is returned once at issue, and never listed', async () => {
  const answer = await issue({ name: 'once', basemap_codes: ['world'] })
  expect(answer.status).toBe(200)
  const record = answer.body
  expect(record).toMatchObject({
    name: 'once',
    basemap_codes: ['world'],
    vector_codes: [],
    scopes: ['read'],
    disabled_at: null,
    first_used_at: null,
    first_used_from: null,
    last_used_at: null,
    last_used_from: null,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    token: expect.stringMatching(/^bmp_[0-9A-Za-z]{38}$/),
  })
  expect(record.prefix).toBe((record.token as string).slice(0, 12))
  const listed = await maps().gateway.admin.expect<{ items: Record<string, unknown>[]; total: number }>('/tokens')
  expect(JSON.stringify(listed)).toContain(record.id)
  expect(JSON.stringify(listed)).not.toContain(record.token)
  const { items, total } = listed
  expect(total).toBe(items.length)
  expect(items.every((item) => !('token' in item))).toBe(true)
})

test('without expires_at a token lives for TOKEN_DEFAULT_TTL, 30 days by default', async () => {
  const { expires_at } = (await issue({ name: 'ttl' })).body as { expires_at: string }
  expect(Math.abs(Date.parse(expires_at) - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000)
})

test('expires_at 0 never expires', async () => {
  expect((await issue({ name: 'forever', expires_at: 0 })).body).toMatchObject({ expires_at: null })
})

test('expires_at without a zone is UTC', async () => {
  expect((await issue({ name: 'no zone', expires_at: '2030-01-02T03:04:05' })).body).toMatchObject({
    expires_at: '2030-01-02T03:04:05.000Z',
  })
})

test('expires_at is returned in UTC whatever its zone in the request', async () => {
  expect((await issue({ name: 'zone', expires_at: '2030-01-02T00:00:00+08:00' })).body).toMatchObject({
    expires_at: '2030-01-01T16:00:00.000Z',
  })
})

test('a token with an expiry in the past can be issued, and the edge refuses it', async () => {
  const answer = await issue({ name: 'past', basemap_codes: ['*'], expires_at: '2020-01-01T00:00:00Z' })
  expect(answer.status).toBe(200)
  const { token } = answer.body as { token: string }
  expect((await fetch(`${maps().gateway.url}/tiles/world/0/0/0.png?token=${token}`)).status).toBe(401)
})

test.each([
  ['no name', {}],
  ['an empty name', { name: '' }],
  ['an unknown scope', { name: 'x', scopes: ['write'] }],
  ['codes that are no list', { name: 'x', basemap_codes: 'world' }],
  ['an expiry that is no date', { name: 'x', expires_at: 'tomorrow' }],
  ['an expiry of 1', { name: 'x', expires_at: 1 }],
  ['a misspelt field', { name: 'x', basemap_code: ['world'] }],
  ['a list instead of an object', []],
])('%s is refused with 400 and the error form', async (_, body) => {
  const answer = await issue(body)
  expect(answer.status).toBe(400)
  expect(answer.body).toEqual({ error: expect.stringMatching(/./) })
})

test('disabling returns the record with the edges that confirmed, and the token is refused afterwards', async () => {
  const { id, token } = await maps().gateway.issueToken({ name: 'to disable', basemap_codes: ['*'] })
  const tile = `${maps().gateway.url}/tiles/world/0/0/0.png`
  const read = () => fetch(tile, { headers: { 'X-Access-Token': token } })
  expect((await read()).status).toBe(200)
  const answer = await disable(id)
  expect(answer.status).toBe(200)
  const record = answer.body
  expect(record.disabled_at).toMatch(/Z$/)
  expect(record.confirmed.length).toBeGreaterThan(0)
  expect(record.pending).toEqual([])
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await read()).status))
  expect(new Set(statuses)).toEqual(new Set([401]))
  const again = await disable(id)
  expect(again.status).toBe(200)
  expect(again.body).toMatchObject({ disabled_at: record.disabled_at })
})

test.each(['00000000-0000-4000-8000-000000000000', 'nonsense'])(
  'disabling the unknown token %s returns 404',
  async (id) => {
    const answer = await disable(id)
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ error: expect.any(String) })
  },
)

test('issuing and disabling write audit rows without the plaintext', async () => {
  const { id, token } = await maps().gateway.issueToken({ name: 'audited' })
  await disable(id)
  const text = JSON.stringify(await maps().gateway.admin.expect('/audit'))
  expect(text.split(id).length).toBeGreaterThanOrEqual(3)
  expect(text).not.toContain(token)
})
