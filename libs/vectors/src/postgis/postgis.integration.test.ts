import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DatabaseConnection, DatabaseTable } from '@gateway/contracts/postgis.js'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { IndexDescription } from '../index-file/index-description.js'
import { QueryError } from '../query/cql2/expression.js'
import { folded, withoutAccents } from '../query/cql2/folding.js'
import { abstractTests, readTestLayer, TEST_LAYERS } from '../query/cql2/testing/abstract-tests.js'
import type { Chunk } from '../query/items-query.js'
import { cursorOf, parseItemQuery, parseItemsQuery, type QueriedIndex } from '../query/parameters.js'
import { openDatabase } from './connect.js'
import { Databases } from './databases.js'
import { descriptionOf } from './description.js'
import type { TableQuery } from './messages.js'
import { type FoundRelation, readRelations } from './read-relations.js'
import { type PostgisServer, startPostgis } from './testing/server.js'

let server: PostgisServer
let databases: Databases
let connection: DatabaseConnection
let found: ReadonlyMap<string, FoundRelation>
let warnings: readonly string[]
const heard: unknown[] = []

const TABLES = `
  CREATE TYPE mood AS ENUM ('calm', 'wild'); CREATE DOMAIN postcode AS text CHECK (length(value) < 9);
  CREATE DOMAIN place AS geometry(Point, 4326); CREATE DOMAIN site AS place;
  CREATE TABLE kinds (id bigint PRIMARY KEY, name text, code postcode, small smallint, real_one real, double_one float8, exact numeric, yes boolean,
    day date, at timestamp, instant timestamptz, tags text[], data jsonb, old json, uid uuid, feeling mood, twice int GENERATED ALWAYS AS (small * 2) STORED,
    raw bytea, geom geometry(Point, 4326));
  COMMENT ON TABLE kinds IS 'All kinds of columns';
  INSERT INTO kinds (id, name, code, small, real_one, double_one, exact, yes, day, at, instant, tags, data, old, uid, feeling, raw, geom) VALUES
    (1, 'Straße', 'AB1', 7, 0.1, 0.1, 12345678901234567.125, true, '2024-02-29', '2024-02-29 12:00', '2024-02-29 12:00+02', '{a,"b c"}', '{"a":[1]}', '[1]',
     '00000000-0000-0000-0000-000000000001', 'wild', '\\x00', ST_SetSRID(ST_MakePoint(10, 50), 4326)),
    (2, 'Éclair', NULL, NULL, NULL, 'NaN', NULL, false, NULL, '-infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 'empty', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'SRID=4326;POINT EMPTY'),
    (9007199254740993, 'ΌΔΟΣ ς', NULL, 1, 1.5, 2, 3, NULL, '2025-01-01', '2025-01-01', '2025-01-01Z', NULL, '"text"', NULL, NULL, 'calm', NULL, ST_SetSRID(ST_MakePoint(11, 51), 4326));
  CREATE TABLE mercator AS SELECT 1 AS id, ST_Transform(ST_SetSRID(ST_MakePoint(10, 50), 4326), 3857)::geometry(Point, 3857) AS geom;
  CREATE TABLE cgcs AS SELECT 1 AS id, ST_SetSRID(ST_MakePoint(10, 50), 4490)::geometry(Point, 4490) AS geom;
  CREATE TABLE utm AS SELECT 1 AS id, ST_Transform(ST_SetSRID(ST_MakePoint(10, 50), 4326), 25832)::geometry(Point, 25832) AS geom;
  CREATE TABLE globe AS SELECT 1 AS id, ST_SetSRID(ST_MakePoint(10, 50), 4326)::geography(Point, 4326) AS geog;
  CREATE INDEX ON utm USING gist (geom);
  CREATE TABLE high (id int PRIMARY KEY, geom geometry(LineStringZM, 4326));
  INSERT INTO high VALUES (1, 'SRID=4326;LINESTRING ZM (9 49 1 5, 10 50 2 6)');
  CREATE TABLE mixed (id int PRIMARY KEY, geom geometry(Geometry, 4326));
  INSERT INTO mixed VALUES (1, 'SRID=4326;POINT(10 50)'), (2, 'SRID=4326;MULTIPOLYGON(((9 49, 11 49, 11 51, 9 49)))'),
    (3, 'SRID=4326;GEOMETRYCOLLECTION(POINT(10 50), LINESTRING(1 1, 2 2))'), (5, ST_GeomFromText('TIN (((10 50, 11 50, 10 51, 10 50)))', 4326)), (4, 'SRID=4326;CURVEPOLYGON(CIRCULARSTRING(10 50, 11 51, 12 50, 11 49, 10 50))');
  CREATE VIEW seen AS SELECT id, name, geom FROM kinds;
  CREATE MATERIALIZED VIEW kept AS SELECT id, name, geom FROM kinds;
  CREATE TABLE parted (id int, part int, geom geometry(Point, 4326), PRIMARY KEY (part, id)) PARTITION BY LIST (part);
  CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1); CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
  INSERT INTO parted SELECT n, 1 + n % 2, ST_SetSRID(ST_MakePoint(10 + n / 100.0, 50), 4326) FROM generate_series(1, 10) n;
  CREATE TABLE "Straßen ""Ä"" ?" ("Der Name?" text PRIMARY KEY, "x,y" int, "Geo" site);
  INSERT INTO "Straßen ""Ä"" ?" VALUES ('a,b\\c', 1, 'SRID=4326;POINT(10 50)');
  CREATE TABLE pairs (a text, b int, n int, geom place, PRIMARY KEY (a, b));
  INSERT INTO pairs SELECT chr(97 + n % 3) || ',', n, nullif(n % 5, 0), ST_SetSRID(ST_MakePoint(10, 50), 4326) FROM generate_series(1, 30) n;
  CREATE TABLE padded (code char(4) PRIMARY KEY, geom geometry(Point, 4326));
  INSERT INTO padded SELECT n::text, ST_SetSRID(ST_MakePoint(10, 50 + n), 4326) FROM generate_series(8, 12) n;
  CREATE TABLE keyless AS SELECT n, ST_SetSRID(ST_MakePoint(10, 50), 4326)::geometry(Point, 4326) AS geom FROM generate_series(1, 25) n;
  CREATE TABLE dense AS SELECT n AS id, md5(n::text) || md5((n + 1)::text) AS text, ST_SetSRID(ST_MakePoint(10 + n % 300 / 100.0, 50 + n / 30000.0), 4326)::geometry(Point, 4326) AS geom
    FROM generate_series(1, 30000) n;
  ALTER TABLE dense ADD PRIMARY KEY (id);
  CREATE TABLE guarded (id int PRIMARY KEY, owner text, geom geometry(Point, 4326));
  INSERT INTO guarded VALUES (1, 'one', 'SRID=4326;POINT(10 50)'), (2, 'two', 'SRID=4326;POINT(10 50)');
  ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
  CREATE POLICY by_token ON guarded USING (owner = current_setting('gateway.token', true));
  CREATE VIEW through AS SELECT id, geom FROM guarded; CREATE VIEW through_two AS SELECT id, geom FROM through;
  CREATE FUNCTION token() RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting('gateway.token', true) $$;
  CREATE VIEW by_function AS SELECT id, geom FROM kinds WHERE token() = 'one';
  CREATE VIEW pausing AS SELECT n AS id, ST_SetSRID(ST_MakePoint(10, 50), 4326)::geometry(Point, 4326) AS geom FROM generate_series(1, 2000) n WHERE CASE WHEN n > 500 THEN pg_sleep(600)::text IS NOT NULL ELSE true END;
  CREATE TABLE altered (id int PRIMARY KEY, name text, n int, yes boolean, j json, f float8, r real, e numeric, geom geometry(Point, 4326)); INSERT INTO altered VALUES (1, '1', 1, true, '[1]', 1, 1, 1, 'SRID=4326;POINT(10 50)');
  CREATE TABLE words (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
  CREATE TABLE hidden (id int PRIMARY KEY, geom geometry(Point, 4326));
  CREATE FUNCTION spots(z integer, x integer, y integer, query json) RETURNS bytea LANGUAGE sql STABLE AS
    $$ SELECT ST_AsMVT(t, 'spots', 4096, 'geom') FROM (SELECT query->>'name' AS name, ST_AsMVTGeom(ST_TileEnvelope(z, x, y), ST_TileEnvelope(z, x, y)) AS geom) t $$;
  CREATE FUNCTION fails(z integer, x integer, y integer) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$;
  CREATE TABLE far (id int PRIMARY KEY, geom geometry(Point, 4326));
  INSERT INTO far VALUES (1, 'SRID=4326;POINT(-170 -89.9)'), (2, 'SRID=4326;POINT(195 89.9)');
  CREATE VIEW slow AS SELECT id, geom FROM kinds WHERE (SELECT pg_sleep(30)::text) IS NOT NULL;
  CREATE SCHEMA private; CREATE TABLE private.secrets (id int PRIMARY KEY, geom geometry(Point, 4326));
  GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; REVOKE SELECT ON hidden FROM reader;
  ANALYZE;`

