import type { IssuedToken } from '@gateway/contracts/token.js'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { findTokensByDigest } from '@gateway/store/tokens.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const TOKENS = '/api/v1/admin/tokens'
const UNKNOWN = ['00000000-0000-4000-8000-000000000000', 'nonsense', '%00']
let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '1' })
})
afterAll(() => gateway.close())

async function issue(body: object = {}): Promise<IssuedToken> {
  return (await gateway.admin({ method: 'POST', url: TOKENS, payload: { name: 'one', ...body } })).json()
}

const patch = (id: string, payload: object) => gateway.admin({ method: 'PATCH', url: `${TOKENS}/${id}`, payload })

async function newestAudit() {
  return (await gateway.admin({ url: '/api/v1/admin/audit?limit=1' })).json().items[0]
}

test('a change is logged by digest, and audited with the old and new values of the changed fields', async () => {
  const issued = await issue({ basemap_codes: ['a'], expires_at: '2030-01-01' })
  const before = await currentState(gateway.store.sql)
  const answer = await patch(issued.id, { name: 'two', basemap_codes: ['a', 'b', 'a'], vector_codes: null })
  const { token, warnings: _, ...record } = issued
  const expected = { ...record, name: 'two', basemap_codes: ['a', 'b'] }
  expect(answer.json()).toEqual({ ...expected, confirmed: [], pending: [], warnings: [expect.anything()] })
  expect((await gateway.admin({ url: `${TOKENS}/${issued.id}` })).json()).toEqual(expected)
  const change = { kind: 'token', key: tokenDigest(token).toString('hex') }
  expect(await changesSince(gateway.store.sql, before)).toMatchObject({ changes: [change] })
  expect(await newestAudit()).toMatchObject({
    action: 'token.update',
    subject: issued.id,
    detail: { before: { name: 'one', basemap_codes: ['a'] }, after: { name: 'two', basemap_codes: ['a', 'b'] } },
  })
})

test('a change without an effect is neither logged nor audited', async () => {
  const { id, name, expires_at } = await issue({ basemap_codes: ['a'] })
  const [before, audited] = [await currentState(gateway.store.sql), await newestAudit()]
  expect((await patch(id, { name, expires_at, basemap_codes: ['a'] })).statusCode).toBe(200)
  expect([await currentState(gateway.store.sql), await newestAudit()]).toEqual([before, audited])
})

test('the burst of a rate limit defaults to its rate; the limit stays if it is omitted, and null lifts it', async () => {
  const issued = await issue({ rate_limit: { per_second: 2.5 } })
  const limit = { per_second: 2.5, burst: 3 }
  expect(issued.rate_limit).toEqual(limit)
  const stored = async () => (await gateway.admin({ url: `${TOKENS}/${issued.id}` })).json().rate_limit
  expect((await patch(issued.id, { name: 'two' })).json().rate_limit).toEqual(limit)
  await patch(issued.id, { rate_limit: { per_second: 10, burst: 100 } })
  expect(await stored()).toEqual({ per_second: 10, burst: 100 })
  expect((await newestAudit()).detail).toMatchObject({ before: { rate_limit: limit } })
  expect((await patch(issued.id, { rate_limit: null })).json().rate_limit).toBeNull()
  expect(await stored()).toBeNull()
})

test('the audit contains the length of a list that is too long for a row', async () => {
  const { id } = await issue()
  await patch(id, { vector_codes: Array.from({ length: 101 }, (_, i) => `v${i}`) })
  expect((await newestAudit()).detail).toMatchObject({
    before: { vector_codes: [] },
    after: { vector_codes: { entries: 101 } },
  })
})

test.each([
  ['nothing', {}],
  ['null alone', { name: null }],
  ['an empty name', { name: '' }],
  ['no scope', { scopes: [] }],
  ['a year that cannot be said', { expires_at: '0000-01-01' }],
  ['no requests a second', { rate_limit: { per_second: 0 } }],
  ['half a request at once', { rate_limit: { per_second: 1, burst: 0.5 } }],
  ['a limit without its rate', { rate_limit: { burst: 1 } }],
  ['a field that is not to be changed', { disabled_at: '2030-01-01' }],
])('changing %s is refused with 400', async (_, payload) => {
  const { id } = await issue()
  expect((await patch(id, payload)).statusCode).toBe(400)
})

test.each(UNKNOWN)('the unknown token %s returns 404', async (id) => {
  const url = `${TOKENS}/${id}`
  expect((await gateway.admin({ url })).statusCode).toBe(404)
  expect((await gateway.admin({ method: 'DELETE', url })).statusCode).toBe(404)
  expect((await patch(id, { name: 'x' })).statusCode).toBe(404)
})

test('deleting a disabled token is audited with its content', async () => {
  const { id, prefix } = await issue({ name: 'gone' })
  await gateway.admin({ method: 'POST', url: `${TOKENS}/${id}/disable` })
  const answer = await gateway.admin({ method: 'DELETE', url: `${TOKENS}/${id}` })
  expect([answer.statusCode, answer.json()]).toEqual([200, { confirmed: [], pending: [] }])
  expect(await newestAudit()).toMatchObject({
    action: 'token.delete',
    subject: id,
    detail: { before: { name: 'gone', prefix } },
  })
})

