import { randomBytes } from 'node:crypto'
import type { PostgisOptions } from '@gateway/contracts/postgis.js'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { geoJsonOf } from '../query/encoders.js'
import type { After } from '../query/items-query.js'
import { parseItemsQuery, type QueriedIndex } from '../query/parameters.js'
import { type Database, openDatabase } from './connect.js'
import { descriptionOf } from './description.js'
import type { TableQuery } from './messages.js'
import { featuresOf, readQuery } from './read-query.js'
import { readRelations } from './read-relations.js'
import { hasTexts } from './select-texts.js'
import { type PostgisServer, startPostgis } from './testing/server.js'

/** Features that the database writes as texts are those that the gateway writes of the same values, and have the values that were stored. */

let server: PostgisServer
let sql: Database
let indexes: ReadonlyMap<string, QueriedIndex>

const seed = randomBytes(4).readUInt32LE()
let state = seed
/** Returns a number from 0 up to 1 (mulberry32). A failure names the seed. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}
const view = new DataView(new ArrayBuffer(8))
/** Returns a double of random bits, or of few digits. Postgres writes some from 2^53 to 1e40 with more digits. */
function randomDouble(): number {
  view.setUint32(0, random() * 2 ** 32)
  view.setUint32(4, random() * 2 ** 32)
  const short = Math.round((random() - 0.5) * 1e6) * 10 ** Math.round((random() - 0.5) * 44)
  const made = random() < 0.5 ? short : view.getFloat64(0)
  return Math.abs(made) >= 2 ** 53 && Math.abs(made) < 1e40 ? randomDouble() : made
}
function randomText(): string {
  const letters = Array.from({ length: 1 + random() * 20 }, () => {
    const code = Math.floor(random() * (random() < 0.5 ? 0xa0 : 0x11_0000))
    return code === 0 || (code >= 0xd800 && code < 0xe000) ? '"' : String.fromCodePoint(code)
  })
  return letters.join('')
}
const ROWS = 400
const doubles = Array.from({ length: ROWS }, randomDouble)
const singles = doubles.map((one) => Math.fround(one)).map((one) => (Number.isFinite(one) ? one : 1.5))
const texts = Array.from({ length: ROWS }, randomText)
const places = doubles.map((_, i) => [
  (random() - 0.5) * 10 ** -(i % 12) * 360,
  (random() - 0.5) * 10 ** -(i % 9) * 180,
])

/** The least number that is infinite as a double. */
const INFINITE = 2n ** 1024n - 2n ** 970n

