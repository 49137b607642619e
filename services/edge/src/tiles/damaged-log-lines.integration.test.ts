import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { createLog } from '@gateway/core/logging/log.js'
import { freePort } from '@gateway/core/processes/readiness.js'
import { storedBasemap, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { writeGeopackage } from '@gateway/tilesets/geopackage/writer.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import {
  MERCATOR_LEVELS,
  makeBundles,
  makeConf,
  makeRoot,
  makeZip,
  writeFiles,
} from '@gateway/tilesets/testing/esri-caches.js'
import { makeTiledTiff } from '@gateway/tilesets/testing/tiled-tiffs.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EMPTY_CATALOG, nextCatalog } from '../sync/catalog.js'
import { type ObjectServer, startObjectServer } from '../testing/object-server.js'
import { type RunningEdge, runEdge } from '../testing/running-edge.js'

const REQUESTS = 400
/** While a fault lasts it may log a line every 10 s, and a request that meets it takes milliseconds. */
const MOST_LINES = REQUESTS / 10
/** Interval at which a lasting fault is logged again. */
const REPEAT_MS = 10_000
const OTHERS = ['esri_compact', 'tpkx', 'geopackage', 'cog']
/** A bundle of Esri: its head, and its index. */
const BUNDLE_HEAD_BYTES = 64
const INDEX_BYTES = 128 * 128 * 8
const TILES = Array.from({ length: 256 }, (_, i) => ({ z: 4, x: i % 16, y: i >> 4, data: randomBytes(3_000) }))
const ABOUT = { format: 'png', bounds: [-180, -85, 180, 85] as [number, number, number, number], metadata: {} } as const

let home: string
let objects: ObjectServer
let running: RunningEdge
const lines: string[] = []

const at = (...names: string[]) => path.join(home, ...names)

/** Writes the archives of other makers, whose indexes are noise; a GeoPackage keeps its first page, and a COG its head. */
async function writeOthers(): Promise<void> {
  const bundles = [...makeBundles(TILES.map(({ z, x, y, data }) => ({ level: z, column: x, row: y, data })))]
  for (const [, bundle] of bundles) randomBytes(INDEX_BYTES).copy(bundle, BUNDLE_HEAD_BYTES)
  const inCache = (prefix: string) => bundles.map(([name, data]) => [prefix + name, data] as const)
  writeFiles(at('compact'), [['conf.xml', makeConf({ levels: MERCATOR_LEVELS })], ...inCache('_alllayers/')])
  fs.writeFileSync(
    at('world.tpkx'),
    makeZip([['root.json', makeRoot({ levels: MERCATOR_LEVELS })], ...inCache('tile/')]),
  )
  const each = async function* () {
    yield* TILES
  }
  await writeGeopackage(at('world.gpkg'), each(), { ...ABOUT, encoding: 'identity', tileSize: 256 })
  damage(at('world.gpkg'), 4_096)
  const offsets = TILES.map((_, i) => 1_000_000_000 + i)
  fs.writeFileSync(at('world.tif'), makeTiledTiff(TILES, { compression: 'webp', fields: { 324: [4, offsets] } }))
}

/** Replaces everything after the first kilobytes, which opening reads, by noise. */
function damage(file: string, from: number): void {
  const bytes = fs.readFileSync(file)
  randomBytes(bytes.length - from).copy(bytes, from)
  fs.writeFileSync(file, bytes)
}

