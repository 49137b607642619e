import { randomUUID } from 'node:crypto'
import type { DisabledToken } from '@gateway/contracts/edge.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import type { Bus, OwnPresence } from '@gateway/store/bus/bus.js'
import { PostgresBus } from '@gateway/store/bus/postgres-bus.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { findTokensByDigest } from '@gateway/store/tokens.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../testing/test-app.js'

const TOKENS = '/api/v1/admin/tokens'
let gateway: TestApp
beforeAll(async () => {
  // The maximum wait for edges, long enough for a confirmation on a busy machine. A silent edge ends the wait after 3.5 s.
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, { TOKEN_STALE_SECONDS: '30', TOKEN_DEFAULT_TTL: '2h' })
})
afterAll(() => gateway.close())

async function issue(body: object): Promise<IssuedToken> {
  const answer = await gateway.admin({ method: 'POST', url: TOKENS, payload: body })
  expect(answer.statusCode).toBe(200)
  return answer.json()
}

const disable = (id: string) => gateway.admin({ method: 'POST', url: `${TOKENS}/${id}/disable` })

/** An edge process that registers itself and applies the changes that it receives, or not. */
/** `announce` repeats the last announcement: the edge is live for 3.5 s afterwards. */
async function edge(applies: boolean): Promise<{ id: string; bus: Bus; announce: () => Promise<void> }> {
  const bus = new PostgresBus(gateway.store.sql, 300)
  let own: OwnPresence = {
    id: randomUUID(),
    host: 'h',
    pid: 1,
    version: '0',
    started_at: new Date().toISOString(),
    applied_revision: 0,
  }
  await bus.subscribe(
    ({ revision, mark }) => {
      if (!applies) return
      own = { ...own, applied_revision: revision, applied_mark: mark }
      void bus.announce(own)
    },
    () => {},
  )
  await bus.announce(own)
  return { id: own.id, bus, announce: () => bus.announce(own) }
}

test('a token is stored only by its digest and never listed with its plaintext', async () => {
  const issued = await issue({ name: 'once', basemap_codes: ['a', 'b', 'a'] })
  expect(issued).toMatchObject({ basemap_codes: ['a', 'b'], vector_codes: [], scopes: ['read'], disabled_at: null })
  expect(issued.prefix).toBe(issued.token.slice(0, 12))
  const [stored] = await findTokensByDigest(gateway.store.sql, [tokenDigest(issued.token)])
  expect(stored?.id).toBe(issued.id)
  expect((await gateway.admin({ url: TOKENS })).body).not.toContain(issued.token)
})

test('without expires_at a token lives for TOKEN_DEFAULT_TTL, with 0 for ever', async () => {
  const { created_at, expires_at } = await issue({ name: 'ttl' })
  expect(Math.round((Date.parse(expires_at as string) - Date.parse(created_at)) / 60_000)).toBe(120)
  expect((await issue({ name: 'ever', expires_at: 0 })).expires_at).toBeNull()
})

test('expires_at may end with the minute, with a zone or without', async () => {
  for (const expires_at of ['2030-01-02T03:04Z', '2030-01-02T05:04+02:00', '2030-01-02T03:04']) {
    expect((await issue({ name: 'minute', expires_at })).expires_at).toBe('2030-01-02T03:04:00.000Z')
  }
})

test('null counts as omitted, and an unknown field is refused, since a misspelt limit would be no limit', async () => {
  const unset = { basemap_codes: null, vector_codes: null, scopes: null, expires_at: null }
  const { created_at, expires_at, ...issued } = await issue({ name: 'unset', ...unset })
  expect(issued).toMatchObject({ basemap_codes: [], vector_codes: [], scopes: ['read'] })
  expect(Math.round((Date.parse(expires_at as string) - Date.parse(created_at)) / 60_000)).toBe(120)
  const misspelt = { name: 'misspelt', expire_at: '2000-01-01' }
  const answer = await gateway.admin({ method: 'POST', url: TOKENS, payload: misspelt })
  expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining('expire_at')])
  expect((await gateway.admin({ method: 'POST', url: TOKENS, payload: { name: null } })).statusCode).toBe(400)
})