const KINDS = `
  CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE TYPE mood AS ENUM ('calm', 'wi"ld'); CREATE TYPE pair AS (a int, b text);
  CREATE DOMAIN postcode AS text; CREATE DOMAIN metres AS double precision; CREATE DOMAIN flag AS boolean; CREATE DOMAIN document AS json;
  CREATE TABLE kinds (id bigint PRIMARY KEY, small smallint, big bigint, o oid, f metres, r real, n numeric, n2 numeric(8, 3), yes flag, d date, t time, tz timetz, ts timestamp, tsz timestamptz,
    span interval, j document, jb jsonb, h hstore, ints int[], reals real[], texts text[][], stamps timestamptz[], p pair, m mood, code postcode, ci citext, c char(5), one "char", n3 name,
    u uuid, ip inet, net cidr, mac macaddr, cash money, b bit(3), vb varbit, x xml, range int4range, class regclass, lsn pg_lsn, xid xid, raw bytea, search tsvector, geom geometry(Point, 4326));
  INSERT INTO kinds (id) VALUES (0);
  INSERT INTO kinds VALUES (1, -32768, -9223372036854775808, 4294967295, '-Infinity', 'NaN', 'Infinity', 12345.678, false, '-infinity', '24:00', '00:00+15:59', 'infinity', '-infinity',
    '-1 mons +2 days -00:00:01.5', (' {"a" : [1, 1e400, "\\u00e9", "\\ud800", null], "a": 2}' || chr(10))::json, '{"z": 1.50, "a": "\\"/<>&"}', 'a=>NULL, "b c"=>"\\"d"', '{{1,NULL},{3,4}}', '{NaN,Infinity,1e-7}', '{{a,"b,\\"c"}}', '{infinity,"2024-01-01 00:00Z"}',
    '(1,"a ""b")', 'wi"ld', E'\\\\ / \\b\\f\\n\\r\\t \\x7f', 'İ', 'ab', 'z', 'it''s', '00000000-0000-0000-0000-000000000001', '::1/64', '10.0.0.0/8', '08:00:2b:01:02:03', -1234.5, B'101', B'1', '<a b="c">&amp;</a>',
    '(1,5]', 'kinds', '16/B374D848', '42', '\\x00ff', 'a b', 'SRID=4326;POINT(180 -90)'),
   (2, 32767, 9223372036854775807, 0, 'NaN', '-0', '-0.000', -0.001, true, '4713-01-01 BC', '00:00:00.000001', '23:59:59-15:59', '0044-03-15 12:00:00.123456 BC', '294276-12-31 23:59:59.999999Z',
    '178000000 years', '"text"', 'null', '', '{}', '{}', '{}', '{}', '(,)', 'calm', '', '', '', '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'empty', NULL, NULL, NULL, NULL, NULL, 'SRID=4326;POINT(0 0)'),
   (-3, 0, 9007199254740992, 1, 'Infinity', 3.4028235e38, 'NaN', 0, NULL, '5874897-12-31', '12:00', '12:00Z', '2024-02-29', '1883-11-18 12:00-07:52:58', '0', 'false', '"\\u0001"', NULL, '[5:6]={7,8}', NULL, NULL, NULL, NULL, NULL, 'null', NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'SRID=4326;POINT EMPTY');
  CREATE TABLE numerics AS SELECT n * s AS id, e * s AS e, ST_SetSRID(ST_MakePoint(0, 0), 4326)::geometry(Point, 4326) AS geom FROM unnest(ARRAY[${INFINITE}, ${INFINITE - 1n}, ${INFINITE - 1n}.9, ${'9'.repeat(400)}, 1.50, 100.0,
    0.${'0'.repeat(400)}1, 9007199254740993, 1e20, 0.1]::numeric[]) WITH ORDINALITY AS a (e, n), unnest(ARRAY[1, -1]) s;
  CREATE TABLE halves AS SELECT n AS id, f, 'SRID=4326;POINT(1 2)'::geometry(Point, 4326) AS geom FROM unnest(ARRAY[4.18528e22, -2e23, 5e21]::float8[]) WITH ORDINALITY AS a (f, n);
  CREATE TABLE numbers (id int PRIMARY KEY, f float8, r real, n numeric, t text, geom geometry(Point, 4326));`

const GEOMETRIES = [
  ...[
    'Point',
    'PointZ',
    'PointM',
    'PointZM',
    'LineString',
    'LineStringZM',
    'PolygonM',
    'MultiPointZ',
    'MultiLineString',
  ],
  ...[
    'MultiPolygonZ',
    'GeometryCollection',
    'CurvePolygon',
    'CompoundCurve',
    'MultiSurface',
    'TIN',
    'PolyhedralSurfaceZ',
  ],
]
/** A geometry of a kind, of no place on the earth, empty and null. */
function geometriesOf(kind: string): string[] {
  const plain = kind.replace(/(ZM|Z|M)$/, '')
  const dimensions = kind.slice(plain.length)
  const at = (x: number, y: number) => `${x} ${y}${' 3.5'.repeat(dimensions.length)}`
  const ring = (x: number) => `(${[at(x, 1), at(x, 5.1), at(x + 3, 5.1), at(x + 3, 1), at(x, 1)].join(', ')})`
  const body: Readonly<Record<string, (x: number) => string>> = {
    Point: (x) => at(x, 0.1),
    LineString: (x) => `${at(x, 0.1)}, ${at(x + 1e-7, 0.3)}`,
    Polygon: (x) => `${ring(x)}, ${ring(x)}`,
    MultiPoint: (x) => `${at(x, 1)}, ${at(x, 2)}`,
    MultiLineString: (x) => `(${at(x, 1)}, ${at(x, 2)})`,
    MultiPolygon: (x) => `(${ring(x)}), (${ring(x + 10)})`,
    GeometryCollection: (x) => `POINT(${at(x, 1)}), LINESTRING(${at(x, 1)}, ${at(x, 2)})`,
    CurvePolygon: (x) => `CIRCULARSTRING(${x} 0, ${x + 1} 1, ${x + 2} 0, ${x + 1} -1, ${x} 0)`,
    CompoundCurve: (x) => `CIRCULARSTRING(${x} 0, ${x + 1} 1, ${x + 2} 0), (${x + 2} 0, ${x} 9)`,
    MultiSurface: (x) =>
      `CURVEPOLYGON(CIRCULARSTRING(${x} 0, ${x + 1} 1, ${x + 2} 0, ${x + 1} -1, ${x} 0)), (${ring(x)})`,
    TIN: (x) => `((${x} 0, ${x + 1} 0, ${x} 1, ${x} 0))`,
    PolyhedralSurface: (x) => `(${ring(x)})`,
  }
  const made = [10, -180, 1e9].map((x) => `${plain} ${dimensions}(${body[plain]?.(x)})`)
  return [...made, `${plain} ${dimensions} EMPTY`].map((text) => `ST_GeomFromText('${text}', 4326)`)
}