beforeAll(async () => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'damaged-lines-')))
  for (const folder of ['remote', 'scratch', 'packed', 'data']) fs.mkdirSync(at(folder))
  const identity = { ...ABOUT, encoding: 'identity' } as const
  await writePmtiles(at('world.pmtiles'), TILES, identity)
  // The directory has 256 tiles and is compressed: everything after the header is noise.
  damage(at('world.pmtiles'), 127)
  fs.copyFileSync(at('world.pmtiles'), at('remote/world.pmtiles'))
  await writeMbtiles(at('world.mbtiles'), TILES, { ...ABOUT, name: 'world' })
  damage(at('world.mbtiles'), 4_096)
  for (const { z, x, y } of TILES) {
    const file = at('packed', String(z), String(x), `${y}.pbf`)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, Buffer.concat([gzipSync('layers').subarray(0, 12), randomBytes(100)]))
  }
  await writeOthers()
  objects = await startObjectServer(at('remote'), at('scratch'))
  const of = (code: string, root: string, file: string, more: object) =>
    storedBasemap(code, [storedVersion('v1', { path: file, maxZoom: 4, ...more })], {
      sourcePath: root,
      defaultVersion: 'v1',
    })
  const vectors = { format: 'pbf', extension: 'pbf' }
  const rows = [
    of('folder', home, at('packed'), vectors),
    of('mbtiles', home, at('world.mbtiles'), { storage: 'mbtiles' }),
    of('pmtiles', home, at('world.pmtiles'), { storage: 'pmtiles' }),
    of('esri_compact', home, at('compact'), { storage: 'esri_compact' }),
    of('tpkx', home, at('world.tpkx'), { storage: 'tpkx' }),
    of('geopackage', home, at('world.gpkg/tiles'), { storage: 'geopackage' }),
    of('cog', home, at('world.tif'), { storage: 'cog', format: 'webp', extension: 'webp' }),
    of('remote', objects.url, `${objects.url}/world.pmtiles`, { storage: 'pmtiles' }),
  ]
  const log = createLog('edge', 'info')
  const keep = (detail: object, what: string) => void lines.push(`${what} ${JSON.stringify(detail)}`)
  for (const level of ['info', 'warn', 'error', 'fatal'] as const) log[level] = keep as (typeof log)['warn']
  running = await runEdge({
    port: await freePort(),
    catalog: nextCatalog(EMPTY_CATALOG, { codes: null, rows }, { codes: null, rows: [] }),
    dataDir: at('data'),
    controlPlane: 'http://[::1]:1',
    tileMemoryBytes: 1_024,
    log,
    env: { CALLBACK_ALLOW: '127.0.0.1' },
  })
})
afterAll(async () => {
  await running.server.drain(1)
  running.edge.tiles.closeAll()
  await objects.close()
  fs.rmSync(home, { recursive: true, force: true })
})

const EXTENSIONS: Readonly<Record<string, string>> = { folder: 'pbf', cog: 'webp' }

test.each([...['folder', 'mbtiles', 'pmtiles', 'remote'], ...OTHERS])(
  'a damaged %s is named once in the log, and not for each request',
  async (code) => {
    lines.length = 0
    const startMs = performance.now()
    const statuses: Record<number, number> = {}
    const headers = { authorization: `Bearer ${running.token}`, 'accept-encoding': 'identity' }
    const ask = async (i: number) => {
      const { z, x, y } = TILES[i % TILES.length] as (typeof TILES)[number]
      const address = `${running.url}/tiles/${code}/v1/${z}/${x}/${y}.${EXTENSIONS[code] ?? 'png'}`
      const answer = await fetch(address, { headers })
      await answer.arrayBuffer()
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    }
    for (let i = 0; i < REQUESTS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, j) => ask(i + j)))
    // The requests must meet the fault.
    expect([code, (statuses[500] ?? 0) + (statuses[503] ?? 0)]).toEqual([
      code,
      expect.toSatisfy((n) => n > REQUESTS / 2),
    ])
    expect(lines.length, lines.slice(0, 5).join('\n')).toBeGreaterThan(0)
    if (OTHERS.includes(code)) {
      const named = lines.filter((line) => line.includes(`"basemap":"${code}"`))
      expect(named.length, named.slice(0, 5).join('\n')).toBeGreaterThan(0)
      expect(named.length, named.slice(0, 5).join('\n')).toBeLessThanOrEqual(
        1 + Math.floor((performance.now() - startMs) / REPEAT_MS),
      )
    }
    expect(lines.length, lines.slice(0, 5).join('\n')).toBeLessThan(MOST_LINES)
  },
)
