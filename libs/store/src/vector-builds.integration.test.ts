import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { claimBuild, finishBuild, skipBuilds, VECTOR_BUILDS_CHANNEL } from './vector-builds.js'
import { upsertVectors } from './vectors.js'

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterAll(() => store.drop())

test('builds are skipped without a notification if none is pending, so that their loop waits', async () => {
  const heard: string[] = []
  const listening = await store.sql.listen(VECTOR_BUILDS_CHANNEL, (payload) => void heard.push(payload))
  expect(await store.sql.begin(skipBuilds)).toEqual([])
  await store.sql.notify(VECTOR_BUILDS_CHANNEL, 'the end')
  await expect.poll(() => heard).toContain('the end')
  expect(heard).toEqual(['the end'])
  await listening.unlisten()
})

test('a build corrects the facts that its features contradict, and keeps the others', async () => {
  const { sql } = store
  await sql`INSERT INTO scan_sources (code, name, kind, path) VALUES ('s', 's', 'vector', '/s')`
  const facts = { crs: 'EPSG:4326', bounds: [0, 0, 1, 1], geometry_type: 'Point', feature_count: 500, fields: [] }
  const rest = { fields: null, encoding: null, encoding_source: null }
  const file = { relativePath: 'a.fgb', fileName: 'a.fgb', path: '/s/a.fgb', size: 1, modifiedAt: new Date(0) }
  const vector = { code: 'a', name: 'a', kind: 'flatgeobuf', fingerprint: 'f', sourceCode: 's', ...file } as const
  await sql.begin((tx) => upsertVectors(tx, [{ ...vector, facts: { ...rest, ...facts } as never }]))
  const claimed = await claimBuild(sql, crypto.randomUUID(), 60, true)
  if (claimed === null) throw new Error('nothing is pending')
  expect(claimed.stated).toMatchObject({ feature_count: 500, bounds: [0, 0, 1, 1] })
  const build = { folder: '/b', minZoom: 0, maxZoom: 1, bounds: null, leftOut: {}, vectorLayers: [], builtAt: '' }
  await sql.begin((tx) => finishBuild(tx, claimed.lease, claimed, { build, facts: { feature_count: 5 } }))
  const [row] = await sql`SELECT facts FROM vectors WHERE code = 'a'`
  expect(row?.facts).toMatchObject({ ...facts, feature_count: 5 })
})