const NAMES = `
  CREATE TABLE "It's ""A"" ? /* */ $1" ("ID" text PRIMARY KEY, "id" int, "Id?" text, "t" int, "f" int, gw_g text, gw_k0 text, gw_v0 text, "${'ü'.repeat(31)}" text, "a\\b'c""d:" text, "GEOM ?" geometry(Point, 4326));
  INSERT INTO "It's ""A"" ? /* */ $1" SELECT chr(96 + n), n, 'x' || n, n, n, 'g', 'k', 'v', 'ü', '\\', ST_SetSRID(ST_MakePoint(n, n), 4326) FROM generate_series(1, 5) n;
  CREATE TABLE composite (a text, b numeric, c timestamptz, geom geometry(Point, 4326), PRIMARY KEY (a, b, c));
  INSERT INTO composite SELECT 'x,\\' || n, n / 10.0, '2024-01-01Z', NULL FROM generate_series(1, 30) n;
  CREATE TABLE floats (id float8 PRIMARY KEY, geom geometry(Point, 4326)); INSERT INTO floats VALUES (1), (1.5), (1e21), ('NaN'), (1e-7), (-0.0);
  CREATE TABLE digits (id text PRIMARY KEY, geom geometry(Point, 4326)); INSERT INTO digits VALUES ('1'), ('1.50'), ('-0'), (''), ('null'), ('"');
  CREATE VIEW unnamed AS SELECT nullif(id, 2) AS id, name, geom FROM (VALUES (1, 'a', 'SRID=4326;POINT(1 1)'::geometry(Point, 4326)), (2, 'b', NULL)) v (id, name, geom);
  CREATE TABLE only_place AS SELECT 'SRID=4326;POINT(1 2)'::geometry(Point, 4326) AS geom FROM generate_series(1, 3);
  CREATE TABLE mercator AS SELECT n AS id, ST_Transform(ST_SetSRID(ST_MakePoint(n / 7.0, n / 3.0), 4326), 3857)::geometry(Point, 3857) AS geom FROM generate_series(1, 20) n;
  CREATE TABLE utm AS SELECT n AS id, ST_Transform(ST_SetSRID(ST_MakePoint(9 + n / 7.0, 50), 4326), 25832)::geometry(PointZ, 25832) AS geom FROM generate_series(1, 20) n WHERE false;
  CREATE TABLE globe AS SELECT n AS id, ST_SetSRID(ST_MakePoint(n / 7.0, n / 3.0), 4326)::geography(Point, 4326) AS geog FROM generate_series(1, 20) n;
  CREATE VIEW undeclared AS SELECT id, ST_SetSRID(geom, 0) AS geom FROM mercator;`

