import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type ObjectServer, startObjectServer } from '../testing/object-server.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

/** Archives with more than some ten thousand entries have leaves. */
const ZOOM = 8
const SIDE = 2 ** ZOOM
const ABOUT = { bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} }

let home: string
let files: string
let storage: ObjectServer
let running: RunningEdge

type Contents = Map<string, Buffer>

/** @param mark beginning of every tile of this archive, except a large one */
function contentsOf(mark: string, bytes: number): Contents {
  const contents: Contents = new Map([['0/0/0', randomBytes(300_000)]])
  for (let i = 0; i < SIDE * SIDE; i += 3) {
    const body = Buffer.concat([Buffer.from(mark), randomBytes(bytes)])
    contents.set(`${ZOOM}/${i % SIDE}/${Math.floor(i / SIDE)}`, body)
  }
  return contents
}

async function publish(contents: Contents): Promise<void> {
  const tiles = [...contents].map(([place, data]) => {
    const [z = 0, x = 0, y = 0] = place.split('/').map(Number)
    return { z, x, y, data }
  })
  await writePmtiles(path.join(files, 'next'), tiles, { ...ABOUT, format: 'png', encoding: 'identity' })
  fs.renameSync(path.join(files, 'next'), path.join(files, 'world.pmtiles'))
}

async function start(env: Record<string, string> = {}): Promise<RunningEdge> {
  const at = (name: string) => `${storage.url}/${name}`
  const of = (code: string, more: Parameters<typeof storedVersion>[1]) =>
    storedBasemap(code, [storedVersion('v1', more)], { sourcePath: storage.url, defaultVersion: 'v1' })
  const rows = [
    of('world', { path: at('world.pmtiles'), storage: 'pmtiles' }),
    of('lite', { path: at('lite.mbtiles'), storage: 'mbtiles' }),
    of('folder', { path: at('folder') }),
  ]
  const catalog = nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] })
  const options = { dataDir: path.join(home, 'data'), controlPlane: 'http://[::1]:1', tileMemoryBytes: 1_024 }
  return runEdge({ port: await freePort(), catalog, ...options, env })
}

async function stop({ server, edge }: RunningEdge): Promise<void> {
  await server.drain(1)
  edge.tiles.closeAll()
}

async function ask(place: string, code = 'world', headers: Record<string, string> = {}, edge = running) {
  const answer = await fetch(`${edge.url}/tiles/${code}/v1/${place}.png`, {
    headers: { authorization: `Bearer ${edge.token}`, ...headers },
  })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

const cacheFiles = () =>
  fs
    .readdirSync(path.join(home, 'data/cache/tiles'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
/** Blocks are written asynchronously to the responses. */
const written = async () => {
  const blocks = () => {
    const { misses } = running.edge.tiles.remote?.cache.counts ?? { misses: 0 }
    return [misses, running.edge.tiles.remote?.cache.counts.keptBlocks]
  }
  await expect.poll(() => blocks()[0]).toBe(blocks()[1])
}

let contents: Contents
beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'remote-tiles-')))
  files = path.join(home, 'files')
  fs.mkdirSync(path.join(files, 'folder/3/1'), { recursive: true })
  fs.writeFileSync(path.join(files, 'folder/3/1/2.png'), 'a tile of a folder')
  const lite = path.join(files, 'lite.mbtiles')
  await writeMbtiles(lite, [{ z: 2, x: 1, y: 3, data: Buffer.from('a tile of SQLite') }], {
    format: 'png',
    name: 'lite',
    ...ABOUT,
  })
  contents = contentsOf('first', 60)
  await publish(contents)
  storage = await startObjectServer(files, home)
  running = await start()
})
afterAll(async () => {
  await stop(running)
  await storage.close()
  fs.rmSync(home, { recursive: true, force: true })
})
beforeEach(() => {
  storage.trouble = 'none'
  storage.hold = Promise.resolve()
})

/** Runs another edge, with its own cache. Only `running` has the native tier. */
async function beside<T>(use: (edge: RunningEdge) => Promise<T>, env: Record<string, string> = {}): Promise<T> {
  const edge = await start({ DATA_DIR: fs.mkdtempSync(path.join(home, 'beside-')), ...env })
  try {
    return await use(edge)
  } finally {
    await stop(edge)
  }
}

