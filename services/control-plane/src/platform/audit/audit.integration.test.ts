import { insertAudit } from '@gateway/store/audit.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'
import { sendHeadIfDue } from './send-head.js'

let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(() => gateway.close())

const get = (path: string) => gateway.admin({ url: `/api/v1/admin/audit${path}` })
const post = (path: string, payload: object) => gateway.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })
const newest = async (subject: string) => (await get(`?subject=${subject}&limit=1`)).json().items[0]

test('an entry that was altered in the database is found, and the metric reports it', async () => {
  const { sql } = gateway.ctx
  const verify = async () => (await get('/verify')).json()
  const gauge = async () =>
    /^gateway_control_audit_mismatch (.*)$/m.exec(await gateway.ctx.metrics.registry.metrics())?.[1]
  for (const code of ['one', 'two', 'three'])
    await post('/scan-sources', { code, kind: 'vector', path: `/data/${code}` })
  const { items } = (await get('')).json()
  expect(items[0].previous_sha256).toBe(items[1].sha256)
  expect(await verify()).toEqual({
    first_mismatch: null,
    count: items.length,
    head: items[0].sha256,
    head_position: items.length,
    anchor_position: 0,
    anchor_sha256: '0'.repeat(64),
    anchor_at: null,
  })
  expect(await gauge()).toBe('0')
  const { id, chain_position, at, action } = items[1]
  await sql`UPDATE audit SET actor = 'nobody' WHERE id = ${id}`
  const found = { reason: 'altered', id, chain_position, at, actor: 'nobody', action, subject: 'two' }
  expect(await verify()).toMatchObject({ first_mismatch: found, count: items.length - 2, head: items[0].sha256 })
  expect(await gauge()).toBe('1')
  await sql`UPDATE audit SET actor = ${items[1].actor} WHERE id = ${id}`
  expect((await verify()).first_mismatch).toBeNull()
})

test('the head is owed to the target once a day, whoever looks, and says what does not match', async () => {
  const { ctx } = gateway
  const send = () => sendHeadIfDue(ctx, 'notary', AbortSignal.timeout(10_000))
  expect(await send()).toBe(false)
  await post('/targets', { code: 'notary', kind: 'directory', path: '/nowhere' })
  expect((await Promise.all([send(), send(), send()])).filter(Boolean)).toEqual([true])
  expect(await send()).toBe(false)
  const { head, head_position, count } = (await get('/verify')).json()
  const sent = async () =>
    (await ctx.sql`SELECT body FROM deliveries WHERE body->>'event' = 'audit.head' ORDER BY created_at DESC`).map(
      ({ body }) => body,
    )
  expect(await sent()).toMatchObject([
    { event: 'audit.head', head, head_position, count, first_mismatch: null, anchor_position: 0, anchor_at: null },
  ])
  const records = await gateway.admin({ url: '/api/v1/admin/event-records' })
  expect(records.json().items).toMatchObject([{ event: 'audit.head', target_code: 'notary', basemap_code: '' }])
  await ctx.sql`UPDATE deliveries SET created_at = now() - interval '25 hours', status = 'succeeded', due_at = NULL`
  await ctx.sql`UPDATE audit SET actor = actor || '!' WHERE chain_position = ${head_position}`
  expect(await send()).toBe(true)
  expect((await sent())[0]).toMatchObject({ first_mismatch: { reason: 'altered', chain_position: head_position } })
  expect(await ctx.metrics.registry.metrics()).toMatch(/^gateway_control_audit_head_received_timestamp_seconds [1-9]/m)
  await ctx.sql`UPDATE audit SET actor = rtrim(actor, '!') WHERE chain_position = ${head_position}`
})

test('an export has every entry that matches, over all parts in which it is read, newest first', async () => {
  const { sql } = gateway.ctx
  await sql`
    INSERT INTO audit (actor, address, action, subject, detail)
    SELECT 'ann', '::1', 'many', 'n' || n, '{}' FROM generate_series(1, 1200) AS n`
  const answer = await get('/export?action=many&format=ndjson')
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
  const subjects = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).subject)
  expect(subjects).toEqual(Array.from({ length: 1200 }, (_, i) => `n${1200 - i}`))
})

test('an export as CSV has a heading, and details as JSON in one field', async () => {
  await gateway.ctx.sql.begin((tx) =>
    insertAudit(tx, { actor: '=1+1', address: '::1', action: 'one', subject: 'a "b"', detail: { name: 'x, y' } }),
  )
  const answer = await get('/export?action=one')
  expect(answer.headers['content-disposition']).toBe('attachment; filename="audit.csv"')
  expect(answer.body).toMatch(
    /^id,at,actor,address,action,subject,detail,subject_name\r\n\d+,[^,]+Z,'=1\+1,::1,one,"a ""b""","\{""name"":""x, y""\}","x, y"\r\n$/,
  )
})

test('an empty export has only the heading, and an unknown filter is refused', async () => {
  expect((await get('/export?action=none')).body).toBe('id,at,actor,address,action,subject,detail,subject_name\r\n')
  expect((await get('/export?actoin=none')).statusCode).toBe(400)
})

test('an entry about a changed target or source contains the old and new values, but no secret', async () => {
  const target = { code: 'told', kind: 'http', url: 'http://one.example/', secret: 'first-secret' }
  await post('/targets', target)
  expect((await newest('told')).detail.before).toEqual({})
  await post('/targets', { ...target, url: 'http://two.example/', secret: 'second-secret' })
  const { detail, subject_name, before, after } = await newest('told')
  expect([subject_name, before, after]).toEqual(['told', detail.before, detail.after])
  expect(detail).toEqual({
    name: 'told',
    before: { url: 'http://one.example/' },
    after: { url: 'http://two.example/' },
    secret: 'changed',
  })
  await post('/scan-sources', { code: 'moved', kind: 'vector', path: '/data/one' })
  await post('/scan-sources', { code: 'moved', kind: 'vector', path: '/data/two', name: 'Moved' })
  expect((await newest('moved')).detail).toEqual({
    name: 'Moved',
    before: { name: 'moved', path: '/data/one' },
    after: { name: 'Moved', path: '/data/two' },
  })
})
