import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertAudit, listAudit } from './audit.js'
import { AUDIT_DAYS, compareHead, pruneAudit, verifyAudit } from './audit-chain.js'
import { logChanges } from './change-log.js'
import { openStore } from './connect.js'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

const ENTRY = { actor: 'änn', address: '::1', action: 'token.issue', subject: 's' }
let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL)
})
beforeEach(() =>
  store.sql.begin(async (tx) => {
    await tx`TRUNCATE audit RESTART IDENTITY`
    await tx`
      UPDATE audit_chain SET position = 0, sha256 = decode(repeat('00', 32), 'hex'), at = NULL WHERE name <> 'before'`
  }),
)
afterAll(() => store.drop())

const add = (subject: string, detail = {}) => store.sql.begin((tx) => insertAudit(tx, { ...ENTRY, subject, detail }))
const addMany = async (count: number) => {
  for (let i = 1; i <= count; i++) await add(`s${i}`, { name: 'a, "b"\n中', after: { n: 1.5, z: null, a: [1, 2] } })
}
const mismatch = async () => (await verifyAudit(store.sql)).first_mismatch

test('each entry contains the SHA-256 of the previous one, in the documented form', async () => {
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 0, head: '0'.repeat(64) })
  await addMany(3)
  const entries = (await listAudit(store.sql, { sort: 'id' })).items
  let previous = '0'.repeat(64)
  for (const { id, chain_position, previous_sha256, sha256 } of entries) {
    expect(previous_sha256).toBe(previous)
    const [row] = await store.sql<{ at: string; detail: string }[]>`
      SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, detail::text AS detail FROM audit WHERE id = ${id}`
    const { actor, address, action } = ENTRY
    const parts = [previous, chain_position, id, row?.at, actor, address, action, `s${id}`, row?.detail]
    const hashed = parts.map((part) => `${Buffer.byteLength(String(part))}:${part},`).join('')
    previous = createHash('sha256').update(hashed).digest('hex')
    expect(sha256).toBe(previous)
  }
  expect(await verifyAudit(store.sql)).toEqual({
    first_mismatch: null,
    count: 3,
    head: previous,
    head_position: 3,
    anchor_position: 0,
    anchor_sha256: '0'.repeat(64),
    anchor_at: null,
  })
})

test.each([
  ['an altered actor', 'altered', 4, `UPDATE audit SET actor = 'bob' WHERE id = 4`],
  ['an altered moment', 'altered', 4, `UPDATE audit SET at = at + interval '1 microsecond' WHERE id = 4`],
  ['an altered detail', 'altered', 4, `UPDATE audit SET detail = detail || '{"name": "x"}' WHERE id = 4`],
  ['an altered last entry', 'altered', 9, `UPDATE audit SET subject = 'x' WHERE id = 9`],
  [
    'a digest that was made to fit',
    'altered',
    5,
    `UPDATE audit SET subject = 'x' WHERE id = 4;
    UPDATE audit SET sha256 = audit_sha256(previous_sha256, chain_position, audit) WHERE id = 4`,
  ],
  ['a deleted entry', 'missing', 5, 'DELETE FROM audit WHERE id = 4'],
  ['a deleted first entry', 'missing', 2, 'DELETE FROM audit WHERE id = 1'],
  ['a deleted end', 'missing', null, 'DELETE FROM audit WHERE id > 7'],
  ['no entry left', 'missing', null, 'DELETE FROM audit'],
  [
    "two entries in each other's place",
    'altered',
    5,
    `UPDATE audit SET chain_position = chain_position + 100 WHERE id IN (4, 5);
    UPDATE audit SET chain_position = CASE id WHEN 4 THEN 5 ELSE 4 END WHERE id IN (4, 5)`,
  ],
  [
    'what two entries say, swapped',
    'altered',
    4,
    `UPDATE audit a SET subject = b.subject FROM audit b WHERE (a.id, b.id) IN ((4, 6), (6, 4))`,
  ],
  [
    'an inserted entry',
    'inserted',
    10,
    `INSERT INTO audit (actor, address, action, subject) VALUES ('ann', '::1', 'a', 's')`,
  ],
  ['an entry that is no longer chained', 'inserted', 4, 'UPDATE audit SET chain_position = NULL WHERE id = 4'],
  ['a head that was put back', 'altered', 7, `UPDATE audit_chain SET position = 7 WHERE name = 'head'`],
])('%s is found', async (_, reason, id, statement) => {
  await addMany(9)
  expect(await mismatch()).toBeNull()
  await store.sql.unsafe(statement)
  expect(await mismatch()).toMatchObject({ reason, id })
})

const MOVE = `
  DELETE FROM audit WHERE id <= 6;
  UPDATE audit_chain SET position = 6, sha256 = (SELECT previous_sha256 FROM audit WHERE id = 7)`

test.each([
  ['without a time', 'NULL'],
  ['with the time of its entry', 'now()'],
  ['with a time in the future', `now() + interval '1 day'`],
])('an anchor that was moved %s is found, although every entry matches', async (_, at) => {
  await addMany(9)
  const kept = { ...(await verifyAudit(store.sql)), at: new Date().toISOString() }
  expect(await compareHead(store.sql, kept)).toBe('same')
  await store.sql.unsafe(`${MOVE}, at = ${at} WHERE name = 'anchor'`)
  expect(await verifyAudit(store.sql)).toMatchObject({
    first_mismatch: { reason: 'early', chain_position: 6, id: null },
    anchor_position: 6,
  })
})

