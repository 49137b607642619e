import { createHash } from 'node:crypto'
import { tokenDigest } from '@gateway/core/access/token-format.js'
import { openStore } from '@gateway/store/connect.js'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import { insertToken } from '@gateway/store/tokens.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TokenCache } from '../auth/token-cache.js'
import { TokenUsage } from '../auth/token-usage.js'
import { StoreLink } from '../sync/store-link.js'
import { tokenFinder } from './store-queries.js'

const NAME = 'look-ups of this test'
const DIGEST = createHash('sha256').update('a token').digest()
const PATIENT_MS = 20_000

let store: FreshStore
let link: StoreLink
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
  link = new StoreLink(
    () => openStore(store.url, { applicationName: NAME, maxConnections: 1 }),
    () => {},
  )
  await link.query((sql) => sql`SELECT 1`)
})
afterAll(async () => {
  await link.close()
  await store.drop()
})

test('a token is found although the connection is lost during its look-up', async () => {
  await store.sql.begin(async (tx) => {
    await insertToken(tx, {
      name: 'field team',
      prefix: 'bmp_field',
      digest: DIGEST,
      basemapCodes: [],
      vectorCodes: [],
      scopes: ['read'],
      expiresAt: null,
    })
  })
  const lookUp = store.sql.begin(async (tx) => {
    // The look-up waits for the lock, so that its connection is lost meanwhile.
    await tx`LOCK TABLE tokens`
    const found = tokenFinder(link)([DIGEST])
    found.catch(() => {})
    const ended = () => store.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${NAME} AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await ended()).length, { timeout: PATIENT_MS }).toBe(1)
    return { found }
  })
  const { found } = await lookUp
  expect([...(await found).keys()]).toEqual([DIGEST.toString('hex')])
})

test('ten thousand new tokens are found in one query, among unknown ones', async () => {
  const tokens = Array.from({ length: 10_000 }, (_, i) => `token ${i}`)
  const strangers = Array.from({ length: 5_000 }, (_, i) => `stranger ${i}`)
  await store.sql`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
    SELECT 'crowd', 'bmp_crowd', decode(hex, 'hex'), '{*}', '{}', '{read}'
    FROM unnest(${tokens.map((token) => tokenDigest(token).toString('hex'))}::text[]) AS hex`
  const cache = new TokenCache(tokenFinder(link), new TokenUsage())
  const found = await Promise.all([...strangers, ...tokens].map((token) => cache.lookUp(token)))
  expect(found.slice(0, strangers.length).every((token) => token === null)).toBe(true)
  expect(new Set(found.slice(strangers.length).map((token) => token?.id)).size).toBe(tokens.length)
})