beforeAll(async () => {
  server = await startPostgis()
  await server.owner.unsafe(TABLES)
  for (const [id, word] of WORDS.entries()) await server.owner`INSERT INTO words VALUES (${id}, ${word})`
  await writeTestLayers()
  connection = { source: 'db', url: server.readerUrl, password: 'secret', pool: 4 }
  const sql = openDatabase(connection, { statementTimeoutSeconds: 10, applicationName: 'scan' })
  const tables = {
    'public.seen': { id_column: 'id' },
    'public.slow': { id_column: 'id', statement_timeout_seconds: 1 },
  }
  const scanned = await readRelations(sql, 'db', { options: { tables } })
  await sql.end()
  found = new Map(scanned.relations.map((one) => [one.name, one]))
  warnings = scanned.warnings.map(({ code }) => code)
  databases = new Databases({
    connection: async () => connection,
    notified: (...what) => heard.push(what),
  })
})
afterAll(async () => {
  databases?.close()
  await server?.stop()
})

/** Writes the layers of OGC's test data for CQL2 into tables. */
async function writeTestLayers(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'gateway-test-cql2-'))
  const { owner } = server
  for (const layer of TEST_LAYERS) {
    const { columns, features } = readTestLayer(layer, join(home, `${layer}.gpkg`))
    const name = `cql2_${layer}`
    const definitions = columns.map((column) => `"${column.name}" ${column.type}`)
    await owner.unsafe(`CREATE TABLE ${name} (${definitions.join(', ')}, PRIMARY KEY (fid))`)
    const rows = owner.json(features as never)
    await owner`INSERT INTO ${owner(name)} SELECT * FROM jsonb_populate_recordset(NULL::${owner(name)}, ${rows})`
    await owner.unsafe(
      `ALTER TABLE ${name} ALTER geom TYPE geometry(Geometry, 4326) USING ST_SetSRID(geom, 4326); GRANT SELECT ON ${name} TO reader`,
    )
  }
  rmSync(home, { recursive: true })
}

