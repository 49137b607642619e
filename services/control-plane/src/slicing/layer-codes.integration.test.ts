import { insertSession } from '@gateway/store/operator-sessions.js'
import { readSliceJob, type StoredSliceJob } from '@gateway/store/slice-jobs.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSessionId, sessionDigest } from '../platform/admin-gate/session-cookie.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { enqueueCallback } from './callback.js'

const SECRET = 'https://user:word@survey.example/finished?secret=s3cret'
const SHOWN = 'https://survey.example/finished'
const JOB = { target_code: 'city', source_paths: ['/images/a.tif', '/images/b.tif'] }

let app: TestApp
const tokens: Record<string, { id: string; token: string }> = {}
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL, {
    // No server listens there: the tests only need sessions with roles.
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_ROLES: 'admin=gis-admins',
  })
  const issue = async (name: string, more: object = {}) => {
    const body = { name, scopes: ['slice'], ...more }
    tokens[name] = (await app.admin({ method: 'POST', url: '/api/v1/admin/tokens', body })).json()
  }
  await issue('all')
  await issue('same', { layer_codes: ['city'] })
  await issue('port', { layer_codes: ['port'] })
  await issue('none', { layer_codes: [] })
})
afterAll(() => app.close())

const as = (name: string, options: object) =>
  app.app.inject({ ...options, headers: { 'x-access-token': tokens[name]?.token ?? '' } })
const submit = (name: string, more: object = {}) =>
  as(name, { method: 'POST', url: '/api/v1/slice/jobs', body: { ...JOB, ...more } })

test('a token has the layers of its issue, all if none are named, and changes and rotations keep them', async () => {
  const record = async (name: string) =>
    (await app.admin({ url: `/api/v1/admin/tokens/${tokens[name]?.id}` })).json().layer_codes
  expect(await record('all')).toEqual(['*'])
  expect(await record('port')).toEqual(['port'])
  const url = `/api/v1/admin/tokens/${tokens.none?.id}`
  await app.admin({ method: 'PATCH', url, body: { name: 'of nothing' } })
  expect(await record('none')).toEqual([])
  tokens.none = (await app.admin({ method: 'POST', url: `${url}/rotate`, body: {} })).json()
  expect(await record('none')).toEqual([])
  expect((await submit('none')).statusCode).toBe(403)
  await app.admin({ method: 'PATCH', url, body: { layer_codes: ['city', 'city'] } })
  expect(await record('none')).toEqual(['city'])
  expect((await submit('none')).statusCode).toBe(202)
  await app.admin({ method: 'PATCH', url, body: { layer_codes: [] } })
  expect((await submit('none')).statusCode).toBe(403)
  const { items } = (await app.admin({ url: '/api/v1/admin/audit?action=token.update&limit=1' })).json()
  expect(items[0]).toMatchObject({ before: { layer_codes: ['city'] }, after: { layer_codes: [] } })
  const listed = async (layer: string) =>
    (await app.admin({ url: `/api/v1/admin/tokens?layer_code=${layer}&sort=name` }))
      .json()
      .items.map(({ name }: { name: string }) => name)
  expect(await listed('port')).toEqual(['all', 'port'])
})

test('a layer that a token may not slice returns 403, whether or not it exists', async () => {
  for (const target_code of ['city', 'nowhere', 'City', 'ci\u200bty']) {
    const { statusCode, body } = await submit('port', { target_code })
    expect([target_code, statusCode, body]).toEqual([target_code, 403, expect.stringContaining('no access')])
    const sources = await as('port', { url: `/api/v1/slice/layers/${encodeURIComponent(target_code)}/sources` })
    expect([target_code, sources.statusCode]).toEqual([target_code, 403])
  }
  // In the normalized form, which is stored.
  expect((await submit('port', { target_code: 'pört'.replace('ö', 'o\u0308') })).statusCode).toBe(202)
  expect((await submit('port', { target_code: 'p\u00e9ort' })).json()).toMatchObject({ target_code: 'port' })
  expect((await as('port', { url: '/api/v1/slice/layers/port/sources' })).statusCode).toBe(404)
})

