import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Role } from '@gateway/contracts/operator.js'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { changesSince, currentState } from '@gateway/store/change-log.js'
import { insertPush } from '@gateway/store/deliveries.js'
import { insertSession } from '@gateway/store/operator-sessions.js'
import { readVector } from '@gateway/store/vectors.js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fillCatalog } from '../../testing/catalog.js'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { neededRole } from '../admin-gate/roles.js'
import { newSessionId, sessionDigest } from '../admin-gate/session-cookie.js'

const ADMIN = '/api/v1/admin'
const MISSING = '00000000-0000-4000-8000-000000000000'
let gateway: TestApp
let home: string
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'bulk-'))
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {
    TOKEN_STALE_SECONDS: '1',
    // No server listens there: the tests only need sessions with roles.
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_ROLES: 'admin=gis-admins',
  })
  await fillCatalog(gateway.ctx.sql, home)
  const target = { code: 'city', kind: 'http', url: 'http://127.0.0.1:9/x' }
  await gateway.admin({ method: 'POST', url: `${ADMIN}/targets`, payload: target })
})
afterAll(async () => {
  await gateway.close()
  rmSync(home, { recursive: true })
})

async function post(url: string, payload: object, headers: Record<string, string> = {}) {
  const answer = await gateway.admin({ method: 'POST', url: `${ADMIN}${url}`, payload, headers })
  return { status: answer.statusCode, body: answer.json() }
}

const get = async (url: string) => (await gateway.admin({ url: `${ADMIN}${url}` })).json()

/** Returns the actions and subjects of the audit entries added by some work, sorted by subject. */
async function audited(work: () => Promise<unknown>): Promise<string[]> {
  const [newest] = await gateway.ctx.sql<{ id: string }[]>`SELECT coalesce(max(id), 0) AS id FROM audit`
  await work()
  const rows = await gateway.ctx.sql<{ action: string; subject: string }[]>`
    SELECT action, subject FROM audit WHERE id > ${newest?.id ?? 0} ORDER BY subject`
  return rows.map(({ action, subject }) => `${action} ${subject}`)
}

async function issue(name: string, body: object = {}): Promise<IssuedToken> {
  return (await post('/tokens', { name, ...body })).body
}

const issueThree = (name: string, body: object = {}) =>
  Promise.all([issue(name, body), issue(name, body), issue(name, body)])