const tableAt = (name: string) => found.get(`public-${name}`)?.relation as DatabaseTable

function indexOf(name: string): QueriedIndex & { readonly description: IndexDescription } {
  const relation = found.get(`public-${name}`) as FoundRelation
  return { description: descriptionOf(relation), revision: 'r', file: '', table: tableAt(name) }
}

async function read(name: string, parameters: string, token = ''): Promise<{ features: Feature[]; last: Chunk }> {
  const query = parseItemsQuery(parameters, '', indexOf(name)) as TableQuery
  return collect(query, token)
}
async function collect(query: TableQuery, token = '') {
  const parts: string[] = []
  let last: Chunk | null = null
  for await (const chunk of databases.run(query, 'layer', undefined, token)) {
    parts.push(Buffer.from(chunk.bytes).toString())
    last = { ...chunk, last: chunk.last ?? (last as Chunk | null)?.last ?? null }
  }
  return { features: JSON.parse(`[${parts.join('')}]`) as Feature[], last: last as Chunk }
}

interface Feature {
  readonly id?: string | number
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | null
  readonly properties: Readonly<Record<string, unknown>>
}

async function tile(name: string, [z, x, y]: readonly [number, number, number], token = '', query = '{}') {
  const relation = (found.get(`public-${name}`) as FoundRelation).relation
  const made = await databases.tile(
    { relation, wish: { z, x, y, layer: 'layer', fields: null }, query },
    { caller: token, token },
  )
  const layers = made.bytes === null ? {} : new VectorTile(new PbfReader(gunzipSync(made.bytes))).layers
  return { ...made, layers }
}
/** The tile of zoom 8 with the point at 10, 50. */
const HERE = [8, 135, 86] as const

test('tables, views, partitions and functions that the role may read are found, with facts of the catalogs', () => {
  expect([...found.keys()].filter((name) => !name.includes('"')).sort()).toEqual(
    [
      'altered',
      'by_function',
      'cgcs',
      ...TEST_LAYERS.map((layer) => `cql2_${layer}`),
      'dense',
      'fails',
      'far',
      'globe',
      'guarded',
      'high',
      'kept',
      'keyless',
      'kinds',
      'mercator',
      'mixed',
      'padded',
      'pairs',
      'parted',
      'pausing',
      'seen',
      'slow',
      'spots',
      'through',
      'through_two',
      'utm',
      'words',
    ].map((name) => `public-${name}`),
  )
  expect(found.get('public-kinds')).toMatchObject({ comment: 'All kinds of columns', geometryType: 'Point', count: 4 })
  expect(found.get('public-parted')).toMatchObject({ count: 10, relation: { key: [{ name: 'part' }, { name: 'id' }] } })
  for (const name of ['utm', 'globe', 'Straßen "Ä" ?'])
    expect(found.get(`public-${name}`)?.bounds?.map(Math.round)).toEqual([10, 50, 10, 50])
  expect(found.get('public-padded')?.bounds?.map(Math.round)).toEqual([10, 58, 10, 62])
  expect(tableAt('high')).toMatchObject({ hasZ: true, srid: 4326 })
  expect(warnings).toContain('postgis_no_index')
  expect(warnings).not.toContain('postgis_writes')
})