test('a job of a layer that a token may not slice returns 404, and its code 409', async () => {
  const { id } = (await submit('all', { code: 'of the city' })).json()
  expect((await as('same', { url: `/api/v1/slice/jobs/${id}` })).statusCode).toBe(200)
  expect((await as('port', { url: `/api/v1/slice/jobs/${id}` })).statusCode).toBe(404)
  expect((await as('port', { method: 'HEAD', url: `/api/v1/slice/jobs/${id}` })).statusCode).toBe(404)
  const repeated = await submit('port', { target_code: 'port', code: 'of the city' })
  expect([repeated.statusCode, Object.keys(repeated.json())]).toEqual([409, ['error']])
  expect(repeated.body).not.toContain(id)
  // The code of a job is unique in the whole service, and returns the job to every caller that may see it.
  expect((await submit('same', { code: 'of the city' })).json().id).toBe(id)
})

test('only the submitting token and admins see the secrets in the callback URL of a job', async () => {
  const address = SECRET.replace('user:word@', '')
  const submitted = (await submit('all', { code: 'secret', callback_url: address })).json()
  expect(submitted.callback_url).toBe(address)
  // Earlier versions accepted user information.
  await app.ctx.sql`UPDATE slice_jobs SET callback_url = ${SECRET} WHERE id = ${submitted.id}`
  const shown = async (name: string) => (await as(name, { url: `/api/v1/slice/jobs/${submitted.id}` })).json()
  expect((await shown('all')).callback_url).toBe(SECRET)
  expect((await shown('same')).callback_url).toBe(SHOWN)
  const repeated = (await submit('same', { code: 'secret' })).json()
  expect([repeated.id, repeated.callback_url]).toEqual([submitted.id, SHOWN])
  const plaintext = (
    await app.admin({ method: 'POST', url: `/api/v1/admin/tokens/${tokens.all?.id}/rotate`, body: {} })
  ).json()
  tokens.all = plaintext
  expect((await shown('all')).callback_url).toBe(SECRET)

  const job = (await readSliceJob(app.ctx.sql, submitted.id)) as StoredSliceJob
  await app.ctx.sql.begin((tx) => enqueueCallback(app.ctx, tx, job))
  const [delivery] = await app.ctx.sql<{ id: string }[]>`SELECT id FROM deliveries WHERE job_id = ${submitted.id}`
  const request = { method: 'POST', url: SECRET, headers: {}, body: JSON.stringify({ callback_url: SECRET }) }
  await app.ctx.sql`
    INSERT INTO delivery_attempts (delivery_id, started_at, duration_ms, outcome, message, answer, request)
    VALUES (${delivery?.id ?? ''}, now(), 1, 'failed', '', '', ${app.ctx.sql.json(request)})`
  const jobs = '/api/v1/admin/slice/jobs'
  const records = '/api/v1/admin/callback-records'
  const urls = [jobs, `${jobs}/${submitted.id}`, records, `${records}/${delivery?.id}`]
  for (const url of urls) {
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      const { statusCode, body } = await app.app.inject({ url, headers: { cookie: await session(role) } })
      expect([url, role, statusCode, body.includes(SHOWN) || body.includes(SECRET)]).toEqual([url, role, 200, true])
      expect([url, role, /s3cret|word@/.test(body)]).toEqual([url, role, role === 'admin'])
    }
  }
  // A search letter by letter does not find it either.
  const found = async (q: string) => (await app.admin({ url: `${records}?q=${encodeURIComponent(q)}` })).json().total
  expect([await found('survey.example/fin'), await found('s3cret'), await found('word@')]).toEqual([1, 0, 0])
})

async function session(role: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const id = newSessionId()
  const who = { name: role, actor: role, role, begunBy: 'oidc' } as const
  await app.ctx.sql.begin((tx) => insertSession(tx, sessionDigest(id), who, 3600))
  return `gateway_session=${id}`
}