const someTiles = (count: number) => [...contents.keys()].filter((_, i) => i % Math.floor(contents.size / count) === 0)

test('tiles of a remote archive have its bytes, with few requests, and another process of the host needs none', async () => {
  expect(running.edge.sender.tier).toBe('native')
  const begun = storage.requests.length
  const places = someTiles(200)
  for (const place of places) expect((await ask(place)).body.equals(contents.get(place) as Buffer)).toBe(true)
  expect((await ask('8/1/0')).status).toBe(404)
  expect(storage.requests.length - begun).toBeLessThan(places.length / 4)
  await written()
  const other = await start()
  const before = storage.requests.length
  for (const place of places) {
    expect((await ask(place, 'world', {}, other)).body.equals(contents.get(place) as Buffer)).toBe(true)
  }
  expect(storage.requests.slice(before).filter((line) => line.startsWith('GET'))).toEqual([])
  await stop(other)
})

test('an edge that starts while the storage is unreachable serves tiles from the disk', async () => {
  const places = someTiles(20)
  for (const place of places) await ask(place)
  await written()
  storage.trouble = '503'
  const other = await start()
  for (const place of places) {
    expect((await ask(place, 'world', {}, other)).body.equals(contents.get(place) as Buffer)).toBe(true)
  }
  await stop(other)
})

test('cached tiles are read without JavaScript, including large ones', async () => {
  const places = someTiles(50)
  for (let round = 0; round < 3; round++) for (const place of places) await ask(place)
  const { counters, native } = running.edge
  counters.beforeReading()
  const [cold, answers] = [counters.nativeColdTiles, native.answers]
  for (const place of places) expect((await ask(place)).body.equals(contents.get(place) as Buffer)).toBe(true)
  counters.beforeReading()
  expect([counters.nativeColdTiles - cold, native.answers - answers]).toEqual([places.length, places.length])
  expect(counters.remoteTiles).toBeGreaterThanOrEqual(places.length)
})