beforeAll(async () => {
  server = await startPostgis()
  const { owner } = server
  await owner.unsafe(KINDS)
  const rows = doubles.map((f, i) => [
    i,
    String(f),
    String(singles[i]),
    Number.isFinite(f) ? String(f) : 'NaN',
    texts[i],
    ...(places[i] ?? []),
  ])
  await owner.unsafe(
    `INSERT INTO numbers SELECT (r->>0)::int, (r->>1)::float8, (r->>2)::real, (r->>3)::numeric, r->>4, ST_SetSRID(ST_MakePoint((r->>5)::float8, (r->>6)::float8), 4326) FROM jsonb_array_elements($1::text::jsonb) r`,
    [JSON.stringify(rows)],
  )
  for (const kind of GEOMETRIES) {
    await owner.unsafe(`CREATE TABLE "of_${kind}" (id serial PRIMARY KEY, a text, geom geometry(${kind}, 4326), b int)`)
    for (const one of [...geometriesOf(kind), 'NULL'])
      await owner.unsafe(`INSERT INTO "of_${kind}" (a, geom, b) VALUES ('a', ${one}, 7)`)
  }
  await owner.unsafe(NAMES)
  const forms = [
    'int DEFAULT 5',
    'float8 DEFAULT 1e-5',
    'real DEFAULT 0.1',
    'numeric DEFAULT 1.50',
    "text DEFAULT 'é'",
    'timestamptz DEFAULT now()',
  ]
  const columns = Array.from(
    { length: 300 },
    (_, i) => `"column number ${i} of a table with many of them" ${forms[i % 6]}`,
  )
  await owner.unsafe(
    `CREATE TABLE wide (${columns.join(', ')}, geom geometry(Point, 4326)); INSERT INTO wide DEFAULT VALUES`,
  )
  await owner.unsafe('GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; ANALYZE')
  sql = open(server.readerUrl)
  indexes = await indexesOf(sql, {
    tables: { 'public.unnamed': { id_column: 'id' }, 'public.undeclared': { srid: 3857 } },
  })
}, 120_000)
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await server?.stop()
})

function open(url: string): Database {
  return openDatabase(
    { source: 'db', url, password: 'secret', pool: 2 },
    { statementTimeoutSeconds: 10, applicationName: 'texts' },
  )
}

async function indexesOf(of: Database, options: PostgisOptions): Promise<ReadonlyMap<string, QueriedIndex>> {
  const { relations } = await readRelations(of, 'db', { options })
  return new Map(
    relations.flatMap((one) => {
      const { relation: table } = one
      if (table.what !== 'table') return []
      return [[table.table, { description: descriptionOf(one), revision: 'r', file: '', table }]]
    }),
  )
}

