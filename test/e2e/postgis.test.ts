import { gunzipSync } from 'node:zlib'
import type { SourceStorage } from '@gateway/contracts/scan-source.js'
import { type PostgisServer, startPostgis } from '@gateway/vectors/postgis/testing/server.js'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'

let server: PostgisServer
beforeAll(async () => {
  server = await startPostgis()
  await server.owner.unsafe(`
    CREATE TABLE roads (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO roads SELECT n, 'Straße ' || n, ST_SetSRID(ST_MakePoint(10 + n / 1000.0, 50), 4326) FROM generate_series(1, 1000) n;
    CREATE INDEX ON roads USING gist (geom);
    CREATE TABLE towns AS SELECT 1 AS id, ST_SetSRID(ST_MakePoint(10.6, 50), 4326)::geography(Point, 4326) AS place;
    CREATE INDEX ON towns USING gist (place);
    GRANT SELECT ON roads, towns TO reader; ANALYZE`)
})
afterAll(() => server?.stop())

const gateway = useGateway({ edgeWorkers: 1 })

async function get(path: string, token: string, headers: Record<string, string> = {}) {
  const answer = await fetch(gateway().url + path, { headers: { 'x-access-token': token, ...headers } })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

const admin = (path: string, body: object) => gateway().admin.expect<object>(path, { method: 'POST', body })

const TILE = '/vectors/public-roads/tiles/8/135/86.mvt'
const OTHER_TILE = '/vectors/public-roads/tiles/7/67/43.mvt'
const layersOf = (tile: Buffer) => new VectorTile(new PbfReader(tile[0] === 0x1f ? gunzipSync(tile) : tile)).layers
const pointsIn = (tile: Buffer) => layersOf(tile)['public-roads']?.length ?? 0

test('a table is on the map with a scan, behind the same tokens as files', async () => {
  const url = server.readerUrl.replace('reader@', 'reader:secret@')
  const source = { code: 'db', kind: 'postgis', url }
  // A trial is refused during a scan, and on a busy machine the first scan still runs.
  await gateway().admin.rescan('layers')
  expect(await admin('/scan-sources/try', { kind: 'postgis', url })).toMatchObject({
    added: 2,
    problem: null,
    warnings: 0,
  })
  const saved = await admin('/scan-sources', source)
  expect(saved).toMatchObject({ kind: 'postgis', has_password: true, path: server.readerUrl })
  expect(JSON.stringify(saved)).not.toContain('secret')
  await gateway().admin.rescan('db')
  expect(await gateway().admin.expect('/scan-sources/db/storage')).toMatchObject({ state: 'answers', message: '' })
  const { token, id } = await gateway().issueToken({ vector_codes: ['public-roads'] })
  const { token: other } = await gateway().issueToken({ vector_codes: ['elsewhere'] })
  expect((await get(TILE, other)).status).toBe(403)
  const tile = await get(TILE, token)
  expect([tile.status, tile.headers.get('cache-control'), tile.headers.get('content-type')]).toEqual([
    200,
    expect.stringMatching(/^public, max-age=(60|5\d)$/),
    'application/vnd.mapbox-vector-tile',
  ])
  expect(pointsIn(tile.body)).toBeGreaterThan(500)
  const etag = tile.headers.get('etag') ?? ''
  expect((await get(TILE, token, { 'if-none-match': etag })).status).toBe(304)
  const tileJson = JSON.parse((await get('/vectors/public-roads/tilejson.json', token)).body.toString())
  expect(tileJson.vector_layers).toMatchObject([{ id: 'public-roads', fields: { id: 'Number', name: 'String' } }])
  const items = JSON.parse(
    (
      await get(
        "/ogc/collections/public-roads/items?limit=2&sortby=-id&filter=CASEI(name)=CASEI('STRASSE 7') OR id > 998",
        token,
      )
    ).body.toString(),
  )
  expect(items.features.map((one: { id: number }) => one.id)).toEqual([1000, 999])
  const next = items.links.find(({ rel }: { rel: string }) => rel === 'next').href
  const page = JSON.parse((await get(next.replace(gateway().url, ''), token)).body.toString())
  expect(page.features.map((one: { id: number }) => one.id)).toEqual([7])
  expect((await get('/ogc/collections/public-roads/items/7', token)).status).toBe(200)
  expect((await get('/ogc/collections/public-roads/queryables', token)).status).toBe(200)
  const download = await get('/vectors/public-roads/download', token)
  expect(JSON.parse(download.body.toString()).features).toHaveLength(1000)
  for (const form of ['csv', 'fgb', 'gpkg', 'zip']) {
    let answer = await get(`/vectors/public-roads.${form}`, token)
    while (answer.status === 503) answer = await get(`/vectors/public-roads.${form}`, token)
    expect([form, answer.status, answer.body.length > 10_000]).toEqual([form, 200, true])
  }

  // A token for a part of the world sees that part.
  const { token: part } = await gateway().issueToken({ vector_codes: ['public-roads'], bounds: [10, 49, 10.1, 51] })
  const inside = JSON.parse((await get('/ogc/collections/public-roads/items?limit=1000', part)).body.toString())
  expect(inside.features.length).toBeLessThanOrEqual(100)
  expect(pointsIn((await get(TILE, part)).body)).toBe(inside.features.length)

  // Several tables are in one tile, for a token that may read all of them.
  const BOTH = TILE.replace('roads', 'roads,public-towns')
  expect((await get(BOTH, token)).status).toBe(403)
  const { token: all } = await gateway().issueToken({ vector_codes: ['*'] })
  const both = await get(BOTH, all)
  expect([both.status, Object.keys(layersOf(both.body)).sort()]).toEqual([200, ['public-roads', 'public-towns']])
  expect((await get(BOTH, all, { 'if-none-match': both.headers.get('etag') ?? '' })).status).toBe(304)
  const { token: west } = await gateway().issueToken({ vector_codes: ['*'], bounds: [10, 49, 10.1, 51] })
  const cut = layersOf((await get(BOTH, west)).body)
  expect([Object.keys(cut), cut['public-roads']?.length]).toEqual([['public-roads'], inside.features.length])
  const described = JSON.parse((await get('/vectors/public-roads,public-towns/tilejson.json', all)).body.toString())
  expect(described.vector_layers.map(({ id: of }: { id: string }) => of)).toEqual(['public-roads', 'public-towns'])
  expect((await get(TILE.replace('roads', 'roads,public-roads'), all)).status).toBe(400)

  // A query that waits is listed with the reason.
  await server.owner.begin(async (tx) => {
    await tx`LOCK TABLE roads`
    void get('/ogc/collections/public-roads/items?limit=3', token)
    const queries = async () => (await gateway().admin.expect<SourceStorage>('/scan-sources/db/storage')).queries
    const one = { query: expect.stringContaining('roads'), seconds: expect.any(Number), waits_for: 'relation' }
    await expect.poll(queries).toContainEqual(one)
  })

  // A change that the database tells of is on the map at once.
  const isSeenIn = async (tile: string, atMost: number) =>
    await expect
      .poll(async () => {
        await server.owner`SELECT pg_notify('gateway_roads', '')`
        return pointsIn((await get(tile, token)).body)
      })
      .toBeLessThanOrEqual(atMost)
  await server.owner`DELETE FROM roads WHERE id > 500`
  await isSeenIn(TILE, 500)

  // Without the database, what is kept is served as old, and nothing else. A change that is seen in another tile made this one old.
  expect((await get(OTHER_TILE, token)).status).toBe(200)
  await server.owner`DELETE FROM roads WHERE id > 400`
  await isSeenIn(OTHER_TILE, 400)
  await server.restart(async () => {
    const old = await get(TILE, token)
    expect([old.status, old.headers.get('warning')?.slice(0, 3)]).toEqual([200, expect.stringMatching(/^110$/)])
    const answer = await get('/ogc/collections/public-roads/items', token)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await gateway().admin.expect('/scan-sources/db/storage')).toMatchObject({ state: 'no_answer' })
  })
  await expect.poll(async () => (await get('/ogc/collections/public-roads/items', token)).status).toBe(200)

  await admin(`/tokens/${id}/disable`, {})
  for (const path of [TILE, '/ogc/collections/public-roads/items', '/vectors/public-roads/download'])
    expect((await get(path, token)).status).toBe(401)
})
