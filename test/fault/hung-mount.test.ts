import { join } from 'node:path'
import { createToken } from '@gateway/core/access/token-format.js'
import { afterAll, expect, test } from 'vitest'
import { makeMbtiles, makePmtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import type { Gateway } from '../harness/gateway.js'
import { HungMount } from '../harness/hung-mount.js'
import { useGateway } from '../harness/use-gateway.js'

let mount: HungMount | null = null
let token = ''
let points = ''

async function prepare(gateway: Gateway): Promise<void> {
  await makeTileFolder(join(gateway.home, 'near/world/v1'), { maxZoom: 2 })
  await makeTileFolder(join(gateway.home, 'far/maps/sea/v1'), { maxZoom: 3 })
  await makePmtiles(join(gateway.home, 'far/maps/ice.pmtiles'), { maxZoom: 3 })
  await makeMbtiles(join(gateway.home, 'far/maps/lake.mbtiles'), { maxZoom: 3 })
  points = await makeGeojson(join(gateway.home, 'far/vectors/points.geojson'), 5_000)
  await makeGeojson(join(gateway.home, 'near-vectors/lines.geojson'))
  await gateway.admin.scanSource('near', 'basemap', join(gateway.home, 'near'))
  await gateway.admin.scanSource('near-vectors', 'vector', join(gateway.home, 'near-vectors'))
  mount = await HungMount.show(join(gateway.home, 'far'))
  if (mount === null) return
  await gateway.admin.scanSource('far', 'basemap', join(mount.path, 'maps'))
  await gateway.admin.scanSource('far-vectors', 'vector', join(mount.path, 'vectors'))
  token = (await gateway.issueToken({ basemap_codes: ['*'], vector_codes: ['*'] })).token
}

const gateway = useGateway({ edges: 1, edgeWorkers: 1 }, prepare)
afterAll(() => mount?.remove())

const ask = (path: string, as = token) => fetch(`${gateway().url}${path}`, { headers: { 'x-access-token': as } })
const statusOf = async (path: string, as = token) => (await ask(path, as)).status

/** Every tile of a basemap's zoom 3. */
const deepest = (code: string) =>
  Array.from({ length: 64 }, (_, i) => `/tiles/${code}/3/${Math.floor(i / 8)}/${i % 8}.png`)

test('a hung mount stalls only its own files: they return 503 in the end, and everything else works', async ({
  annotate,
}) => {
  if (mount === null) {
    // The rest is tested by disk-gate.test.ts, with reads that never return.
    await annotate('no FUSE mount can be made here (it takes /dev/fuse and the right to mount): not tested')
    return
  }
  gateway().allowErrors(/does not respond/)
  expect(await statusOf('/tiles/world/0/0/0.png')).toBe(200)
  for (const code of ['sea', 'ice', 'lake']) expect(await statusOf(`/tiles/${code}/0/0/0.png`)).toBe(200)
  const whole = await ask('/geojson/points.geojson')
  expect(await whole.text()).toBe(points)

  await mount.hang()
  let over = 0
  const downloads = Array.from({ length: 30 }, () => '/geojson/points.geojson')
  // The header read has cached the first tiles of the archive, so only its second half is used.
  const lists = [deepest('lake'), deepest('ice').slice(32), deepest('sea'), downloads]
  // One of each in turn, so that each occupies one of the threads.
  const hanging = deepest('sea').flatMap((_, i) => lists.flatMap((list) => list.slice(i, i + 1)))
  const answers = hanging.map((path) => ask(path).finally(() => over++))
  // Served from memory, from a local disk for the first time, by the store, and by the control plane.
  for (let round = 0; round < 5; round++) {
    expect(await statusOf('/tiles/world/0/0/0.png')).toBe(200)
    expect(await statusOf('/tiles/sea/0/0/0.png')).toBe(200)
    expect(await statusOf(`/tiles/world/2/${round % 4}/${round % 3}.png`)).toBe(200)
    expect(await statusOf('/tiles/world/2/9/9.png')).toBe(404)
    expect(await statusOf('/geojson/lines.geojson')).toBe(200)
    expect(await statusOf('/health')).toBe(200)
    expect(await statusOf('/ready')).toBe(200)
    expect(await statusOf('/tiles/world/0/0/0.png', createToken())).toBe(401)
    expect(await statusOf('/api/v1/catalog/basemaps')).toBe(200)
  }
  expect(over).toBe(0)
  for (const answer of await Promise.all(answers)) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)])
    expect(await answer.json()).toEqual({ error: expect.stringContaining('does not respond') })
  }
  expect(await statusOf('/tiles/world/1/1/1.png')).toBe(200)

  await mount.goOn()
  for (const path of [
    '/tiles/sea/3/7/7.png',
    '/tiles/ice/3/7/7.png',
    '/tiles/lake/3/7/7.png',
    '/geojson/points.geojson',
  ]) {
    while ((await statusOf(path)) === 503) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await statusOf(path)).toBe(200)
  }
})

test('hung threads do not extend the drain of an edge, and do not prevent its exit', async () => {
  if (mount === null) return
  const edge = gateway().edges[0]?.process
  await mount.hang()
  const unanswered = deepest('sea').map((path) => ask(`${path}?anew`).catch(() => null))
  expect(await statusOf('/tiles/world/0/0/0.png')).toBe(200)
  edge?.signal('SIGTERM')
  expect(await edge?.ended()).toEqual({ code: 0, signal: null })
  await Promise.all(unanswered)
  const { lines = [] } = edge ?? {}
  expect(lines.filter(({ raw }) => raw.includes('did not end in time'))).toEqual([])
})