test('the list comes newest first, in pages, with the total of all', async () => {
  const names = ['p1', 'p2', 'p3']
  for (const name of names) await issue({ name })
  const page = (await gateway.admin({ url: `${TOKENS}?limit=2&offset=1` })).json()
  expect(page.items.map((token: IssuedToken) => token.name)).toEqual(['p2', 'p1'])
  expect(page.total).toBeGreaterThanOrEqual(3)
})

test('issuing and disabling log the change by digest and write an audit entry without the plaintext', async () => {
  const before = await currentState(gateway.store.sql)
  const issued = await issue({ name: 'audited' })
  expect((await disable(issued.id)).statusCode).toBe(200)
  const since = await changesSince(gateway.store.sql, before)
  const change = { kind: 'token', key: tokenDigest(issued.token).toString('hex') }
  expect(since).toMatchObject({ covered: true, changes: [change, change] })
  const audit = await gateway.admin({ url: '/api/v1/admin/audit?limit=2' })
  expect(audit.json().items).toMatchObject([
    { action: 'token.disable', subject: issued.id, actor: 'token', address: '127.0.0.1' },
    { action: 'token.issue', subject: issued.id },
  ])
  expect(audit.body).not.toContain(issued.token)
})

test('the response to disabling names the edge processes that confirmed and those that did not', async () => {
  const quick = await edge(true)
  const stuck = await edge(false)
  const { id } = await issue({ name: 'confirmed' })
  const first: DisabledToken = (await disable(id)).json()
  expect(first.confirmed.map((e) => e.id)).toEqual([quick.id])
  expect(first.pending.map((e) => e.id)).toEqual([stuck.id])
  expect(first).not.toHaveProperty('digest')
  await stuck.bus.withdraw(stuck.id)
  await quick.announce()
  const again: DisabledToken = (await disable(id)).json()
  expect(again.disabled_at).toBe(first.disabled_at)
  expect(again.confirmed.map((e) => e.id)).toEqual([quick.id])
  expect(again.pending).toEqual([])
  await quick.bus.withdraw(quick.id)
})

test.each(['00000000-0000-4000-8000-000000000000', 'nonsense', '%00'])(
  'disabling the unknown %s returns 404',
  async (id) => {
    expect((await disable(id)).statusCode).toBe(404)
  },
)

test('with the bus out of reach the token is disabled, no edge confirms, and the last known edges are pending', async () => {
  const known = [
    {
      id: randomUUID(),
      host: 'h',
      pid: 7,
      version: '0',
      started_at: new Date().toISOString(),
      seen_at: new Date().toISOString(),
      applied_revision: 0,
    },
  ]
  let up = true
  const cut = async (): Promise<never> => {
    throw new Error('out of reach')
  }
  const bus = {
    medium: 'redis',
    connected: false,
    publish: cut,
    subscribe: cut,
    presence: async () => (up ? { live: known, silent: [] } : cut()),
    awaitApplied: cut,
    close: async () => {},
  } as unknown as Bus
  const alone = await startTestApp(process.env.TEST_POSTGRES_URL, {}, bus)
  expect((await alone.admin({ url: '/api/v1/admin/edges' })).json()).toEqual({ items: known, total: 1 })
  expect((await alone.admin({ url: `/api/v1/admin/edges/${known[0]?.id}` })).json()).toEqual(known[0])
  up = false
  expect((await alone.admin({ url: '/api/v1/admin/edges' })).json()).toEqual({ items: known, total: 1 })
  const { id } = (await alone.admin({ method: 'POST', url: TOKENS, payload: { name: 'x' } })).json()
  const answer = await alone.admin({ method: 'POST', url: `${TOKENS}/${id}/disable` })
  expect(answer.json()).toMatchObject({ id, confirmed: [], pending: known, disabled_at: expect.any(String) })
  await alone.close()
})
