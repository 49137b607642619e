import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type NewVersion, readBasemap, setDefaultVersion, upsertBasemap, upsertVersion } from './basemaps.js'
import { changesSince, currentRevision, logChanges, pruneChangeLog } from './change-log.js'
import { commitWithChanges } from './commit.js'
import { openStore } from './connect.js'
import { readInstanceKeys } from './instance-keys.js'
import { isMigrated, migrate, readMigrations } from './migrate.js'
import { upsertScanSource } from './scan-sources.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import { disableToken, findTokensByDigest, insertToken, listTokens, noteTokensUsed } from './tokens.js'

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
afterAll(() => store.drop())

const VERSION: Omit<NewVersion, 'version'> = {
  storage: 'xyz',
  format: 'png',
  extension: 'png',
  tileSize: 256,
  minZoom: 0,
  maxZoom: 0,
  bounds: null,
  attribution: null,
  description: null,
  vectorLayers: null,
  path: '/maps/layer',
  fingerprint: '',
}

test('several processes that start at once migrate an empty database once', async () => {
  const empty = await freshStore(process.env.TEST_POSTGRES_URL, { migrated: false })
  const clients = Array.from({ length: 5 }, () => openStore(empty.url, { applicationName: 'racer', maxConnections: 1 }))
  expect(await isMigrated(empty.sql)).toBe(false)
  await Promise.all(clients.map((client) => migrate(client)))
  const rows = await empty.sql`SELECT number FROM schema_migrations ORDER BY number`
  expect(rows.map((row) => row.number)).toEqual(readMigrations().map((migration) => migration.number))
  expect(await isMigrated(empty.sql)).toBe(true)
  await Promise.all(clients.map((client) => client.end()))
  await empty.drop()
})

test('a migration that was changed after it had been applied stops the start', async () => {
  const changed = readMigrations().map((m) => ({ ...m, checksum: 'other' }))
  await expect(migrate(store.sql, changed)).rejects.toThrow(/was changed after it had been applied/)
})

test('a database newer than the program stops the start', async () => {
  await expect(migrate(store.sql, [])).rejects.toThrow(/does not know/)
})

test('a migration that fails leaves nothing behind and lets the next start try again', async () => {
  const number = 9999
  const broken = { number, name: 'broken', text: 'CREATE TABLE half (x int); SELECT 1/0', checksum: 'a' }
  await expect(migrate(store.sql, [...readMigrations(), broken])).rejects.toThrow(/division by zero/)
  const [half] = await store.sql`SELECT to_regclass('half') AS half`
  expect(half?.half).toBeNull()
  await migrate(store.sql)
})

test('an installation has its own keys', async () => {
  const keys = await readInstanceKeys(store.sql)
  expect(keys.instanceId).toMatch(/^[0-9a-f-]{36}$/)
  expect(keys.edgeLink.length).toBeGreaterThanOrEqual(64)
})

test('the default version of a basemap is read from the same moment as its versions', async () => {
  const code = 'layer'
  await store.sql.begin(async (tx) => {
    await upsertScanSource(tx, { code: 'maps', name: 'Maps', kind: 'basemap', path: '/maps', enabled: true })
    await upsertBasemap(tx, { code, name: code, tileBaseUrl: 'http://127.0.0.1', sourceCode: 'maps' })
  })
  const writing = Array.from({ length: 60 }, (_, i) => `v${i}`).reduce(
    (before, version) =>
      before.then(() =>
        store.sql.begin(async (tx) => {
          await upsertVersion(tx, code, { ...VERSION, version })
          await setDefaultVersion(tx, code, version)
        }),
      ) as Promise<unknown>,
    Promise.resolve<unknown>(null),
  )
  let going = true
  writing.finally(() => {
    going = false
  })
  while (going) {
    const basemap = await readBasemap(store.sql, code)
    if (basemap?.defaultVersion == null) continue
    expect(basemap.versions.map(({ version }) => version)).toContain(basemap.defaultVersion)
  }
  await writing
  expect((await readBasemap(store.sql, code))?.versions).toHaveLength(60)
})

test('revisions become visible in their order, without gaps, whatever commits first', async () => {
  const before = await currentRevision(store.sql)
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      commitWithChanges(store.sql, async (tx) => {
        await tx`SELECT pg_sleep(${Math.random() / 100})`
        return { result: null, changes: [{ kind: 'vector' as const, key: `v${i}` }] }
      }),
    ),
  )
  const since = await changesSince(store.sql, before)
  expect(since).toMatchObject({ covered: true, revision: before + 40 })
  if (since.covered) {
    expect(since.changes.map((change) => change.revision)).toEqual(Array.from({ length: 40 }, (_, i) => before + 1 + i))
  }
})

test('a transaction that rolls back uses up no revision', async () => {
  const before = await currentRevision(store.sql)
  await expect(
    store.sql.begin(async (tx) => {
      await logChanges(tx, [{ kind: 'token', key: 'x' }])
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  expect(await changesSince(store.sql, before)).toEqual({ covered: true, changes: [], revision: before })
})

test('a log that was pruned beyond a reader says that it cannot tell', async () => {
  const before = await currentRevision(store.sql)
  await commitWithChanges(store.sql, async () => ({ result: null, changes: [{ kind: 'basemap', key: 'old' }] }))
  await store.sql`UPDATE change_log SET changed_at = now() - interval '2 days'`
  await pruneChangeLog(store.sql)
  expect(await changesSince(store.sql, before)).toEqual({ covered: false, revision: before + 1 })
  expect(await changesSince(store.sql, before + 1)).toEqual({ covered: true, changes: [], revision: before + 1 })
})

test('a reader ahead of a restored store is told to reload', async () => {
  const current = await currentRevision(store.sql)
  expect(await changesSince(store.sql, current + 5)).toEqual({ covered: false, revision: current })
})

test('a change of very many things is one entry: reload everything', async () => {
  const many = Array.from({ length: 5000 }, (_, i) => ({ kind: 'vector' as const, key: `v${i}` }))
  const { changes } = await commitWithChanges(store.sql, async () => ({ result: null, changes: many }))
  expect(changes).toEqual([{ revision: expect.any(Number), kind: 'all', key: '' }])
})

test('a token is found by digest, disabled once, and remembers its newest use', async () => {
  const digest = Buffer.alloc(32, 7)
  const { id } = await store.sql.begin((tx) =>
    insertToken(tx, {
      name: 'n',
      prefix: 'bmp_12345678',
      digest,
      basemapCodes: ['a', 'with "quotes", {braces} and , commas'],
      vectorCodes: [],
      scopes: ['read'],
      expiresAt: null,
    }),
  )
  const [found] = await findTokensByDigest(store.sql, [digest, Buffer.alloc(32, 8)])
  expect(found).toMatchObject({ id, basemap_codes: ['a', 'with "quotes", {braces} and , commas'], expires_at: null })
  const first = await store.sql.begin((tx) => disableToken(tx, id))
  const second = await store.sql.begin((tx) => disableToken(tx, id))
  expect(second?.disabled_at).toBe(first?.disabled_at)
  expect(await store.sql.begin((tx) => disableToken(tx, randomUUID()))).toBeNull()
  await noteTokensUsed(store.sql, new Map([[id, new Date('2030-01-01')]]))
  await noteTokensUsed(store.sql, new Map([[id, new Date('2029-01-01')]]))
  const { items } = await listTokens(store.sql, { limit: 10, offset: 0 })
  expect(items[0]?.last_used_at).toBe('2030-01-01T00:00:00.000Z')
})