/** Returns the text that is sent and the position behind it, and those that the gateway makes of the values. */
async function bothOf(of: Database, query: TableQuery) {
  const parts: Buffer[] = []
  let last: After | null = null
  for await (const chunk of readQuery(of, query, 'layer', '', () => {})) {
    parts.push(Buffer.from(chunk.bytes))
    last = chunk.last
  }
  const own: string[] = []
  let position: After | null = null
  const textOf = geoJsonOf(query.selected, null)
  for await (const one of featuresOf(of, query, 'layer', '', () => {})) {
    if (own.length === query.limit) break
    own.push(textOf(one.row, one.values))
    position = one.position
  }
  const text = Buffer.concat(parts).toString()
  const split = text === '' ? [] : text.split(/,(?=\{"type":"Feature",)/)
  return { sent: { features: split, last }, own: { features: own, last: position } }
}

async function expectSame(of: Database, name: string, query: TableQuery): Promise<string> {
  const { sent, own } = await bothOf(of, query)
  // The first difference says more than all features do.
  const at = sent.features.findIndex((feature, i) => feature !== own.features[i])
  expect([name, seed, at, sent.features[at]]).toEqual([name, seed, at, own.features[at]])
  expect([name, seed, sent.features.length, sent.last]).toEqual([name, seed, own.features.length, own.last])
  const text = sent.features.join(',')
  for (const feature of JSON.parse(`[${text}]`)) expect(feature.type).toBe('Feature')
  return text
}

test('every table is written alike, in every order, on every page, with some columns and in a box', async () => {
  expect(indexes.size).toBe(GEOMETRIES.length + 15)
  for (const [name, index] of indexes) {
    if (name === 'halves') continue
    const columns = (index.table?.columns ?? []).slice(0, 45)
    const orders = columns
      .filter(({ form }) => !/json/.test(form))
      .flatMap(({ name: of }) => [`&sortby=${encodeURIComponent(of)}`, `&sortby=-${encodeURIComponent(of)}`])
    const some = columns.slice(0, 2).map(({ name: of }) => of)
    const choices =
      some.length === 0 || some.join().includes('?') ? [] : [`&properties=${encodeURIComponent(some.join(','))}`]
    for (const parameters of ['', ...orders, ...choices, '&bbox=-10,-10,30,60', '&offset=1']) {
      const query = parseItemsQuery(`limit=500${parameters}`, '', index) as TableQuery
      expect(hasTexts(query)).toBe(true)
      await expectSame(sql, `${name} ${parameters}`, query)
    }
    // A page of one feature, and the next one behind it.
    let query = parseItemsQuery(`limit=500${orders[1] ?? ''}`, '', index) as TableQuery
    for (let page = 0; page < 7; page++) {
      const { sent } = await bothOf(sql, { ...query, maxBytes: 1 })
      const { own } = await bothOf(sql, { ...query, limit: 1 })
      expect([name, seed, page, sent]).toEqual([name, seed, page, own])
      if (sent.last === null) break
      query = { ...query, after: sent.last, offset: 0 }
    }
  }
})

test('numbers, texts and places are those that were stored, digit for digit', async () => {
  const written = await expectSame(
    sql,
    'numbers',
    parseItemsQuery('limit=10000', '', indexes.get('numbers')!) as TableQuery,
  )
  const expected = doubles.map((f, i) => {
    const [x = 0, y = 0] = places[i] ?? []
    const head = `{"type":"Feature","id":${i},"geometry":${JSON.stringify({ type: 'Point', coordinates: [x, y] })},"properties":{"id":${i},`
    return `${head}"f":${JSON.stringify(f)},"r":`
  })
  for (const [i, text] of expected.entries()) expect([seed, i, written.includes(text)]).toEqual([seed, i, true])
  const features = JSON.parse(`[${written}]`) as { properties: { r: number; n: number | null; t: string } }[]
  expect([seed, features.map(({ properties: { t } }) => t)]).toEqual([seed, texts])
  expect([seed, features.map(({ properties: { r } }) => Math.fround(r))]).toEqual([seed, singles.map((one) => one + 0)])
  expect([seed, features.map(({ properties: { n } }) => n)]).toEqual([
    seed,
    doubles.map((f) => (Number.isFinite(f) ? f + 0 : null)),
  ])
})

test('a download that is cut at any size goes on with the next feature', async () => {
  const index = indexes.get('numbers')!
  const whole = parseItemsQuery('limit=10000', '', index) as TableQuery
  const ids: number[] = []
  let query: TableQuery = { ...whole, maxBytes: 5_000 }
  for (;;) {
    const parts: string[] = []
    let more = false
    let last: After | null = null
    for await (const chunk of readQuery(sql, query, 'layer', '', () => {})) {
      parts.push(Buffer.from(chunk.bytes).toString())
      last = chunk.last
      more = chunk.state === 'more'
    }
    ids.push(...(JSON.parse(`[${parts.join('')}]`) as { id: number }[]).map(({ id }) => id))
    if (!more) break
    query = { ...query, after: last, offset: 0 }
  }
  expect(ids).toEqual(doubles.map((_, i) => i))
})

test('a number that Postgres writes with more digits is the same one', async () => {
  const index = indexes.get('halves')!
  const { sent, own } = await bothOf(sql, parseItemsQuery('limit=500', '', index) as TableQuery)
  expect(sent.features).not.toEqual(own.features)
  const numbers = (features: readonly string[]) => features.map((one) => JSON.parse(one).properties.f)
  expect(numbers(sent.features)).toEqual([4.18528e22, -2e23, 5e21])
  expect(numbers(own.features)).toEqual([4.18528e22, -2e23, 5e21])
})

test.each(['LATIN1', 'SQL_ASCII'])('texts and names of a database in %s are written alike', async (encoding) => {
  const name = `in_${encoding.toLowerCase()}`
  await server.owner.unsafe(`CREATE DATABASE ${name} ENCODING '${encoding}' TEMPLATE template0 LOCALE 'C'`)
  const owner = postgres(server.url.replace(/test$/, name), { max: 1, onnotice: () => {} })
  await owner.unsafe(
    `CREATE EXTENSION postgis; CREATE TABLE words AS SELECT 1 AS id, 'é"' AS "ñame", '{"ü": "ß"}'::json AS j, 'SRID=4326;POINT(1 2)'::geometry(Point, 4326) AS geom; GRANT SELECT ON words TO reader`,
  )
  await owner.end()
  const other = open(server.readerUrl.replace(/test$/, name))
  try {
    const index = (await indexesOf(other, {})).get('words')!
    const written = await expectSame(other, name, parseItemsQuery('limit=500', '', index) as TableQuery)
    expect(written).toContain('"properties":{"id":1,"ñame":"é\\"","j":{"ü": "ß"}}')
  } finally {
    await other.end({ timeout: 1 })
  }
})