test('values of all types of columns are those of the table', async () => {
  const { features } = await read('kinds', '')
  expect(features.map(({ id }) => id)).toEqual([1, 2, 3, 9007199254740992])
  expect(features[0]).toMatchObject({
    geometry: { type: 'Point', coordinates: [10, 50] },
    properties: {
      ...{
        id: 1,
        name: 'Straße',
        code: 'AB1',
        small: 7,
        real_one: 0.1,
        double_one: 0.1,
        exact: Number('12345678901234567.125'),
        yes: true,
      },
      ...{
        day: '2024-02-29',
        at: '2024-02-29T12:00:00Z',
        instant: '2024-02-29T10:00:00Z',
        tags: ['a', 'b c'],
        data: { a: [1] },
        old: [1],
      },
      ...{ uid: '00000000-0000-0000-0000-000000000001', feeling: 'wild', twice: 14 },
    },
  })
  expect(features[0]?.properties).not.toHaveProperty('raw')
  expect(features[1]).toMatchObject({
    geometry: null,
    properties: { name: 'Éclair', double_one: null, yes: false, at: '-infinity' },
  })
  const query = parseItemQuery('9007199254740993', '', indexOf('kinds')) as TableQuery
  const raw: string[] = []
  for await (const { bytes } of databases.run(query, 'layer')) raw.push(Buffer.from(bytes).toString())
  expect(raw.join('')).toContain('"id":9007199254740993,')
})

test.each(['mercator', 'cgcs', 'utm', 'globe'])(
  '%s has its point at the right place, in features, boxes and tiles',
  async (name) => {
    const { features } = await read(name, 'bbox=9.9,49.9,10.1,50.1')
    const position = features[0]?.geometry?.coordinates as number[] | undefined
    expect(position?.map((value) => Math.round(value * 1e6) / 1e6)).toEqual([10, 50])
    expect((await read(name, 'bbox=10.1,49.9,11,50.1')).features).toEqual([])
    expect((await read(name, 'bbox=-180,-90,180,90')).features).toHaveLength(1)
    for (const place of [HERE, [0, 0, 0]] as const) {
      const { layers } = await tile(name, place)
      const { geometry } = layers.layer?.feature(0).toGeoJSON(place[1], place[2], place[0]) ?? {}
      const [lon = 0, lat = 0] = geometry?.type === 'Point' ? geometry.coordinates : []
      const near = 360 / 2 ** place[0] / 4096
      expect([Math.abs(lon - 10) < near, Math.abs(lat - 50) < near]).toEqual([true, true])
    }
    expect((await tile(name, [8, 0, 0])).bytes).toBeNull()
  },
)

test('geometries of all kinds, with heights and measures, are read', async () => {
  const { features } = await read('mixed', '')
  expect(features.map(({ geometry }) => geometry?.type)).toEqual([
    'Point',
    'MultiPolygon',
    'GeometryCollection',
    'Polygon',
    'MultiPolygon',
  ])
  expect((await read('mixed', 'filter=S_INTERSECTS(geometry, POINT(10 50))')).features.map(({ id }) => id)).toEqual([
    1, 2, 3, 4, 5,
  ])
  const { features: lines } = await read('high', '')
  expect(lines[0]?.geometry?.coordinates).toEqual([
    [9, 49, 1],
    [10, 50, 2],
  ])
  expect((await read('high', 'bbox=9,49,0,11,51,3')).features).toHaveLength(1)
  expect((await read('high', 'bbox=9,49,5,11,51,6')).features).toHaveLength(0)
  const { layers } = await tile('mixed', HERE)
  expect(layers.layer?.length).toBeGreaterThanOrEqual(4)
})

