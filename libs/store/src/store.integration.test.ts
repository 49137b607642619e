import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type NewVersion,
  readBasemap,
  readBasemaps,
  setDefaultVersion,
  upsertBasemap,
  upsertVersion,
} from './basemaps.js'
import { changesSince, commitWithChanges, currentState, knownStates, logChanges, pruneChangeLog } from './change-log.js'
import { openStore, type Sql } from './connect.js'
import { readInstanceKeys } from './instance-keys.js'
import { migrate, readSchemaState } from './migrate.js'
import { readMigrations } from './migration-files.js'
import { upsertScanSource } from './scan-sources.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'
import {
  disableToken,
  findTokensByDigest,
  forgetTokenAddresses,
  insertToken,
  listTokens,
  noteTokensUsed,
  readUsableTokens,
  type UsableAfter,
} from './tokens.js'

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
  boundsDerived: false,
  rowsFromNorth: false,
  name: null,
  attribution: null,
  description: null,
  vectorLayers: null,
  tileMatrixSet: 'WebMercatorQuad',
  metadata: {},
  path: '/maps/layer',
  fingerprint: '',
}

test('several processes that start at once migrate an empty database once', async () => {
  const empty = await freshStore(process.env.TEST_POSTGRES_URL, { migrated: false })
  const clients = Array.from({ length: 5 }, () => openStore(empty.url, { applicationName: 'racer', maxConnections: 1 }))
  expect((await readSchemaState(empty.sql)).pending).toHaveLength(readMigrations().length)
  await Promise.all(clients.map((client) => migrate(client)))
  const rows = await empty.sql`SELECT number FROM schema_migrations ORDER BY number`
  expect(rows.map((row) => row.number)).toEqual(readMigrations().map((migration) => migration.number))
  expect(await readSchemaState(empty.sql)).toEqual({ pending: [], newer: [] })
  await Promise.all(clients.map((client) => client.end()))
  await empty.drop()
})

test('a migration that changed after it was applied stops the start', async () => {
  const changed = readMigrations().map((m) => ({ ...m, checksum: 'other' }))
  await expect(migrate(store.sql, changed)).rejects.toThrow(/was changed after it had been applied/)
})

test('a store that an earlier text of a migration brought to the same schema is accepted', async () => {
  const applied = readMigrations()
  const changed = applied.map((m) => ({ ...m, checksum: 'other', earlierChecksums: ['older still', m.checksum] }))
  expect(await migrate(store.sql, changed)).toEqual([])
})

test('a database newer than the program stops the start', async () => {
  await expect(migrate(store.sql, [])).rejects.toThrow(/of a newer version/)
})

/** A migration of a newer version. */
const ofNewer = (number: number, compatible: boolean) => ({
  number,
  name: `${number}_newer.sql`,
  text: `CREATE TABLE newer_${number} (x int)`,
  checksum: String(number),
  earlierChecksums: [],
  compatible,
  inTransaction: true,
})

test('a store migrated by a newer version serves the previous version, unless the migration forbids it', async () => {
  const { sql, drop } = await freshStore(process.env.TEST_POSTGRES_URL)
  const newer = [...readMigrations(), ofNewer(9001, true)]
  expect(await migrate(sql, newer)).toEqual([])
  expect(await migrate(sql)).toEqual(['9001_newer.sql'])
  expect(await readSchemaState(sql)).toEqual({ pending: [], newer: ['9001_newer.sql'] })
  // The newer version starts once more.
  expect(await migrate(sql, newer)).toEqual([])
  await migrate(sql, [...newer, ofNewer(9002, false)])
  await expect(migrate(sql)).rejects.toThrow(
    /9002_newer\.sql of a newer version.*start the newer version again, or restore/,
  )
  await drop()
})

test('a migration that waits for a dump blocks no reader, and is applied once the dump has ended', async () => {
  const { sql, url, drop } = await freshStore(process.env.TEST_POSTGRES_URL)
  const [dump, migrator] = ['dump', 'migrator'].map((applicationName) =>
    openStore(url, { applicationName, maxConnections: 1 }),
  )
  let dumped = () => {}
  const dumping = new Promise<void>((resolve) => {
    dumped = resolve
  })
  let begun = () => {}
  const locked = new Promise<void>((resolve) => {
    begun = resolve
  })
  const ended = (dump as Sql).begin(async (tx) => {
    await tx`SELECT count(*) FROM tokens`
    begun()
    await dumping
  })
  await locked
  const changing = { ...ofNewer(9001, true), text: 'ALTER TABLE tokens ADD COLUMN newer int' }
  const migrating = migrate(migrator as Sql, [...readMigrations(), changing])
  const waiting = () => sql`
    SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE NOT granted AND relation = 'tokens'::regclass AND datname = current_database()`
  await expect.poll(waiting).toHaveLength(1)
  // This query must not wait for the migration, which waits for the dump that the test ends later.
  expect(await sql`SELECT count(*) FROM tokens`).toHaveLength(1)
  dumped()
  await ended
  await migrating
  expect(await sql`SELECT newer FROM tokens`).toEqual([])
  await Promise.all([dump, migrator].map((client) => client?.end()))
  await drop()
})

