import { randomUUID } from 'node:crypto'
import { REFUSAL_REASONS, type UsageRow } from '@gateway/contracts/usage.js'
import { upsertBasemap } from '@gateway/store/basemaps.js'
import { upsertScanSource } from '@gateway/store/scan-sources.js'
import { addUsage } from '@gateway/store/usage.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../testing/test-app.js'

const NOW = Date.UTC(2026, 2, 10, 12, 30)
const HOUR = 3_600_000

let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL, {}, undefined, () => NOW)
  await gateway.store.sql.begin(async (tx) => {
    await upsertScanSource(tx, { code: 'maps', kind: 'basemap', path: '/maps', name: undefined, enabled: undefined })
    await upsertBasemap(tx, { code: 'alps', name: 'The Alps', tileBaseUrl: 'http://x', sourceCode: 'maps' })
  })
  await addUsage(gateway.store.sql, randomUUID(), 1, [
    used('alps', NOW, 5),
    used('alps', NOW - 30 * HOUR, 7),
    used('rhine', NOW, 6),
    used('=cmd, or so', NOW, 1),
  ])
})
afterAll(() => gateway.close())

function used(id: string, at: number, requests: number): UsageRow {
  const amounts = { requests, tiles: requests - 1, tile_404: 1, refused: 0, bytes: 100 * requests }
  return { kind: 'basemap', id, at: Math.floor(at / HOUR) * HOUR, ...amounts }
}

const ask = (query: string) => gateway.admin({ url: `/api/v1/admin/usage?${query}` })
const items = async (query: string) => (await ask(query)).json().items

test('the default range is the last day by the hour, or the last 30 days', async () => {
  const alps = {
    id: 'alps',
    name: 'The Alps',
    requests: 5,
    tiles: 4,
    tile_404: 1,
    refused: 0,
    bytes: 500,
    refused_by: {},
  }
  expect(await items('by=basemap&id=alps')).toEqual([{ ...alps, at: '2026-03-10T12:00:00.000Z' }])
  expect(await items('by=basemap&id=alps&step=day')).toMatchObject([
    { at: '2026-03-09T00:00:00.000Z', requests: 7 },
    { at: '2026-03-10T00:00:00.000Z', requests: 5 },
  ])
  expect(await items('by=token')).toEqual([])
})

test.each([
  ['step=hour&from=2026-03-10T12:30:00Z&to=2026-03-10T12:45:00Z', 5],
  ['step=hour&from=2026-03-10T12:30&to=2026-03-10T12:45', 5],
  ['step=day&from=2026-03-10T18:00:00Z&to=2026-03-11', 5],
  ['step=day&from=2026-03-09&to=2026-03-10', 7],
  ['step=hour&from=2026-03-10T13:00:00%2B01:00&to=2026-03-10T12:00:01Z', 5],
])('a range that begins within an hour or day includes all of it: %s', async (range, requests) => {
  expect(await items(`by=basemap&id=alps&${range}`)).toMatchObject([{ requests }])
})

test('the busiest come first if sorted so, page by page', async () => {
  const answer = (await ask('by=basemap&step=total&sort=-requests&limit=2')).json()
  expect(answer.items.map((item: { id: string; requests: number }) => [item.id, item.requests])).toEqual([
    ['alps', 12],
    ['rhine', 6],
  ])
  expect(answer.total).toBe(3)
})

test('a file contains every item, whatever the page', async () => {
  const answer = await ask('by=basemap&step=day&sort=id&limit=1&format=csv&from=2026-03-10T00:00:00Z')
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="usage-by-basemap-day.csv"',
  })
  const day = '2026-03-10T00:00:00.000Z'
  expect(answer.body.split('\r\n').slice(0, -1).toSorted()).toEqual(
    [
      `id,at,requests,tiles,tile_404,refused,bytes,name,${REFUSAL_REASONS.map((reason) => `refused_by_${reason}`).join(',')}`,
      `"'=cmd, or so",${day},1,0,1,0,100,,0,0,0,0,0,0,0`,
      `alps,${day},5,4,1,0,500,The Alps,0,0,0,0,0,0,0`,
      `rhine,${day},6,5,1,0,600,,0,0,0,0,0,0,0`,
    ].toSorted(),
  )
})

test('usage of maps is listed by token and basemap together, as a list and as a file', async () => {
  const [row] = await gateway.store.sql<{ id: string }[]>`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
    VALUES ('Harbour', 'bmp_12345678', sha256('x'), '{}', '{}', '{read}') RETURNING id`
  const token = row?.id as string
  const pair = (name: string, requests: number): UsageRow => ({ ...used(name, NOW, requests), kind: 'token,basemap' })
  const refusals = { origin: { requests: 2, lastMs: NOW } }
  const rows = [
    { ...pair(`${token}/alps`, 9), refused: 2, refusals },
    pair('signed/alps', 4),
    pair(`${token}/rhine`, 1),
  ]
  await addUsage(gateway.store.sql, randomUUID(), 1, rows)
  const by = 'by=token,basemap&step=total'
  expect(await items(`${by}&basemap_code=alps&sort=-requests`)).toMatchObject([
    {
      token_id: token,
      token_name: 'Harbour',
      basemap_code: 'alps',
      name: 'The Alps',
      requests: 9,
      refused_by: { origin: 2 },
    },
    { id: 'signed/alps', token_id: 'signed', token_name: null, basemap_code: 'alps', requests: 4, refused_by: {} },
  ])
  expect(
    (await items(`${by}&token_id=${token}&sort=-requests`)).map((item: { basemap_code: string }) => item.basemap_code),
  ).toEqual(['alps', 'rhine'])
  expect((await items(`${by}&token_id=${token}&basemap_code=rhine`)).length).toBe(1)
  expect(await items('by=basemap,token&step=total&sort=-requests')).toEqual(await items(`${by}&sort=-requests`))
  expect(await items('by=basemap&basemap_code=rhine&step=total')).toMatchObject([{ id: 'rhine', requests: 6 }])
  const file = await ask(`${by}&basemap_code=alps&token_id=signed&format=csv`)
  expect(file.headers['content-disposition']).toBe('attachment; filename="usage-by-token-basemap-total.csv"')
  expect(file.body.split('\r\n')[0]).toContain('name,token_id,token_name,basemap_code,refused_by_origin')
  expect(file.body.split('\r\n')[1]).toMatch(/,4,3,1,0,400,The Alps,signed,,alps,0,0,0,0,0,0,0$/)
})

test.each([
  ['', 'query.by'],
  ['by=colour', 'query.by'],
  ['by=token&step=week', 'query.step'],
  ['by=token&from=yesterday', 'query.from'],
  ['by=token&from=2026-03-10T12:00:00Z&to=2026-03-10T12:00:00Z', 'query.from: must be before query.to'],
  ['by=token&to=0001-01-01', 'query.from: must be before query.to'],
  ['by=token&from=2026-02-01T00:00:00Z', 'query.from: by the hour and without an id the range is at most 31 days'],
  ['by=token&day=monday', 'day'],
  ['by=token&basemap_code=alps', 'query.basemap_code: by=token has no basemap'],
  ['by=token,basemap&id=x', 'query.id: with two dimensions use token_id and basemap_code'],
  ['by=token&token_id=x&id=y', 'query.id: contradicts the parameter that names the same dimension'],
  [
    'by=token,basemap&step=total&from=2026-01-01',
    'query.from: by two dimensions and without an id the range is at most 31 days',
  ],
])('an invalid query is refused with a reason: %s', async (query, words) => {
  const answer = await ask(query)
  expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining(words)])
})