describe('tokens', () => {
  const token = (id: string) => get(`/tokens/${id}`)

  test('are disabled by ids, each with an audit entry and a change; missing ones are listed, and a repeated call is harmless', async () => {
    const ids = (await issueThree('disabled')).map(({ id }) => id).sort()
    const before = await currentState(gateway.ctx.sql)
    const disable = () => post('/tokens/bulk', { action: 'disable', ids: [...ids, ids[0], MISSING, 'nonsense'] })
    const expected = {
      matched: 5,
      done: 3,
      failed: [MISSING, 'nonsense'].map((id) => ({
        id,
        code: 'not_found',
        error: 'no such token',
        details: [{ code: 'token_not_found', params: {} }],
      })),
      confirmed: [],
      pending: [],
    }
    const entries = await audited(async () => expect(await disable()).toEqual({ status: 200, body: expected }))
    expect(entries).toEqual(ids.map((id) => `token.disable ${id}`))
    const since = await changesSince(gateway.ctx.sql, before)
    expect(since.covered && since.changes.length).toBe(3)
    const moments = await Promise.all(ids.map(async (id) => (await token(id)).disabled_at))
    expect(moments).not.toContain(null)
    expect(await disable()).toEqual({ status: 200, body: expected })
    expect(await Promise.all(ids.map(async (id) => (await token(id)).disabled_at))).toEqual(moments)
  })

  test('are selected by the filter of their list', async () => {
    const [one, two] = await issueThree('filtered', { basemap_codes: ['f1'] })
    const other = await issue('filtered too', { basemap_codes: ['f2'] })
    await post(`/tokens/${two?.id}/disable`, {})
    const filter = { basemap_code: 'f1', status: 'active', q: 'filt' }
    const { body } = await post('/tokens/bulk', { action: 'disable', filter })
    expect(body).toMatchObject({ matched: 2, done: 2, failed: [] })
    expect([(await token(one.id)).disabled_at, (await token(other.id)).disabled_at]).toEqual([expect.any(String), null])
    expect((await post('/tokens/bulk', { action: 'disable', filter })).body).toMatchObject({ matched: 0, done: 0 })
  })

  test('are extended, never shortened', async () => {
    const early = await issue('early', { expires_at: '2090-01-01' })
    const late = await issue('late', { expires_at: '2099-01-01' })
    const never = await issue('never', { expires_at: 0 })
    const ids = [early.id, late.id, never.id]
    const extend = (expires_at: unknown) => post('/tokens/bulk', { action: 'extend', ids, params: { expires_at } })
    const { body } = await extend('2095-06-30')
    expect(body).toMatchObject({ matched: 3, done: 1 })
    expect(body.failed.map(({ id, code }: { id: string; code: string }) => `${id} ${code}`)).toEqual(
      [late.id, never.id].sort().map((id) => `${id} conflict`),
    )
    const ends = async () => Promise.all(ids.map(async (id) => (await token(id)).expires_at))
    expect(await ends()).toEqual(['2095-06-30T00:00:00.000Z', '2099-01-01T00:00:00.000Z', null])
    expect(await audited(() => extend('2095-06-30'))).toEqual([])
    expect((await extend(0)).body).toMatchObject({ done: 3, failed: [] })
    expect(await ends()).toEqual([null, null, null])
  })

  test('get codes of each kind, and lose them', async () => {
    const some = await issue('some', { basemap_codes: ['a'], layer_codes: ['l1'] })
    const all = await issue('all', { basemap_codes: ['*'] })
    const ids = [some.id, all.id]
    const params = { basemap_codes: ['a', 'b'], vector_codes: ['v'], layer_codes: ['l2'] }
    const grant = () => post('/tokens/bulk', { action: 'grant', ids, params })
    expect((await grant()).body).toMatchObject({
      done: 2,
      failed: [],
      warnings: [{ code: 'unknown_code' }, { code: 'unknown_code' }],
    })
    const lists = async ({ id }: { id: string }) => {
      const { basemap_codes, vector_codes, layer_codes } = await token(id)
      return [basemap_codes, vector_codes, layer_codes]
    }
    expect(await lists(some)).toEqual([['a', 'b'], ['v'], ['l1', 'l2']])
    expect(await lists(all)).toEqual([['*'], ['v'], ['*']])
    expect(await audited(grant)).toEqual([])
    const withdraw = await post('/tokens/bulk', { action: 'withdraw', ids, params: { basemap_codes: ['a'] } })
    expect(withdraw.body).toMatchObject({ done: 1, failed: [{ id: all.id, code: 'conflict' }] })
    expect([await lists(some), await lists(all)]).toEqual([
      [['b'], ['v'], ['l1', 'l2']],
      [['*'], ['v'], ['*']],
    ])
    await post('/tokens/bulk', { action: 'withdraw', ids, params: { basemap_codes: ['*'], vector_codes: ['v'] } })
    expect(await lists(all)).toEqual([[], [], ['*']])
  })

  test.each([
    ['expires_at', { action: 'extend' }],
    ['expires_at', { action: 'extend', params: {} }],
    ['basemap_codes', { action: 'grant', params: {} }],
    ['body.params.expires_at', { action: 'grant', params: { expires_at: 0, basemap_codes: ['a'] } }],
    ['body.params.basemap_codes', { action: 'disable', params: { basemap_codes: ['a'] } }],
    ['body.params.colour', { action: 'extend', params: { colour: 'red' } }],
  ])('%s is named if parameters are invalid: %j', async (word, body) => {
    const { status, body: answer } = await post('/tokens/bulk', { ...body, ids: [MISSING] })
    expect([status, answer.error]).toEqual([400, expect.stringContaining(word)])
  })

  test('in a batch larger than one transaction all change, and the call waits for the edges once, up to the last change', async () => {
    const { sql } = gateway.ctx
    await sql`
      INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
      SELECT 'many', 'bmp_' || n, sha256(n::text::bytea), '{}', '{}', '{read}' FROM generate_series(1, 250) n`
    const before = await currentState(sql)
    const waits = vi.spyOn(gateway.ctx.bus, 'awaitApplied')
    let answer: unknown
    const entries = await audited(async () => {
      answer = (await post('/tokens/bulk', { action: 'disable', filter: { q: 'many' } })).body
    })
    expect(answer).toMatchObject({ matched: 250, done: 250, failed: [] })
    expect(entries).toHaveLength(250)
    const { revision, mark } = await currentState(sql)
    expect(waits.mock.calls.map(([state]) => state)).toEqual([{ revision, mark }])
    waits.mockRestore()
    const since = await changesSince(sql, before)
    expect(since.covered && new Set(since.changes.map(({ key }) => key)).size).toBe(250)
  })

  test('beyond the maximum of a call are refused, by ids and by filter, and none is changed', async () => {
    const { sql } = gateway.ctx
    await sql`
      INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
      SELECT 'crowd', 'bmp_' || n, sha256(('crowd' || n)::bytea), '{}', '{}', '{read}' FROM generate_series(1, 10001) n`
    const byFilter = await post('/tokens/bulk', { action: 'disable', filter: { q: 'crowd' } })
    expect([byFilter.status, byFilter.body.error]).toEqual([400, expect.stringContaining('10001')])
    const ids = Array.from({ length: 10_001 }, () => randomUUID())
    const byIds = await post('/tokens/bulk', { action: 'disable', ids })
    expect([byIds.status, byIds.body.error]).toEqual([400, expect.stringContaining('body.ids')])
    expect((await get('/tokens?q=crowd&status=disabled')).total).toBe(0)
    await sql`DELETE FROM tokens WHERE name = 'crowd'`
  })
})

