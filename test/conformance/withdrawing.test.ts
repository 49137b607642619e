import { expect, test } from 'vitest'
import { useMaps, useToken } from './maps.js'

const maps = useMaps({ edges: 2 })
const token = useToken(maps)

const TILES = ['/tiles/world/2026-2/0/0/0.png', '/tiles/world/current/0/0/0.png', '/tiles/world/0/0/0.png']
const VECTORS = [
  '/vectors/regions-countries/download',
  '/geojson/regions/countries.geojson',
  '/vectors/regions-rivers/download',
  '/shp/regions/rivers.shp',
]

/** Returns the statuses from both edges, repeated often enough to involve every cache. */
async function statuses(paths: readonly string[]): Promise<number[]> {
  const seen = new Set<string>()
  let last: number[] = []
  for (let round = 0; round < 3; round++) {
    for (const { url } of maps().gateway.edges) {
      last = []
      for (const path of paths) {
        const answer = await fetch(`${url}${path}?v=1`, { headers: { 'X-Access-Token': token() } })
        await answer.arrayBuffer()
        last.push(answer.status)
      }
      seen.add(last.join())
    }
  }
  expect([...seen]).toHaveLength(1)
  return last
}

interface Answer {
  readonly confirmed: readonly unknown[]
  readonly pending: readonly unknown[]
}

async function withdraw(path: string, withdrawn: boolean): Promise<void> {
  const answer = await maps().gateway.admin.expect<Answer>(path, { method: 'PATCH', body: { withdrawn } })
  expect([answer.confirmed.length, answer.pending.length]).toEqual([2, 0])
}

async function setEnabled(code: string, kind: string, path: string, enabled: boolean): Promise<void> {
  await maps().gateway.admin.expect('/scan-sources', { body: { code, kind, path, enabled } })
}

test('a withdrawn basemap leaves every edge before the call has returned, hot tiles included, and can be restored', async () => {
  expect(await statuses(TILES)).toEqual([200, 200, 200])
  await withdraw('/basemaps/world', true)
  expect(await statuses([...TILES, '/tiles/world/tilejson.json'])).toEqual([404, 404, 404, 404])
  await withdraw('/basemaps/world', false)
  expect(await statuses(TILES)).toEqual([200, 200, 200])
})

test('only the withdrawn version disappears, and the next one replaces it if it was the default', async () => {
  const shown = async () => {
    const answer = await maps().get(`/tiles/world/tilejson.json?token=${token()}`)
    return ((await answer.json()) as { tiles: [string] }).tiles[0]
  }
  expect(await shown()).toContain('/tiles/world/2026-10/')
  await withdraw('/basemaps/world/versions/2026-10', true)
  expect(await statuses(['/tiles/world/2026-10/0/0/0.png', ...TILES])).toEqual([404, 200, 200, 200])
  expect(await shown()).toContain('/tiles/world/2026-2/')
  await withdraw('/basemaps/world/versions/2026-10', false)
  expect(await shown()).toContain('/tiles/world/2026-10/')
})

test('a disabled source removes its maps and vectors from every edge at once, zips included, and restores them', async () => {
  const { basemapRoot, vectorRoot } = maps()
  expect(await statuses([...TILES, ...VECTORS])).toEqual([...TILES, ...VECTORS].map(() => 200))
  await setEnabled('fixture-vectors', 'vector', vectorRoot, false)
  expect(await statuses([...TILES, ...VECTORS])).toEqual([...TILES.map(() => 200), ...VECTORS.map(() => 404)])
  await setEnabled('fixture-basemaps', 'basemap', basemapRoot, false)
  expect(await statuses([...TILES, ...VECTORS])).toEqual([...TILES, ...VECTORS].map(() => 404))
  await setEnabled('fixture-basemaps', 'basemap', basemapRoot, true)
  await setEnabled('fixture-vectors', 'vector', vectorRoot, true)
  expect(await statuses([...TILES, ...VECTORS])).toEqual([...TILES, ...VECTORS].map(() => 200))
})

test('a forgotten object leaves every edge, and returns with the next scan', async () => {
  const { admin } = maps().gateway
  for (const path of ['/basemaps/world/versions/2026-10', '/basemaps/world', '/vectors/regions-rivers']) {
    const answer = await admin.expect<Answer>(path, { method: 'DELETE' })
    expect([path, answer.confirmed.length, answer.pending.length]).toEqual([path, 2, 0])
    expect((await admin.call(path, { method: 'DELETE' })).status).toBe(404)
  }
  expect(await statuses([...TILES, ...VECTORS])).toEqual([404, 404, 404, 200, 200, 404, 404])
  for (const source of ['fixture-basemaps', 'fixture-vectors']) await admin.rescan(source)
  expect(await statuses([...TILES, ...VECTORS])).toEqual([...TILES, ...VECTORS].map(() => 200))
})

test('a withdrawn vector returns 404 at each of its URLs, even if the token names only its file', async () => {
  const named = await maps().gateway.issueToken({ vector_codes: ['countries.geojson'] })
  const path = '/vectors/regions-countries/download'
  await withdraw('/vectors/regions-countries', true)
  expect(await statuses(VECTORS)).toEqual([404, 404, 200, 200])
  expect((await maps().get(path, { 'X-Access-Token': named.token })).status).toBe(404)
  await withdraw('/vectors/regions-countries', false)
  expect((await maps().get(path, { 'X-Access-Token': named.token })).status).toBe(200)
})