test('a migration builds an index while others write to the table, and repeats a build that was interrupted', async () => {
  const { sql, url, drop } = await freshStore(process.env.TEST_POSTGRES_URL)
  const [writer, migrator] = ['writer', 'migrator'].map((applicationName) =>
    openStore(url, { applicationName, maxConnections: 1 }),
  ) as [Sql, Sql]
  const indexing = {
    ...ofNewer(9001, true),
    text: '-- transaction: no\nCREATE INDEX CONCURRENTLY IF NOT EXISTS newer_first ON tokens (name);\nCREATE INDEX CONCURRENTLY IF NOT EXISTS newer_second ON tokens (prefix);\n',
    inTransaction: false,
  }
  const interrupted = {
    ...indexing,
    text: indexing.text.replace('(prefix)', '((1 / (length(prefix) - length(prefix))))'),
  }
  const insert = (on: Sql, name: string) =>
    on`INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes)
       VALUES (${name}, 'bmp_', sha256(${name}::bytea), '{}', '{}', '{}')`
  await insert(sql, 'first')
  await expect(migrate(migrator, [...readMigrations(), interrupted])).rejects.toThrow(/division by zero/)

  const indexes = () => sql`SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE relname LIKE 'newer_%' ORDER BY relname`
  expect((await indexes()).map((row) => row.indisvalid)).toEqual([true, false])
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begun = () => {}
  const wrote = new Promise<void>((resolve) => {
    begun = resolve
  })
  const writing = writer.begin(async (tx) => {
    await insert(tx as unknown as Sql, 'second')
    begun()
    await finished
  })
  await wrote
  const migrating = migrate(migrator, [...readMigrations(), indexing])
  await expect
    .poll(() => sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'migrator' AND wait_event_type = 'Lock'`)
    .toHaveLength(1)
  // The build waits for the writer. An ordinary build would keep this one waiting behind itself.
  await insert(sql, 'third')
  finish()
  await writing
  await migrating
  expect((await indexes()).map((row) => row.indisvalid)).toEqual([true, true])
  await Promise.all([writer.end(), migrator.end()])
  await drop()
})

test('a store from before compatibility marks of migrations is accepted', async () => {
  const { sql, drop } = await freshStore(process.env.TEST_POSTGRES_URL)
  await sql`ALTER TABLE schema_migrations DROP COLUMN compatible`
  expect(await migrate(sql)).toEqual([])
  await migrate(sql, [...readMigrations(), ofNewer(9001, true)])
  expect(await migrate(sql)).toEqual(['9001_newer.sql'])
  await drop()
})

test('a failed migration leaves nothing behind and is retried by the next start', async () => {
  const broken = { ...ofNewer(9999, false), text: 'CREATE TABLE half (x int); SELECT 1/0' }
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

test('the default version of a basemap is read in the same snapshot as its versions', async () => {
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

test('revisions become visible in order, without gaps, whatever commits first', async () => {
  const before = await currentState(store.sql)
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      commitWithChanges(store.sql, async (tx) => {
        await tx`SELECT pg_sleep(${Math.random() / 100})`
        return { result: null, changes: [{ kind: 'vector' as const, key: `v${i}` }] }
      }),
    ),
  )
  const since = await changesSince(store.sql, before)
  expect(since).toMatchObject({ covered: true, state: { revision: before.revision + 40 } })
  if (since.covered) {
    expect(since.changes.map((change) => change.revision)).toEqual(
      Array.from({ length: 40 }, (_, i) => before.revision + 1 + i),
    )
  }
})

test('a rolled-back transaction uses up no revision', async () => {
  const before = await currentState(store.sql)
  await expect(
    store.sql.begin(async (tx) => {
      await logChanges(tx, [{ kind: 'token', key: 'x' }])
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  expect(await changesSince(store.sql, before)).toEqual({ covered: true, changes: [], state: before })
})

test('a reader beyond the pruned log gets no changes and must reload', async () => {
  const before = await currentState(store.sql)
  await commitWithChanges(store.sql, async () => ({ result: null, changes: [{ kind: 'basemap', key: 'old' }] }))
  await store.sql`UPDATE change_log SET changed_at = now() - interval '2 days'`
  await pruneChangeLog(store.sql)
  const state = await currentState(store.sql)
  expect(state.revision).toBe(before.revision + 1)
  expect(await changesSince(store.sql, before)).toEqual({ covered: false, state })
  expect(await changesSince(store.sql, state)).toEqual({ covered: true, changes: [], state })
  await commitWithChanges(store.sql, async () => ({ result: null, changes: [{ kind: 'basemap', key: 'new' }] }))
  expect(await changesSince(store.sql, state)).toMatchObject({ covered: true, changes: [{ key: 'new' }] })
})

test('a reader ahead of a restored store must reload', async () => {
  const state = await currentState(store.sql)
  const ahead = { ...state, revision: state.revision + 5, mark: randomUUID() }
  expect(await changesSince(store.sql, ahead)).toEqual({ covered: false, state })
})

test('a reader whose revision another history has overtaken must reload, at that number and beyond it', async () => {
  const commit = () =>
    commitWithChanges(store.sql, async () => ({ result: null, changes: [{ kind: 'token', key: 't' }] }))
  const known = await currentState(store.sql)
  await commit()
  const lost = await currentState(store.sql)
  // Simulates a restore: the earlier state, with its mark.
  await store.sql`ALTER TABLE revision_counter DISABLE TRIGGER renew_mark`
  await store.sql`DELETE FROM change_log WHERE revision > ${known.revision}`
  await store.sql`UPDATE revision_counter SET revision = ${known.revision}, mark = ${known.mark}`
  await store.sql`ALTER TABLE revision_counter ENABLE TRIGGER renew_mark`
  expect(await changesSince(store.sql, known)).toMatchObject({ covered: true, changes: [] })
  expect(await changesSince(store.sql, lost)).toMatchObject({ covered: false })
  await commit()
  expect((await currentState(store.sql)).revision).toBe(lost.revision)
  expect(await changesSince(store.sql, lost)).toMatchObject({ covered: false })
  await commit()
  expect(await changesSince(store.sql, lost)).toMatchObject({ covered: false })
  expect(await changesSince(store.sql, known)).toMatchObject({ covered: true, changes: [{}, {}] })
  expect(await knownStates(store.sql, [lost, await currentState(store.sql)])).toEqual(
    new Set([(await currentState(store.sql)).mark]),
  )
})

test('a state of another database of the same cluster has another epoch', async () => {
  const other = await freshStore(process.env.TEST_POSTGRES_URL)
  const [here, there] = [await currentState(store.sql), await currentState(other.sql)]
  await other.drop()
  expect(here.epoch).toMatch(/^\d{10,}\.00000001\.\d+\.\d+$/)
  expect(there.epoch).not.toBe(here.epoch)
  expect(await changesSince(store.sql, { ...here, epoch: there.epoch })).toMatchObject({ covered: false })
})

test('a change of very many objects is one entry: reload everything', async () => {
  const many = Array.from({ length: 5000 }, (_, i) => ({ kind: 'vector' as const, key: `v${i}` }))
  const { changes } = await commitWithChanges(store.sql, async () => ({ result: null, changes: many }))
  expect(changes).toMatchObject([{ revision: expect.any(Number), kind: 'all', key: '' }])
})

test('a token is found by digest, disabled once, and keeps its first and its newest use', async () => {
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
  const use = (at: string, from: string | null) =>
    noteTokensUsed(store.sql, new Map([[id, { at: new Date(at), from }]]))
  await use('2030-01-01', '192.0.2.1')
  await use('2029-01-01', '192.0.2.2')
  await use('2030-01-01', null)
  const { items } = await listTokens(store.sql, { limit: 10, offset: 0 })
  // The second of them was the earlier use.
  expect(items[0]).toMatchObject({ first_used_from: '192.0.2.2', last_used_from: '192.0.2.1' })
  await use('2030-01-02', `${'proxy'.repeat(50)}`)
  expect((await listTokens(store.sql, { limit: 10, offset: 0 })).items[0]?.last_used_from).toHaveLength(100)
  await forgetTokenAddresses(store.sql)
  const [forgotten] = (await listTokens(store.sql, { limit: 10, offset: 0 })).items
  expect(forgotten).toMatchObject({ first_used_from: null, last_used_from: null })
  expect(items[0]?.last_used_at).toBe('2030-01-01T00:00:00.000Z')
  expect(items[0]?.first_used_at).toBe('2029-01-01T00:00:00.000Z')
})

test('usable tokens are read in pages by an index, the most recently used first', async () => {
  const { sql } = store
  await sql`
    INSERT INTO tokens (name, prefix, digest, basemap_codes, vector_codes, scopes, last_used_at, disabled_at, expires_at)
    SELECT 'many', 'bmp_' || i, sha256(i::text::bytea), '{*}', '{}', '{read}',
           CASE WHEN i % 3 > 0 THEN timestamptz '2031-01-01' + make_interval(secs => (i % 700) / 1e6) END,
           CASE WHEN i % 5 = 0 THEN now() END, CASE WHEN i % 7 = 0 THEN now() - interval '1 s' END
    FROM generate_series(1, 5000) i`
  await sql`ANALYZE tokens`
  const wanted = await sql<{ digest: string; used: string }[]>`
    SELECT encode(digest, 'hex') AS digest, coalesce(last_used_at, '-infinity')::text AS used FROM tokens
    WHERE disabled_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
  const usedAt = new Map(wanted.map(({ digest, used }) => [digest, used]))
  const read: string[] = []
  const pages: string[] = []
  for (let after: UsableAfter | null = null, more = true; more; more = after !== null) {
    const page = await readUsableTokens(sql, after, 300)
    const moments = page.tokens.map(({ digest }) => usedAt.get(digest) as string).sort()
    if (pages.length > 0) expect(moments.at(-1)?.localeCompare(pages.at(-1) as string)).not.toBe(1)
    pages.push(moments[0] as string)
    read.push(...page.tokens.map(({ digest }) => digest))
    after = page.next
  }
  expect(read.sort()).toEqual([...usedAt.keys()].sort())
  const plan = await sql`
    EXPLAIN SELECT id FROM tokens WHERE disabled_at IS NULL AND (expires_at IS NULL OR expires_at > now())
      AND (coalesce(last_used_at, '-infinity'::timestamptz), id) < ('2031-01-01', '80000000-0000-0000-0000-000000000000')
    ORDER BY coalesce(last_used_at, '-infinity'::timestamptz) DESC, id DESC LIMIT 300`
  const text = plan.map((row) => row['QUERY PLAN']).join(' ')
  expect(text).toContain('tokens_used_last')
  expect(text).not.toContain('Sort')
})

test('basemaps are read by their codes without a full scan of the table', async () => {
  const { sql } = store
  await sql.begin((tx) =>
    upsertScanSource(tx, { code: 'many', name: 'Many', kind: 'basemap', path: '/many', enabled: true }),
  )
  await sql`
    INSERT INTO basemaps (code, name, tile_base_url, source_code)
    SELECT 'many-' || i, 'n', 'http://x', 'many' FROM generate_series(1, 3000) i`
  await sql`
    INSERT INTO basemap_versions (basemap_code, version, storage, format, extension, tile_size, min_zoom, max_zoom, tile_matrix_set, metadata,
                                  path, fingerprint)
    SELECT 'many-' || i, 'v' || v, 'xyz', 'png', 'png', 256, 0, 5, 'WebMercatorQuad', '{}', '/p', 'f'
    FROM generate_series(1, 3000) i, generate_series(1, 3) v`
  await sql`ANALYZE basemaps, basemap_versions`
  const codes = Array.from({ length: 166 }, (_, i) => `many-${i + 1}`)
  const scans = async () => {
    await sql`SELECT pg_stat_force_next_flush()`
    const [row] = await sql<{ scans: number }[]>`
      SELECT sum(seq_scan) AS scans FROM pg_stat_user_tables WHERE relname IN ('basemaps', 'basemap_versions')`
    return row?.scans
  }
  const one = openStore(store.url, { applicationName: 'test', maxConnections: 1 })
  try {
    await one`SELECT pg_stat_force_next_flush()`
    const before = await scans()
    for (let i = 0; i < 10; i++) expect(await readBasemaps(one, codes)).toHaveLength(166)
    await one`SELECT pg_stat_force_next_flush()`
    await one`SELECT 1`
    expect(await scans()).toBe(before)
  } finally {
    await one.end()
  }
})