test('a rotation logs all changed secrets, keeps the last one for the grace, and is audited without them', async () => {
  const issued = await issue({ expires_at: 0 })
  const rotate = async (payload: object) => {
    const answer = await gateway.admin({
      method: 'POST',
      url: `${TOKENS}/${issued.id}/rotate`,
      payload,
    })
    expect(answer.statusCode).toBe(200)
    return answer.json() as IssuedToken
  }
  const second = await rotate({ grace_seconds: 600 })
  expect(second).toMatchObject({ id: issued.id, previous_prefix: issued.prefix, expires_at: null })
  expect(await newestAudit()).toMatchObject({
    action: 'token.rotate',
    detail: { grace_seconds: 600, before: { prefix: issued.prefix }, after: { prefix: second.prefix } },
  })
  const digests = [issued, second].map(({ token }) => tokenDigest(token))
  const found = await findTokensByDigest(gateway.store.sql, digests)
  const expiryOf = (digest: Buffer) => found.find((token) => token.digest === digest.toString('hex'))?.expires_at
  expect(digests.map(expiryOf)).toEqual([second.previous_expires_at, null])
  await patch(issued.id, { expires_at: '2020-01-01' })
  const ended = await findTokensByDigest(gateway.store.sql, digests)
  expect(ended.map((token) => token.expires_at)).toEqual(Array(2).fill('2020-01-01T00:00:00.000Z'))
  await patch(issued.id, { expires_at: 0 })
  const before = await currentState(gateway.store.sql)
  const third = await rotate({})
  expect(third.previous_prefix).toBeNull()
  const since = await changesSince(gateway.store.sql, before)
  const keys = since.covered ? since.changes.map(({ key }) => key) : []
  const all = [issued, second, third].map(({ token }) => tokenDigest(token))
  expect(new Set(keys)).toEqual(new Set(all.map((digest) => digest.toString('hex'))))
  expect(await findTokensByDigest(gateway.store.sql, all)).toHaveLength(1)
  const audit = (await gateway.admin({ url: '/api/v1/admin/audit' })).body
  for (const { token } of [issued, second, third]) expect(audit).not.toContain(token)
})

test('a rotation without a body has no grace, and calls that need fields name them', async () => {
  const { id } = await issue()
  expect((await gateway.admin({ method: 'POST', url: `${TOKENS}/${id}/rotate` })).json().previous_expires_at).toBeNull()
  const nothing = await gateway.admin({ method: 'POST', url: TOKENS })
  expect([nothing.statusCode, nothing.json().error]).toEqual([400, expect.stringContaining('body.name')])
})

test('a disabled or expired token is not rotated, and a grace is at most 30 days', async () => {
  const { id } = await issue({ expires_at: '2020-01-01' })
  const rotate = (payload: object) => gateway.admin({ method: 'POST', url: `${TOKENS}/${id}/rotate`, payload })
  expect((await rotate({})).statusCode).toBe(409)
  await patch(id, { expires_at: 0 })
  for (const grace_seconds of [-1, 1.5, 2_592_001]) expect((await rotate({ grace_seconds })).statusCode).toBe(400)
  expect((await rotate({ grace_seconds: 2_592_000 })).statusCode).toBe(200)
  await gateway.admin({ method: 'POST', url: `${TOKENS}/${id}/disable` })
  expect((await rotate({})).statusCode).toBe(409)
})

test('an area is set, changed and lifted; an invalid area is refused', async () => {
  const issued = await issue({ bounds: [170, -20, -170, 20] })
  expect(issued.bounds).toEqual([170, -20, -170, 20])
  expect((await gateway.admin({ url: `${TOKENS}/${issued.id}` })).json().bounds).toEqual([170, -20, -170, 20])
  const changed = (await patch(issued.id, { bounds: [1.5, 2, 3, 4] })).json()
  expect(changed).toMatchObject({ bounds: [1.5, 2, 3, 4], confirmed: expect.any(Array), pending: [] })
  expect((await newestAudit()).detail).toMatchObject({
    before: { bounds: [170, -20, -170, 20] },
    after: { bounds: [1.5, 2, 3, 4] },
  })
  expect((await patch(issued.id, { name: 'same' })).json().bounds).toEqual([1.5, 2, 3, 4])
  expect((await patch(issued.id, { bounds: null })).json().bounds).toBeNull()
  expect((await issue()).bounds).toBeNull()
  for (const bounds of [
    [],
    [1, 2, 3],
    [0, 2, 1, 1],
    [0, 0, 541, 1],
    [0, 0, 0, 1],
    [0, 0, 1, 1, 1],
    '0,0,1,1',
    ['a', 0, 1, 1],
  ]) {
    expect([bounds, (await patch(issued.id, { bounds })).statusCode]).toEqual([bounds, 400])
  }
})

test('limits are set, changed and lifted; an invalid origin or network is refused', async () => {
  const allowed_origins = ['https://maps.example.com', 'http://localhost:8080', 'capacitor://localhost']
  const allowed_networks = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1', '::1']
  const issued = await issue({ allowed_origins, allowed_networks })
  expect(issued).toMatchObject({ allowed_origins, allowed_networks })
  const lifted = await patch(issued.id, { allowed_origins: [], allowed_networks: ['10.0.0.0/8'] })
  expect(lifted.json()).toMatchObject({ allowed_origins: [], allowed_networks: ['10.0.0.0/8'] })
  expect((await newestAudit()).detail).toMatchObject({
    before: { allowed_origins, allowed_networks },
    after: { allowed_origins: [], allowed_networks: ['10.0.0.0/8'] },
  })
  const written = ['https://maps.example.com/', 'https://Maps.example.com', 'maps.example.com', '*', 'null', '']
  for (const origin of [...written, 'https://*.example.com', 'capacitor://*']) {
    expect([origin, (await patch(issued.id, { allowed_origins: [origin] })).statusCode]).toEqual([origin, 400])
  }
  for (const network of ['10.0.0.0/33', '10.0.0', 'example.com', '::/129', '10.0.0.0/8 ', '']) {
    expect([network, (await patch(issued.id, { allowed_networks: [network] })).statusCode]).toEqual([network, 400])
  }
})
