import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Basemap } from '@gateway/contracts/basemap.js'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { Vector } from '@gateway/contracts/vector.js'
import { expect, test } from 'vitest'
import { makeMbtiles, makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { makeGeojson } from '../harness/fixtures/vectors.js'
import { useGateway } from '../harness/use-gateway.js'

const gateway = useGateway()

const basemap = async (code: string): Promise<Basemap | undefined> =>
  (await gateway().admin.expect<{ items: Basemap[] }>('/basemaps')).items.find((item) => item.code === code)
const vectors = async (): Promise<Vector[]> => (await gateway().admin.expect<{ items: Vector[] }>('/vectors')).items

test('found objects are counted, and a second scan finds nothing new', async () => {
  const root = join(gateway().home, 'counted')
  await makeTileFolder(join(root, 'a/v1'), { maxZoom: 0 })
  await makeMbtiles(join(root, 'b.mbtiles'), { maxZoom: 0 })
  expect(await gateway().admin.scanSource('counted', 'basemap', root)).toMatchObject({
    added: 2,
    updated: 0,
    missing: 0,
  })
  expect(await gateway().admin.rescan('counted')).toMatchObject({ added: 0, updated: 0, missing: 0 })
  expect((await basemap('b'))?.versions).toMatchObject([{ version: 'default', storage: 'mbtiles' }])
  const { items } = await gateway().admin.expect<{ items: ScanSource[] }>('/scan-sources')
  expect(items.find((source) => source.code === 'counted')).toMatchObject({
    kind: 'basemap',
    path: root,
    enabled: true,
    last_scan: { status: 'succeeded', finished_at: expect.stringMatching(/Z$/) },
  })
})

test('a missing object becomes unavailable, is not deleted, and becomes available again by itself', async () => {
  const root = join(gateway().home, 'returning')
  await makeTileFolder(join(root, 'c/v1'), { maxZoom: 0 })
  await makeTileFolder(join(root, 'c/v2'), { maxZoom: 0 })
  await gateway().admin.scanSource('returning', 'basemap', root)
  expect((await basemap('c'))?.default_version).toBe('v2')
  await rename(join(root, 'c/v2'), join(gateway().home, 'away'))
  expect(await gateway().admin.rescan('returning')).toMatchObject({ missing: 1 })
  const gone = await basemap('c')
  expect(gone?.versions).toMatchObject([
    { version: 'v1', available: true },
    { version: 'v2', available: false },
  ])
  expect(gone?.default_version).toBe('v1')
  expect(await gateway().admin.rescan('returning')).toMatchObject({ added: 0, updated: 0, missing: 1 })
  await rename(join(gateway().home, 'away'), join(root, 'c/v2'))
  expect(await gateway().admin.rescan('returning')).toMatchObject({ added: 0, updated: 1, missing: 0 })
  expect(await basemap('c')).toMatchObject({
    default_version: 'v2',
    versions: [{ available: true }, { available: true }],
  })
})

test('a default set by an operator stays, and every edge route follows it', async () => {
  const root = join(gateway().home, 'switched')
  await makeTileFolder(join(root, 'd/v9'), { maxZoom: 0 })
  await makeTileFolder(join(root, 'd/v10'), { maxZoom: 0, shade: 7 })
  await gateway().admin.scanSource('switched', 'basemap', root)
  expect((await basemap('d'))?.default_version).toBe('v10')
  const answer = await gateway().admin.call('/basemaps/d/default-version', { body: { version: 'v9' } })
  expect(answer.status).toBe(200)
  await makeTileFolder(join(root, 'd/v11'), { maxZoom: 0, shade: 8 })
  await gateway().admin.rescan('switched')
  expect((await basemap('d'))?.default_version).toBe('v9')
  const { token } = await gateway().issueToken({ basemap_codes: ['d'] })
  const tile = async (path: string) =>
    Buffer.from(await (await fetch(`${gateway().url}/tiles/d/${path}0/0/0.png?token=${token}`)).arrayBuffer())
  const v9 = await tile('v9/')
  expect((await tile('')).equals(v9)).toBe(true)
  expect((await tile('current/')).equals(v9)).toBe(true)
})

test('a default version that does not exist, or the alias itself, is refused', async () => {
  const post = (code: string, body: unknown) => gateway().admin.call(`/basemaps/${code}/default-version`, { body })
  expect((await post('d', { version: 'v99' })).status).toBe(404)
  expect((await post('nowhere', { version: 'v1' })).status).toBe(404)
  expect((await post('d', { version: 'current' })).status).toBe(400)
  expect((await post('d', {})).status).toBe(400)
})

test('vector codes are reduced to ASCII, and duplicates keep their suffix over later scans', async () => {
  const root = join(gateway().home, 'vectors')
  await makeGeojson(join(root, 'a/b c.geojson'))
  await makeGeojson(join(root, 'a/b_c.geojson'))
  await makeGeojson(join(root, '世界.geojson'))
  await writeFile(join(root, 'not-geo.json'), '{"hello": "world"}')
  await gateway().admin.scanSource('shapes', 'vector', root)
  const first = await vectors()
  const codes = first.filter((vector) => vector.source_code === 'shapes').map((vector) => vector.code)
  expect(codes).toHaveLength(3)
  expect(new Set(codes).size).toBe(3)
  for (const code of codes) expect(code).toMatch(/^[A-Za-z0-9_-]+$/)
  await rm(join(root, 'a/b c.geojson'))
  const rescan = await gateway().admin.call<{ items?: unknown[] }>('/vectors/rescan', { method: 'POST' })
  expect(rescan.status).toBe(200)
  const second = await vectors()
  for (const vector of first) {
    expect(second.find((other) => other.relative_path === vector.relative_path)?.code).toBe(vector.code)
  }
  expect(second.find((vector) => vector.relative_path === 'a/b c.geojson')?.available).toBe(false)
})

test('a scan of a missing place fails, says so, and changes nothing', async () => {
  const root = join(gateway().home, 'unmounted')
  await makeTileFolder(join(root, 'e/v1'), { maxZoom: 0 })
  await gateway().admin.scanSource('unmounted', 'basemap', root)
  await rename(root, `${root}-away`)
  const answer = await gateway().admin.call<{ status: string; message: string }>('/scan-sources/unmounted/run', {
    method: 'POST',
  })
  expect(answer.body).toMatchObject({ status: 'failed', message: expect.stringMatching(/./) })
  expect((await basemap('e'))?.versions).toMatchObject([{ available: true }])
})

test('the health check finds missing files', async () => {
  const { body } = await gateway().admin.call<{ versions_missing: number }>('/health/check', { method: 'POST' })
  expect(body.versions_missing).toBeGreaterThanOrEqual(1)
  expect((await basemap('e'))?.versions).toMatchObject([{ available: false }])
})

test('an unknown source returns 404, and a second scan at the same time 409', async () => {
  expect((await gateway().admin.call('/scan-sources/none/run', { method: 'POST' })).status).toBe(404)
  const root = join(gateway().home, 'large')
  for (let i = 0; i < 400; i++) await mkdir(join(root, `m/v${i}/0/0`), { recursive: true })
  for (let i = 0; i < 400; i++) await writeFile(join(root, `m/v${i}/0/0/0.png`), 'x')
  await gateway().admin.expect('/scan-sources', { body: { code: 'large', kind: 'basemap', path: root } })
  const runs = await Promise.all(
    Array.from({ length: 6 }, () => gateway().admin.call('/scan-sources/large/run', { method: 'POST' })),
  )
  const statuses = runs.map((run) => run.status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1)
  expect(statuses).toContain(409)
  expect(runs.find((run) => run.status === 409)?.body).toEqual({ error: expect.any(String) })
})

test.each([
  ['a relative path', { code: 'x', kind: 'basemap', path: 'data' }],
  ['an unknown kind', { code: 'x', kind: 'raster', path: '/data' }],
  ['a code with a slash', { code: 'a/b', kind: 'basemap', path: '/data' }],
  ['no path', { code: 'x', kind: 'basemap' }],
])('a scan source with %s is refused', async (_, body) => {
  expect((await gateway().admin.call('/scan-sources', { body })).status).toBe(400)
})
