import { insertAudit } from '@gateway/store/audit.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(() => gateway.close())

const get = (path: string) => gateway.admin({ url: `/api/v1/admin/audit${path}` })
const post = (path: string, payload: object) => gateway.admin({ method: 'POST', url: `/api/v1/admin${path}`, payload })
const newest = async (subject: string) => (await get(`?subject=${subject}&limit=1`)).json().items[0]

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

test('an export of nothing has the heading alone, and a filter that is not known is refused', async () => {
  expect((await get('/export?action=none')).body).toBe('id,at,actor,address,action,subject,detail,subject_name\r\n')
  expect((await get('/export?actoin=none')).statusCode).toBe(400)
})

test('an entry about a changed target or source tells what it was before and is now, but no secret', async () => {
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