describe.each(['push-records', 'vector-push-records'] as const)('%s', (records) => {
  async function insert(): Promise<string> {
    const push =
      records === 'push-records'
        ? ({ kind: 'basemap_push', basemapCode: 'world', version: 'v1' } as const)
        : ({ kind: 'vector_push', vectorCode: 'main' } as const)
    const delivery = await gateway.ctx.sql.begin((tx) => insertPush(tx, { code: 'city', lane: 'message' }, push))
    return delivery.id
  }
  const bulk = (body: object) => post(`/${records}/bulk`, body)
  const states = (ids: string[]) => Promise.all(ids.map(async (id) => (await get(`/${records}/${id}`)).status))

  test('are cancelled, acknowledged and retried, with one audit entry each', async () => {
    const ids = [await insert(), await insert()].sort()
    const cancelled = await audited(async () =>
      expect((await bulk({ action: 'cancel', ids: [...ids, MISSING] })).body).toEqual({
        matched: 3,
        done: 2,
        failed: [
          {
            id: MISSING,
            code: 'not_found',
            error: 'there is no such record',
            details: [{ code: 'record_not_found', params: {} }],
          },
        ],
      }),
    )
    expect(cancelled).toEqual(ids.map((id) => `push.cancel ${id}`))
    expect(await states(ids)).toEqual(['failed', 'failed'])
    expect((await bulk({ action: 'cancel', ids })).body).toMatchObject({
      done: 0,
      failed: ids.map((id) => ({ id, code: 'conflict' })),
    })
    const { sql } = gateway.ctx
    await sql`UPDATE deliveries SET acknowledged_at = NULL`
    const filter = { target_code: 'city', status: 'failed', acknowledged: 'false' }
    const acknowledged = await audited(() => bulk({ action: 'acknowledge', filter }))
    expect(acknowledged).toEqual(ids.map((id) => `push.acknowledge ${id}`))
    expect((await bulk({ action: 'acknowledge', filter })).body).toEqual({ matched: 0, done: 0, failed: [] })
    const again = { action: 'retry', filter: { status: 'failed' } }
    const retried = await audited(() => bulk(again))
    expect(retried).toEqual(ids.map((id) => `push.retry ${id}`))
    expect(await states(ids)).toEqual(['pending', 'pending'])
    expect((await bulk(again)).body).toEqual({ matched: 0, done: 0, failed: [] })
    expect((await bulk({ action: 'acknowledge', ids })).body).toMatchObject({ done: 0, failed: [{}, {}] })
  })

  test('are not changed by the call for records of another kind', async () => {
    const id = await insert()
    const other = records === 'push-records' ? 'vector-push-records' : 'push-records'
    expect((await post(`/${other}/bulk`, { action: 'cancel', ids: [id] })).body).toMatchObject({ matched: 1, done: 0 })
    expect(await states([id])).toEqual(['pending'])
  })
})