test('pages neither repeat nor skip features, in every order, with and without a key', async () => {
  for (const [name, sortby] of [
    ['pairs', ''],
    ['pairs', '-n'],
    ['pairs', 'n,-a'],
    ['keyless', ''],
    ['parted', '-id'],
  ] as const) {
    const index = indexOf(name)
    const all: Feature[] = []
    let cursor = ''
    for (let page = 0; page < 20; page++) {
      const parameters = `limit=7${sortby === '' ? '' : `&sortby=${sortby}`}${cursor === '' ? '' : `&cursor=${cursor}`}`
      const query = parseItemsQuery(parameters, '', index) as TableQuery
      const { features, last } = await collect(query)
      all.push(...features)
      if (last.state === 'end') break
      cursor = cursorOf(last.last ?? [], 'r', query.sort)
    }
    const count = { pairs: 30, keyless: 25, parted: 10 }[name]
    expect([name, sortby, all.length, new Set(all.map(({ properties }) => JSON.stringify(properties))).size]).toEqual([
      name,
      sortby,
      count,
      count,
    ])
    if (sortby === '-n') {
      const order = all.map(({ properties }) => Number(properties.n ?? 0))
      expect(order).toEqual([...order].sort((a, b) => b - a))
    }
  }
})

/** Texts whose cases and accents differ, of which each is compared with all others by the rules of files. */
const WORDS = [
  'Straße',
  'STRASSE',
  'strasse',
  'ΌΔΟΣ',
  'όδος',
  'Οδός',
  'ıssız',
  'ISSIZ',
  'issiz',
  'İzmir',
  'Éclair',
  'e\u0301clair',
  'ECLAIR',
  'ÅNGSTRÖM',
  'Ångström',
  'Ёлка',
  'елка',
  '北京',
  'ﬁn',
  'FIN',
  'がく',
  'かく',
]

test('CASEI and ACCENTI compare as they do for files', async () => {
  const names = async (filter: string) => {
    const { features } = await read('words', `filter=${encodeURIComponent(filter)}`)
    return features.map(({ properties }) => properties.name)
  }
  for (const word of WORDS) {
    const literal = `'${word}'`
    const same = (change: (text: string) => string) => WORDS.filter((one) => change(one) === change(word))
    expect(await names(`CASEI(name) = CASEI(${literal})`)).toEqual(same(folded))
    expect(await names(`ACCENTI(name) = ACCENTI(${literal})`)).toEqual(same(withoutAccents))
    expect(await names(`CASEI(ACCENTI(name)) = CASEI(ACCENTI(${literal}))`)).toEqual(
      same((one) => folded(withoutAccents(one))),
    )
    expect(await names(`name BETWEEN ${literal} AND ${literal}`)).toEqual([word])
    expect(await names(`name > ${literal}`)).toEqual(
      WORDS.filter((one) => Buffer.compare(Buffer.from(one), Buffer.from(word)) > 0),
    )
  }
})

test("every predicate of the standard's tables finds the number of OGC's features that it states", async () => {
  const tests = abstractTests()
  const counted: typeof tests = []
  const count = async (first: number) => {
    for (let i = first; i < tests.length; i += connection.pool) {
      const { layer, predicate } = tests[i]!
      const { features } = await read(`cql2_${layer}`, `limit=10000&filter=${encodeURIComponent(predicate)}`)
      counted[i] = { ...tests[i]!, expected: features.length }
    }
  }
  await Promise.all(Array.from({ length: connection.pool }, (_, first) => count(first)))
  expect(counted).toEqual(tests)
})

test('every feature of a table with a key is found by its id, and a table without one has no ids', async () => {
  for (const name of ['pairs', 'Straßen "Ä" ?', 'seen', 'parted', 'padded']) {
    const { features } = await read(name, 'limit=3')
    for (const { id, properties } of features) {
      const one = await collect(parseItemQuery(String(id), '', indexOf(name)) as TableQuery)
      expect(one.features.map((feature) => feature.properties)).toEqual([properties])
    }
  }
  expect((await read('keyless', 'limit=1')).features[0]).not.toHaveProperty('id')
  for (const id of ['', 'x', '1', "1' OR '1'='1"])
    expect((await collect(parseItemQuery(id, '', indexOf('pairs')) as TableQuery)).features).toEqual([])
})

test('a tile has attributes with their types, and the id of a feature if it is a whole number', async () => {
  const { layers } = await tile('kinds', HERE)
  const feature = layers.layer?.feature(0)
  expect([feature?.id, feature?.properties]).toMatchObject([
    1,
    {
      id: 1,
      name: 'Straße',
      small: 7,
      real_one: 0.1,
      yes: true,
      day: '2024-02-29',
      instant: '2024-02-29T10:00:00Z',
      data: '{"a": [1]}',
      feeling: 'wild',
    },
  ])
})

test('a tile of too many features is thinned to its limit, and says how many are left out', async () => {
  const { bytes, leftOut, layers } = await tile('dense', [2, 2, 1])
  expect(bytes?.length).toBeLessThanOrEqual(500_000)
  expect((layers.layer?.length ?? 0) + leftOut).toBe(30_000)
  expect(layers.layer?.length).toBeGreaterThan(3_000)
})

