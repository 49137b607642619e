import { createHash } from 'node:crypto'
import { openStore } from '@gateway/store/connect.js'
import { type FreshStore, freshStore } from '@gateway/store/testing/fresh-store.js'
import { insertToken } from '@gateway/store/tokens.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('a token is found although the connection is lost under its look-up', async () => {
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
    // The look-up waits for the lock, so that the connection is lost under it.
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