test('slice jobs are cancelled with their callbacks, and acknowledged, with one audit entry each', async () => {
  const submit = async (name: string) => {
    const job = { name, source_paths: ['/none.tif'], target_code: name, callback_url: 'http://127.0.0.1:9/done' }
    const { body } = await post('/slice/jobs', job)
    return body.id as string
  }
  const ids = [await submit('one'), await submit('two')].sort()
  const bulk = (body: object) => post('/slice/jobs/bulk', body)
  const missing = { id: MISSING, code: 'not_found' }
  const cancelled = await audited(async () =>
    expect((await bulk({ action: 'cancel', ids: [...ids, MISSING] })).body).toMatchObject({
      matched: 3,
      done: 2,
      failed: [missing],
    }),
  )
  expect(cancelled).toEqual(ids.map((id) => `slice.cancel ${id}`))
  for (const id of ids) {
    expect(await get(`/slice/jobs/${id}`)).toMatchObject({ status: 'failed', cancelled: true })
    expect((await get(`/callback-records?job_id=${id}`)).total).toBe(1)
  }
  expect((await bulk({ action: 'cancel', ids })).body).toMatchObject({ done: 0, failed: [{}, {}] })
  const filter = { status: 'failed', cancelled: 'true', acknowledged: 'false' }
  const acknowledged = await audited(() => bulk({ action: 'acknowledge', filter }))
  expect(acknowledged).toEqual(ids.map((id) => `slice.acknowledge ${id}`))
  expect((await bulk({ action: 'acknowledge', filter })).body).toEqual({ matched: 0, done: 0, failed: [] })
  expect((await bulk({ action: 'acknowledge', ids: [...ids, MISSING] })).body).toMatchObject({
    done: 2,
    failed: [missing],
  })
})

describe.each([
  ['basemaps', 'world', 'basemap', readBasemap],
  ['vectors', 'main', 'vector', readVector],
] as const)('%s', (list, code, kind, read) => {
  test('are withdrawn and restored, by ids and by filter, with one audit entry and one change each', async () => {
    const withdrawn = async () => (await read(gateway.ctx.sql, code))?.withdrawn
    const before = await currentState(gateway.ctx.sql)
    const withdraw = () => post(`/${list}/bulk`, { action: 'withdraw', ids: ['nowhere', code] })
    const entries = await audited(async () =>
      expect((await withdraw()).body).toEqual({
        matched: 2,
        done: 1,
        failed: [
          {
            id: 'nowhere',
            code: 'not_found',
            error: `no such ${kind}`,
            details: [{ code: `${kind}_not_found`, params: {} }],
          },
        ],
        confirmed: [],
        pending: [],
      }),
    )
    expect(entries).toEqual([`${kind}.withdraw ${code}`])
    expect(await changesSince(gateway.ctx.sql, before)).toMatchObject({ changes: [{ kind, key: code }] })
    expect(await withdrawn()).toBe(true)
    expect((await withdraw()).body).toMatchObject({ done: 1 })
    const filter = { withdrawn: 'true' }
    const restored = await audited(() => post(`/${list}/bulk`, { action: 'restore', filter }))
    expect([restored, await withdrawn()]).toEqual([[`${kind}.restore ${code}`], false])
    expect((await post(`/${list}/bulk`, { action: 'restore', filter })).body).toMatchObject({ matched: 0, done: 0 })
  })
})