test('a remote tile has the headers of a local one: 304, HEAD, the same tag from every host', async () => {
  const place = someTiles(5).at(-1) as string
  const { headers, body } = await ask(place)
  const etag = headers.get('etag') as string
  expect(headers.get('last-modified')).toBe(fs.statSync(path.join(files, 'world.pmtiles')).mtime.toUTCString())
  expect((await ask(place, 'world', { 'if-none-match': etag })).status).toBe(304)
  const head = await fetch(`${running.url}/tiles/world/v1/${place}.png`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${running.token}` },
  })
  expect([head.status, head.headers.get('etag'), head.headers.get('content-length')]).toEqual([
    200,
    etag,
    String(body.length),
  ])
  await beside(async (edge) => expect((await ask(place, 'world', {}, edge)).headers.get('etag')).toBe(etag))
})

test('a hundred callers for tiles of one block make one request', async () => {
  await beside(async (edge) => {
    // This loads the directories.
    await ask('8/0/0', 'world', {}, edge)
    const place = someTiles(2).at(-1) as string
    let release = () => {}
    storage.hold = new Promise((resolve) => {
      release = resolve
    })
    const begun = storage.requests.length
    const asked = Array.from({ length: 100 }, () => ask(place, 'world', {}, edge))
    await expect.poll(() => storage.requests.length).toBeGreaterThan(begun)
    release()
    for (const { body } of await Promise.all(asked)) expect(body.equals(contents.get(place) as Buffer)).toBe(true)
    expect(new Set(storage.requests.slice(begun)).size).toBe(storage.requests.length - begun)
  })
})

test('an archive that is replaced while it is read yields the old tile or the new one, and then only the new one', async () => {
  const first = contents
  const second = contentsOf('second', 90)
  await beside(async (edge) => {
    const places = someTiles(80)
    for (const [i, place] of places.entries()) {
      if (i === 40) await publish(second)
      const { status, body } = await ask(place, 'world', {}, edge)
      const isOld = body.equals(first.get(place) as Buffer)
      const isNew = body.equals(second.get(place) as Buffer)
      expect([status, isOld || (i >= 40 && isNew)]).toEqual([200, true])
    }
    // A block that was not cached has shown the change.
    for (const place of places) {
      expect((await ask(place, 'world', {}, edge)).body.equals(second.get(place) as Buffer)).toBe(true)
    }
  })
  contents = second
})

test('a remote folder: tiles are found, cached, absent, and served while the storage is unreachable', async () => {
  const found = await ask('3/1/2', 'folder')
  expect([found.status, found.body.toString()]).toEqual([200, 'a tile of a folder'])
  expect((await ask('3/1/3', 'folder')).status).toBe(404)
  await expect.poll(() => cacheFiles().some((file) => file.endsWith('/3/1/2.png'))).toBe(true)
  const { basemaps } = running.edge.freshness.catalog
  const version = basemaps.get('folder')?.versions.get('v1')
  const atOnce = () => running.edge.tiles.tileIfCached(version as NonNullable<typeof version>, { z: 3, x: 1, y: 2 })
  await expect.poll(() => (atOnce()?.body as Buffer | undefined)?.toString()).toBe('a tile of a folder')
  const other = await start()
  storage.trouble = '403'
  const kept = await ask('3/1/2', 'folder', {}, other)
  expect([kept.body.toString(), kept.headers.get('etag')]).toEqual(['a tile of a folder', found.headers.get('etag')])
  expect((await ask('3/1/4', 'folder', {}, other)).status).toBe(503)
  await stop(other)
})

test('an MBTiles archive is fetched completely, and again after its eviction', async () => {
  expect((await ask('2/1/3', 'lite')).body.toString()).toBe('a tile of SQLite')
  const [copy = ''] = cacheFiles().filter((file) => file.endsWith('.mbtiles'))
  fs.unlinkSync(copy)
  expect((await ask('2/0/0', 'lite')).status).toBe(404)
  expect(fs.existsSync(copy)).toBe(true)
  expect((await ask('2/1/3', 'lite')).body.toString()).toBe('a tile of SQLite')
})

test('every edge identifies the content of an MBTiles archive by the object, not by its own copy', () =>
  beside(async (other) => {
    const { headers } = await fetch(`${storage.url}/lite.mbtiles`, { method: 'HEAD' })
    for (const address of ['/tiles/lite/v1/2/1/3.png', '/archives/lite/v1.mbtiles']) {
      const validators = async ({ url, token }: RunningEdge) => {
        const answer = await fetch(`${url}${address}`, {
          method: 'HEAD',
          headers: { authorization: `Bearer ${token}` },
        })
        return [answer.status, answer.headers.get('etag'), answer.headers.get('last-modified')]
      }
      const here = await validators(running)
      expect(here).toEqual([200, expect.stringMatching(/^"[\w-]+"$/), headers.get('last-modified')])
      expect(await validators(other)).toEqual(here)
    }
  }))

test('a remote archive is downloaded completely and in ranges', async () => {
  const whole = fs.readFileSync(path.join(files, 'world.pmtiles'))
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${running.url}/archives/world/v1.pmtiles`, {
      headers: { authorization: `Bearer ${running.token}`, ...headers },
    })
  const all = await get()
  expect([all.status, all.headers.get('content-length')]).toEqual([200, String(whole.length)])
  expect(Buffer.from(await all.arrayBuffer()).equals(whole)).toBe(true)
  const part = await get({ range: 'bytes=100000-1700000', 'if-range': all.headers.get('etag') as string })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100000-1700000/${whole.length}`])
  expect(Buffer.from(await part.arrayBuffer()).equals(whole.subarray(100_000, 1_700_001))).toBe(true)
  expect((await get({ range: `bytes=${whole.length}-` })).status).toBe(416)
  expect((await get({ 'if-none-match': all.headers.get('etag') as string })).status).toBe(304)
})

test('tiles are served without a cache on disk, and with one that cannot be written', async () => {
  // A disk that is read-only or missing causes an error in the same calls.
  fs.writeFileSync(path.join(home, 'no-directory'), '')
  const cases = [
    [{ TILE_CACHE_BYTES: '0' }, 0],
    [{ TILE_CACHE_DIR: path.join(home, 'no-directory/tiles') }, 1],
  ] as const
  for (const [env, failing] of cases) {
    await beside(async (edge) => {
      for (const place of someTiles(20)) {
        expect((await ask(place, 'world', {}, edge)).body.equals(contents.get(place) as Buffer)).toBe(true)
      }
      expect(edge.edge.tiles.remote?.cache.counts.failing).toBe(failing)
    }, env)
  }
})