test('policies of the database see the token of each request', async () => {
  expect(tableAt('guarded').isPersonal).toBe(true)
  const seen = async (token: string) => (await read('guarded', '', token)).features.map(({ id }) => id)
  expect(await Promise.all([seen('one'), seen('two'), seen('three')])).toEqual([[1], [2], []])
  expect((await tile('guarded', HERE, 'one')).layers.layer?.length).toBe(1)
  expect((await tile('guarded', HERE, 'three')).bytes).toBeNull()
})

test('a view is personal if a policy or a function below it sees the token', async () => {
  expect(['through', 'through_two', 'by_function', 'seen'].map((name) => tableAt(name).isPersonal)).toEqual([
    true,
    true,
    true,
    false,
  ])
  const seen = async (token: string) => (await read('by_function', '', token)).features.length
  expect(await Promise.all([seen('one'), seen('two')])).toEqual([4, 0])
})

test('a function makes tiles from its parameters', async () => {
  const { layers } = await tile('spots', HERE, '', JSON.stringify({ name: "x'; --" }))
  expect(layers.spots?.feature(0).properties).toEqual({ name: "x'; --" })
  // The keys that it reads are those of its text.
  expect(found.get('public-spots')?.relation).toMatchObject({ query: 'json', keys: ['name'] })
})

test('a function that fails is no failure of the gateway', async () => {
  await expect(tile('fails', HERE)).rejects.toMatchObject({
    failure: 'failed',
    said: { code: 'database_failed', params: { words: expect.stringContaining('out of order') } },
  })
})

test('the margin of an estimated extent does not lie beyond the world', () => {
  expect(found.get('public-far')?.bounds).toEqual([-180, -90, 180, 90])
})

test('a statement that takes too long is ended, and does not hold up another table', async () => {
  const slow = read('slow', '')
  expect((await read('kinds', 'limit=1')).features).toHaveLength(1)
  await expect(slow).rejects.toMatchObject({ said: { code: 'database_late' } })
})

test('a statement is cancelled when its client has gone', async () => {
  const gone = new AbortController()
  const query = {
    ...(parseItemsQuery('', '', indexOf('slow')) as TableQuery),
    table: { ...tableAt('slow'), statementTimeoutSeconds: 60 },
  }
  const chunks = databases.run(query, 'layer', gone.signal)
  const first = chunks.next()
  const running = () =>
    server.owner`SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'`.then(([row]) => row?.n)
  await expect.poll(running).toBe(1)
  gone.abort()
  await expect(first).rejects.toThrow()
  await expect.poll(running).toBe(0)
})

/** Returns the beginnings of the statements that wait. */
const waiting = () =>
  server.owner`SELECT left(query, 1000) AS query FROM pg_stat_activity WHERE application_name = 'gateway postgis' AND wait_event IN ('relation', 'PgSleep') ORDER BY 1`.then(
    (rows) => rows.map(({ query }) => String(query)),
  )

test('a statement that goes on names its table in the part that the database shows', async () => {
  const whole = parseItemsQuery('limit=1000', '', indexOf('kinds')) as TableQuery
  const works: Promise<unknown>[] = []
  await server.owner.begin(async (tx) => {
    await tx`LOCK TABLE kinds`
    const csv = collect({ ...whole, format: 'csv' }, 'csv').catch(() => {})
    works.push(read('kinds', 'limit=1', 'page'), collect(whole, 'all'), csv, tile('kinds', HERE, 'tile'))
    await expect.poll(async () => (await waiting()).length).toBe(4)
    for (const query of await waiting()) expect(query).toMatch(/^\/\* "public"."kinds" \*\/ (SELECT|DECLARE|WITH) /)
  })
  await Promise.all(works)
  const gone = new AbortController()
  const chunks = databases.run(
    { ...(parseItemsQuery('limit=1000', '', indexOf('pausing')) as TableQuery) },
    'layer',
    gone.signal,
  )
  const next = chunks.next()
  await expect.poll(waiting).toEqual([expect.stringMatching(/^\/\* "public"."pausing" \*\/ FETCH /)])
  gone.abort()
  await next.catch(() => {})
  await expect.poll(waiting).toEqual([])
})

test('rows that were asked for in advance are not read on if the response is full', async () => {
  const query = parseItemsQuery('limit=1000', '', indexOf('pausing')) as TableQuery
  const patient = { ...tableAt('pausing'), statementTimeoutSeconds: 3_600 }
  const chunks = databases.run({ ...query, maxBytes: 3_000, table: patient }, 'layer')
  const states: string[] = []
  for await (const { state } of chunks) states.push(state)
  expect(states.at(-1)).toBe('more')
  await expect.poll(waiting).toEqual([])
})