/** Lists with an action, and the single routes with the same effect. */
const RESOURCES = [
  ['tokens', 'disable', ['POST /tokens/:id/disable', 'PATCH /tokens/:id']],
  ['push-records', 'retry', ['retry', 'cancel', 'acknowledge'].map((name) => `POST /push-records/:id/${name}`)],
  [
    'vector-push-records',
    'retry',
    ['retry', 'cancel', 'acknowledge'].map((name) => `POST /vector-push-records/:id/${name}`),
  ],
  ['slice/jobs', 'cancel', ['POST /slice/jobs/:id/cancel', 'POST /slice/jobs/:id/acknowledge']],
  ['basemaps', 'withdraw', ['PATCH /basemaps/:code']],
  ['vectors', 'withdraw', ['PATCH /vectors/:code']],
] as const

describe.each(RESOURCES)('changing many %s', (list, action, singles) => {
  test.each([
    ['ids and filter together', { action, ids: [MISSING], filter: {} }, 'either ids or filter'],
    ['neither', { action }, 'either ids or filter'],
    ['no id', { action, ids: [] }, 'body.ids'],
    ['an empty id', { action, ids: [''] }, 'body.ids'],
    ['an unknown action', { action: 'paint', ids: [MISSING] }, 'body.action'],
    ['an unknown field', { action, ids: [MISSING], colour: 'red' }, 'body.colour'],
    ['an unknown filter', { action, filter: { colour: 'red' } }, 'body.filter.colour'],
    ['a page as filter', { action, filter: { limit: '5' } }, 'body.filter.limit'],
  ])('refuses %s', async (_, body, word) => {
    const { status, body: answer } = await post(`/${list}/bulk`, body)
    expect([status, answer.error]).toEqual([400, expect.stringContaining(word)])
  })

  test('needs the role of each single change', async () => {
    const needed = neededRole('POST', `${ADMIN}/${list}/bulk`)
    const ofSingles = singles.map((single) => {
      const [method = '', route = ''] = single.split(' ')
      return neededRole(method, `${ADMIN}${route}`)
    })
    expect(new Set(ofSingles)).toEqual(new Set([needed]))
    const lower = needed === 'admin' ? 'operator' : 'viewer'
    const as = async (role: Role) => {
      const headers = { cookie: await session(role), 'sec-fetch-site': 'same-origin' }
      const payload = { action, ids: [MISSING] }
      return gateway.app.inject({ method: 'POST', url: `${ADMIN}/${list}/bulk`, payload, headers })
    }
    const refused = await as(lower)
    expect([refused.statusCode, refused.headers['x-refusal']]).toEqual([403, 'role_missing'])
    expect((await as(needed)).json()).toMatchObject({
      matched: 1,
      done: 0,
      failed: [{ id: MISSING, code: 'not_found' }],
    })
  })
})

async function session(role: Role): Promise<string> {
  const id = newSessionId()
  const who = { name: role, actor: role, role, begunBy: 'oidc' } as const
  await gateway.ctx.sql.begin((tx) => insertSession(tx, sessionDigest(id), who, 3600))
  return `gateway_session=${id}`
}