test('a head that was kept finds an anchor that was moved with a false time, and a chain that was rebuilt', async () => {
  await addMany(5)
  const { head, head_position } = await verifyAudit(store.sql)
  const sent = { head, head_position, at: new Date().toISOString() }
  await addMany(4)
  await store.sql.unsafe(`${MOVE}, at = now() - interval '500 days' WHERE name = 'anchor'`)
  expect((await verifyAudit(store.sql)).first_mismatch).toBeNull()
  expect(await compareHead(store.sql, sent)).toBe('early')
  const old = new Date(Date.now() - (AUDIT_DAYS + 1) * 86_400_000).toISOString()
  expect(await compareHead(store.sql, { ...sent, at: old })).toBe('same')
  expect(await compareHead(store.sql, { head: 'f'.repeat(64), head_position: 8, at: sent.at })).toBe('rebuilt')
})

test('retention records the time of the entry at the anchor', async () => {
  await addMany(2)
  await store.sql`ALTER TABLE audit DISABLE TRIGGER ALL`
  await store.sql`UPDATE audit SET at = now() - interval '401 days' WHERE id = 1`
  await store.sql`UPDATE audit SET sha256 = audit_sha256(previous_sha256, chain_position, audit) WHERE id = 1`
  await store.sql`UPDATE audit SET previous_sha256 = (SELECT sha256 FROM audit WHERE id = 1) WHERE id = 2`
  await store.sql`UPDATE audit SET sha256 = audit_sha256(previous_sha256, chain_position, audit) WHERE id = 2`
  await store.sql`UPDATE audit_chain SET sha256 = (SELECT sha256 FROM audit WHERE id = 2) WHERE name = 'head'`
  await store.sql`ALTER TABLE audit ENABLE TRIGGER ALL`
  const [first] = await store.sql<{ sha256: Buffer; at: Date }[]>`SELECT sha256, at FROM audit WHERE id = 1`
  await pruneAudit(store.sql, AUDIT_DAYS)
  expect(await verifyAudit(store.sql)).toMatchObject({
    first_mismatch: null,
    anchor_position: 1,
    anchor_sha256: first?.sha256.toString('hex'),
    anchor_at: first?.at.toISOString(),
  })
})

test('transactions of several control planes form one chain in commit order, without deadlocks', async () => {
  const planes = Array.from({ length: 3 }, () =>
    openStore(store.url, { applicationName: 'gateway-control-plane', maxConnections: 4 }),
  )
  const change = (i: number) =>
    (planes[i % 3] as (typeof planes)[0]).begin(async (tx) => {
      await insertAudit(tx, { ...ENTRY, subject: `first ${i}` })
      // Two concurrent changes lock the same rows in both orders, which must not lead to a deadlock with the chain.
      await tx`SELECT pg_advisory_xact_lock(${i % 5})`
      await insertAudit(tx, { ...ENTRY, subject: `second ${i}` })
      if (i % 2 === 0) await logChanges(tx, [{ kind: 'token', key: `${i}` }])
      if (i % 10 === 9) throw new Error('rolled back')
    })
  const ended = await Promise.allSettled(Array.from({ length: 200 }, (_, i) => change(i)))
  expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(20)
  await Promise.all(planes.map((plane) => plane.end()))
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 360, head_position: 360 })
})

test('entries of a control plane of the previous version are chained as well', async () => {
  const before = openStore(store.url, { applicationName: 'gateway-control-plane', maxConnections: 1 })
  await before`INSERT INTO audit (actor, address, action, subject) SELECT 'ann', '::1', 'a', n::text FROM generate_series(1, 3) n`
  await before.end()
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 3 })
})

test('retention removes the oldest entries, and the rest can be verified', async () => {
  await addMany(6)
  const { head } = await verifyAudit(store.sql)
  await store.sql`UPDATE audit SET at = now() - make_interval(days => 401) WHERE id <= 4`
  await pruneAudit(store.sql, 400)
  expect(await verifyAudit(store.sql)).toMatchObject({
    first_mismatch: null,
    count: 2,
    head,
    head_position: 6,
    anchor_position: 4,
  })
  await add('next')
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 3 })
  await store.sql`DELETE FROM audit WHERE id = 5`
  expect(await mismatch()).toMatchObject({ reason: 'missing', id: 6 })
})

test('more entries than one batch are verified, and deleted, in parts', async () => {
  await store.sql`
    INSERT INTO audit (actor, address, action, subject, detail, chain_position)
    SELECT 'ann', '::1', 'a', n::text, '{"n": 1}', 0 FROM generate_series(1, 6001) n`
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 6001 })
  await store.sql`UPDATE audit SET at = now() - make_interval(days => 401) WHERE chain_position <= 5500`
  await pruneAudit(store.sql, 400)
  expect(await verifyAudit(store.sql)).toMatchObject({ first_mismatch: null, count: 501, anchor_position: 5500 })
})