test('clients that go at any moment leave every connection to others', async () => {
  const query = parseItemsQuery('', '', indexOf('kinds')) as TableQuery
  const leave = async (turns: number) => {
    const gone = new AbortController()
    const asked = {
      relation: tableAt('kinds'),
      wish: { z: 8, x: 135, y: 86, layer: 'layer', fields: null },
      query: '{}',
    }
    const leaving = [
      databases.run({ ...query, table: tableAt('kinds') }, 'layer', gone.signal).next(),
      databases.tile(asked, { caller: '', token: '' }, gone.signal),
    ]
    for (const one of leaving) one.catch(() => {})
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    gone.abort()
    await Promise.allSettled(leaving)
  }
  for (let round = 0; round < 200; round++) await leave(round % 50)
  const answers = Array.from({ length: 8 }, () => read('kinds', 'limit=1'))
  for (const { features } of await Promise.all(answers)) expect(features).toHaveLength(1)
})

test('a table that has changed says so, and is served again when it is as before', async () => {
  await server.owner`ALTER TABLE mercator RENAME COLUMN geom TO other`
  await expect(read('mercator', '')).rejects.toMatchObject({ failure: 'changed' })
  await expect(tile('mercator', HERE)).rejects.toMatchObject({ failure: 'changed' })
  await server.owner`ALTER TABLE mercator RENAME COLUMN other TO geom`
  expect((await read('mercator', '')).features).toHaveLength(1)
})

test.each([
  [
    'geom TYPE geometry(LineString, 4326) USING ST_MakeLine(geom, geom)',
    'geom TYPE geometry(Point, 4326) USING ST_StartPoint(geom)',
  ],
  [
    'geom TYPE geometry(Point, 3857) USING ST_Transform(geom, 3857)',
    'geom TYPE geometry(Point, 4326) USING ST_Transform(geom, 4326)',
  ],
  ['geom TYPE text USING ST_AsEWKT(geom)', 'geom TYPE geometry(Point, 4326) USING ST_GeomFromEWKT(geom)'],
  ['geom TYPE geography(Point, 4326)', 'geom TYPE geometry(Point, 4326) USING geom::geometry'],
  ['name TYPE int USING name::int', 'name TYPE text'],
  ['name TYPE jsonb USING to_jsonb(name)', "name TYPE text USING name #>> '{}'"],
  ['n TYPE text', 'n TYPE int USING n::int'],
  ["n TYPE date USING DATE '2024-01-01' + n", "n TYPE int USING n - DATE '2024-01-01'"],
  ['yes TYPE int USING yes::int', 'yes TYPE boolean USING yes = 1'],
  ["id TYPE text USING 'a' || id", 'id TYPE int USING substr(id, 2)::int'],
  ["n TYPE text USING 'a' || n", 'n TYPE int USING substr(n, 2)::int'],
  ["j TYPE text USING 'a' || j", 'j TYPE json USING substr(j, 2)::json'],
  ...['f', 'r', 'e'].flatMap((name) => {
    const back = { f: 'float8', r: 'real', e: 'numeric' }[name]
    const others = ['float8', 'real', 'numeric', 'int', 'bigint'].filter((one) => one !== back)
    const made = others.map((one) => [`${name} TYPE ${one}`, `${name} TYPE ${back}`])
    return [
      ...made,
      [`${name} TYPE text USING 'a' || ${name}`, `${name} TYPE ${back} USING substr(${name}, 2)::${back}`],
    ]
  }),
])('after ALTER %s, each answer is right or says that the table has changed', async (change, back) => {
  const parameters = [
    '',
    'limit=1000',
    'bbox=9,49,11,51',
    'sortby=-name',
    'sortby=n',
    'filter=n=1',
    "filter=CASEI(name)='1'",
    "filter=name>'0'",
    'filter=yes=true',
    'crs=http://www.opengis.net/def/crs/EPSG/0/3857',
  ]
  const answers = async () => {
    const found: unknown[] = []
    const keep = (answer: Promise<unknown>) =>
      answer.then(
        (one) => found.push(one),
        (error) => found.push(error.failure ?? String(error)),
      )
    for (const one of parameters) await keep(read('altered', one).then(({ features }) => features.length))
    // The edge answers both alike for a tile, whose request has no values.
    const made = tile('altered', HERE).then(({ layers }) => layers.layer?.length ?? 0)
    await keep(made.catch((error) => (error instanceof QueryError ? 'changed' : Promise.reject(error))))
    await keep(
      collect(parseItemQuery('1', '', indexOf('altered')) as TableQuery).then(({ features }) => features.length),
    )
    return found
  }
  const all = Array(parameters.length + 2).fill(1)
  expect(await answers()).toEqual(all)
  await server.owner.unsafe(`ALTER TABLE altered ALTER ${change}`)
  try {
    for (const [i, answer] of (await answers()).entries())
      expect([i, [0, 1, 'changed'].includes(answer as number) ? 'known' : answer]).toEqual([i, 'known'])
  } finally {
    await server.owner.unsafe(`ALTER TABLE altered ALTER ${back}`)
  }
  expect(await answers()).toEqual(all)
})

