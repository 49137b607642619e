import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Warning } from '@gateway/contracts/warning.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillCatalog } from './testing/catalog.js'
import { startTestApp, type TestApp } from './testing/test-app.js'

let app: TestApp
const home = mkdtempSync(join(tmpdir(), 'gateway-warnings-'))
beforeAll(async () => {
  app = await startTestApp(process.env.TEST_POSTGRES_URL)
  await fillCatalog(app.ctx.sql, home)
})
afterAll(async () => {
  await app.close()
  rmSync(home, { recursive: true })
})

async function send(method: 'POST' | 'PATCH', path: string, payload: object) {
  const answer = await app.admin({ method, url: `/api/v1/admin/${path}`, payload })
  const body = answer.json() as { id: string; warnings?: Warning[] }
  expect([answer.statusCode, body]).toEqual([200, expect.anything()])
  return body
}

const issue = (payload: object) => send('POST', 'tokens', { name: 'x', ...payload })

test('a plain token has no warnings', async () => {
  expect(await issue({ basemap_codes: ['*'] })).not.toHaveProperty('warnings')
  const vectors = ['main', 'roads/main.geojson', 'main.geojson', '*']
  expect(await issue({ basemap_codes: ['world'], vector_codes: vectors })).not.toHaveProperty('warnings')
  expect(await issue({ scopes: ['slice'], expires_at: 0 })).not.toHaveProperty('warnings')
})

test('issuing a token warns of unknown codes, an expiry in the past and empty grants', async () => {
  expect(
    (await issue({ basemap_codes: ['wrold', 'world'], vector_codes: ['lake', 'zzzzzzz'] })).warnings,
  ).toMatchObject([
    { code: 'unknown_code', message: 'basemap_codes: there is no basemap "wrold" (did you mean "world"?)' },
    { code: 'unknown_code', message: 'vector_codes: there is no vector "lake" (did you mean "lakes"?), "zzzzzzz"' },
  ])
  expect((await issue({ basemap_codes: ['*'], expires_at: '2001-01-01' })).warnings).toMatchObject([
    { code: 'expiry_past', message: 'expires_at: 2001-01-01T00:00:00.000Z is in the past: this has expired already' },
  ])
  expect((await issue({})).warnings).toMatchObject([{ code: 'nothing_granted' }])
  const many = Array.from({ length: 9 }, (_, i) => `unheard-of-${i}`)
  expect((await issue({ basemap_codes: many })).warnings?.[0]?.message).toMatch(/"unheard-of-4" and 4 more$/)
})

test('a change of a token warns only of the fields that it sets', async () => {
  const { id } = await issue({ basemap_codes: ['nowhere'] })
  expect(await send('PATCH', `tokens/${id}`, { name: 'y' })).not.toHaveProperty('warnings')
  const { warnings } = await send('PATCH', `tokens/${id}`, { vector_codes: ['nothing'], expires_at: '2001-01-01' })
  expect(warnings?.map(({ code, message }) => [code, message.split(':')[0]])).toEqual([
    ['expiry_past', 'expires_at'],
    ['unknown_code', 'vector_codes'],
  ])
})

test('saving a source or a directory target warns of a missing or invalid directory', async () => {
  const file = join(home, 'file')
  writeFileSync(file, '')
  const saved = (path: string) => send('POST', 'scan-sources', { code: 'a', kind: 'basemap', path })
  const target = (path: string) => send('POST', 'targets', { code: 'a', kind: 'directory', path })
  for (const save of [saved, target]) {
    expect(await save(home)).not.toHaveProperty('warnings')
    expect((await save(join(home, 'missing'))).warnings).toMatchObject([
      { code: 'path_missing', message: `path: "${join(home, 'missing')}" does not exist on this machine` },
    ])
    expect((await save(file)).warnings).toMatchObject([{ code: 'path_no_directory' }])
    expect((await save(join(file, 'below'))).warnings).toMatchObject([{ code: 'path_missing' }])
  }
  expect(await saved('s3://bucket/maps')).not.toHaveProperty('warnings')
})
