import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshStore, freshStore } from './testing/fresh-store.js'

let store: FreshStore
beforeAll(async () => {
  store = await freshStore(process.env.TEST_POSTGRES_URL, { migrated: false })
})
afterAll(() => store.drop())

test.each([
  ['text[]', ['plain', '', 'NULL', 'null', 'a,b', '{"x"}', 'back\\slash', ' blank ', 'line\nbreak', '中文', '"']],
  ['bigint[]', [0, -1, 2 ** 53 - 1]],
  ['integer[]', [1, 2]],
  ['double precision[]', [-180, 85.0511287798066, 1e-9]],
  ['uuid[]', ['7d2c1c5e-5a53-4c39-8b1c-1a4d2f3b6c70']],
  ['text[]', []],
  ['text[]', [null, 'x']],
  [
    'integer[]',
    [
      [1, 2],
      [3, 4],
    ],
  ],
] as const)('an array of type %s is returned as sent: %j', async (type, values) => {
  const { sql } = store
  const [row] = await sql<{ back: unknown }[]>`SELECT ${values as unknown as string[]}::${sql.unsafe(type)} AS back`
  expect(row?.back).toEqual(values)
})

test('arrays of booleans and times are parsed as such', async () => {
  const [row] = await store.sql<object[]>`
    SELECT '{t,f,NULL}'::boolean[] AS flags, '{2026-11-21T22:00:00.123Z}'::timestamptz[] AS moments`
  expect(row).toEqual({ flags: [true, false, null], moments: [new Date('2026-11-21T22:00:00.123Z')] })
})

test.each([
  '0001-01-01',
  '0031-12-31',
  '0045-01-01',
  '0099-06-01',
  '0100-01-01',
  '1969-12-31',
  '2026-11-26',
  '9999-12-31',
])('a moment of the day %s keeps its year, also in an array and in a zone of the server', async (day) => {
  const moment = new Date(`${day}T00:00:00.000Z`)
  const rows = await store.sql.begin(async (sql) => {
    const inUtc = await sql<object[]>`SELECT ${moment}::timestamptz AS moment, ARRAY[${moment}::timestamptz] AS moments`
    await sql`SET LOCAL timezone = '-03:30'`
    return [
      ...inUtc,
      ...(await sql<object[]>`SELECT ${moment}::timestamptz AS moment, ARRAY[${moment}::timestamptz] AS moments`),
    ]
  })
  expect(rows).toEqual([
    { moment, moments: [moment] },
    { moment, moments: [moment] },
  ])
})

test('a null array stays null', async () => {
  const [row] = await store.sql<{ back: unknown }[]>`SELECT ${null as unknown as string[]}::text[] AS back`
  expect(row?.back).toBeNull()
})