test('while a table is altered under load, each answer is right or says that it has changed', async () => {
  const answers: string[] = []
  let isOver = false
  const load = async () => {
    while (!isOver) {
      const made = tile('utm', HERE).then(({ layers }) => JSON.stringify(layers.layer?.feature(0).properties))
      answers.push(await made.catch((error) => error.failure ?? String(error)))
    }
  }
  const readers = Promise.all([load(), load(), load()])
  const seen = (what: RegExp) => expect.poll(() => answers.slice(-4).some((one) => what.test(one))).toBe(true)
  for (let round = 0; round < 3; round++) {
    await server.owner`ALTER TABLE utm RENAME COLUMN geom TO other`
    await seen(/^changed$/)
    await server.owner`ALTER TABLE utm RENAME COLUMN other TO geom`
    await seen(/id/)
  }
  isOver = true
  await readers
  expect(new Set(answers)).toEqual(new Set(['{"id":1}', 'changed']))
})

test('a table that is listened to is heard of without a query', async () => {
  await databases.listen(tableAt('utm'))
  const notify = async () => {
    await server.owner`SELECT pg_notify('gateway_utm', '1,2,3,4')`
    return heard
  }
  await expect.poll(notify).toContainEqual(['db', 'utm', [1, 2, 3, 4]])
})

test('a notification of a table arrives with its box', async () => {
  await read('kinds', 'limit=1')
  const notify = async (payload: string) => {
    await server.owner`SELECT pg_notify('gateway_kinds', ${payload})`
    return heard
  }
  await expect.poll(() => notify('9,49,11,51')).toContainEqual(['db', 'kinds', [9, 49, 11, 51]])
  await expect.poll(() => notify('anything')).toContainEqual(['db', 'kinds', null])
})

test('hostile values reach the database only as parameters', async () => {
  const pieces = [
    "'",
    '"',
    ';',
    '--',
    '/*',
    '\\',
    '$1',
    '?',
    '${',
    'DROP TABLE kinds',
    'OR 1=1',
    '\u2019',
    '%',
    '_',
    'é',
  ]
  const mark = 'injected9'
  const before = server.log().length
  for (let i = 0; i < 60; i++) {
    const value = `${mark}${pieces[i % pieces.length]}${pieces[(i * 7 + 3) % pieces.length]}${i}`
    const encoded = encodeURIComponent(value)
    const text = encodeURIComponent(value.replaceAll("'", "''"))
    // No value is a fault of the database: it is refused, or finds nothing.
    for (const parameters of [
      `name=${encoded}`,
      `filter=CASEI(name)=CASEI('${text}')`,
      `filter=name LIKE '${text}%25' OR feeling='${text}'`,
      `filter=tags='${text}'`,
      `filter=name BETWEEN '${text}' AND 'z'`,
    ])
      await read('kinds', parameters).catch((error) => expect(error).toBeInstanceOf(QueryError))
    await collect(parseItemQuery(value, '', indexOf('pairs')) as TableQuery).catch(() => {})
    await tile('spots', HERE, value, JSON.stringify({ name: value }))
  }
  const statements = server
    .log()
    .slice(before)
    .split('\n')
    .filter((line) => /LOG: {2}(statement|execute)/.test(line))
  expect(statements.length).toBeGreaterThan(200)
  expect(statements.filter((line) => line.includes(mark))).toEqual([])
  expect((await read('kinds', '')).features).toHaveLength(4)
})

test('the database serves again after a restart, without one of the gateway', async () => {
  await read('kinds', '')
  const log = server.log().length
  expect(log).toBeGreaterThan(0)
  await server.restart(async () => {
    await expect(read('kinds', '')).rejects.toMatchObject({ failure: 'away' })
    await expect(tile('kinds', HERE)).rejects.toMatchObject({ failure: 'away' })
  })
  await expect
    .poll(() =>
      read('kinds', '').then(
        ({ features }) => features.length,
        () => 0,
      ),
    )
    .toBe(4)
  expect((await tile('kinds', HERE)).layers.layer?.length).toBe(1)
})
