/**
 * The cost of finding and reading a tile by storage, asynchronously (`tile`, 32 at a time) and synchronously (`tileIfCached`): processor time
 * of this process and of the one that reads MBTiles. All data is in the page cache.
 *
 *   node bench/micro/cold-tile.mjs [--rounds 5]
 *
 * Needs `npx tsc -b` and the addon. Prints microseconds per tile, medians of interleaved rounds.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { CachedFiles } from '@gateway/native-edge/hot-tiles/cached-file.js'
import { writeTpkx } from '@gateway/tilesets/esri/writer.js'
import { writeGeopackage } from '@gateway/tilesets/geopackage/writer.js'
import { FOLDER_LAYOUTS } from '@gateway/tilesets/layouts/layout.js'
import { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import { writeMbtiles } from '@gateway/tilesets/mbtiles/writer.js'
import { openSource } from '@gateway/tilesets/open-source.js'
import { writePmtiles } from '@gateway/tilesets/pmtiles/writer.js'
import { SMALL_BYTES } from '@gateway/tilesets/source.js'
import { MERCATOR_LEVELS, makeBundles, makeConf, writeFiles } from '@gateway/tilesets/testing/esri-caches.js'
import { makeTiledTiff } from '@gateway/tilesets/testing/tiled-tiffs.js'
import { zxyToTileId } from 'pmtiles'
import { median } from '../dist/compare/summary.js'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const ZOOM = 6
const AT_ONCE = 32
const MICROSECONDS_A_TICK = 10_000

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'cold-tile-'))
const tiles = Array.from({ length: 4 ** ZOOM }, (_, i) => {
  return { z: ZOOM, x: i >> ZOOM, y: i & (2 ** ZOOM - 1), data: Buffer.alloc(1_000 + (i % 20) * 1_000, `${i} `) }
})
for (const { x, y, data } of tiles) {
  fs.mkdirSync(path.join(root, `f/${ZOOM}/${x}`), { recursive: true })
  fs.writeFileSync(path.join(root, `f/${ZOOM}/${x}/${y}.png`), data)
}
/** @type {import('@gateway/tilesets/tile-to-write.js').PmtilesDescription & { name: string, metadata: Record<string, string> }} */
const about = { name: 'a', format: 'png', encoding: 'identity', bounds: [-180, -85, 180, 85], metadata: {} }
await writePmtiles(path.join(root, 'p.pmtiles'), tiles, about)
await writeMbtiles(path.join(root, 'm.mbtiles'), tiles, about)
await writeGeopackage(path.join(root, 'g.gpkg'), oneByOne(tiles), { ...about, tileSize: 256 })
const numbered = tiles.toSorted((a, b) => zxyToTileId(a.z, a.x, a.y) - zxyToTileId(b.z, b.x, b.y))
await writeTpkx(path.join(root, 't.tpkx'), oneByOne(numbered), { ...about, tileSize: 256 })
const bundles = makeBundles(tiles.map(({ z, x, y, data }) => ({ level: z, column: x, row: y, data })))
/** @type {[string, string | Uint8Array][]} */
const cacheFiles = [
  ['conf.xml', makeConf({ levels: MERCATOR_LEVELS })],
  ...[...bundles].map(([name, data]) => /** @type {[string, Uint8Array]} */ ([`_alllayers/${name}`, data])),
]
writeFiles(path.join(root, 'e'), cacheFiles)
for (const layout of ['tc', 'mp', 'arcgis', 'quadkey'])
  writeFiles(
    path.join(root, layout),
    tiles.map(({ z, x, y, data }) => [`${FOLDER_LAYOUTS[layout].write({ z, x, y })}.png`, data]),
  )
fs.writeFileSync(path.join(root, 'c.tif'), makeTiledTiff(tiles, { compression: 'webp' }))
fs.writeFileSync(path.join(root, 'j.tif'), makeTiledTiff(tiles, { compression: 'jpeg' }))
const conf = makeConf({ levels: MERCATOR_LEVELS, storage: 'esriMapCacheStorageModeExploded' })
writeFiles(path.join(root, 'x'), [
  ['conf.xml', conf],
  ...tiles.map(({ z, x, y, data }) => {
    const name = `_alllayers/${FOLDER_LAYOUTS.arcgis.write({ z, x, y })}.png`
    return /** @type {[string, Uint8Array]} */ ([name, data])
  }),
])

async function* oneByOne(all) {
  yield* all
}

const mbtiles = new MbtilesReaders({ onHang: () => {}, onAnswer: () => {} })
const cached = CachedFiles.load(SMALL_BYTES)
if (typeof cached === 'string') throw new Error(cached)
const open = (id, storage, name, more = {}) =>
  openSource(
    { id, storage, format: 'png', extension: 'png', root, path: path.join(root, name), isRemote: false, ...more },
    { mbtiles, cached },
  )
const sources = {
  folder: await open(1, 'xyz', 'f'),
  pmtiles: await open(2, 'pmtiles', 'p.pmtiles'),
  mbtiles: await open(3, 'mbtiles', 'm.mbtiles'),
  geopackage: await open(4, 'geopackage', 'g.gpkg'),
  tpkx: await open(5, 'tpkx', 't.tpkx'),
  esri_compact: await open(6, 'esri_compact', 'e'),
  esri_exploded: await open(12, 'esri_exploded', 'x'),
  cog: await open(7, 'cog', 'c.tif', { format: 'webp', extension: 'webp' }),
  cog_jpeg: await open(13, 'cog', 'j.tif', { format: 'jpg', extension: 'jpg' }),
  mapproxy_tc: await open(8, 'mapproxy_tc', 'tc', { rowsFromNorth: true }),
  mapproxy_mp: await open(9, 'mapproxy_mp', 'mp', { rowsFromNorth: true }),
  mapproxy_arcgis: await open(10, 'mapproxy_arcgis', 'arcgis', { rowsFromNorth: true }),
  quadkey: await open(11, 'quadkey', 'quadkey', { rowsFromNorth: true }),
}

const FILES = {
  ...{ folder: 'f', pmtiles: 'p.pmtiles', mbtiles: 'm.mbtiles', geopackage: 'g.gpkg', tpkx: 't.tpkx' },
  ...{ esri_compact: 'e', esri_exploded: 'x', cog: 'c.tif', cog_jpeg: 'j.tif' },
  ...{ mapproxy_tc: 'tc', mapproxy_mp: 'mp', mapproxy_arcgis: 'arcgis', quadkey: 'quadkey' },
}

async function waited(source) {
  for (let i = 0; i < tiles.length; i += AT_ONCE) {
    await Promise.all(tiles.slice(i, i + AT_ONCE).map((tile) => source.tile(tile)))
  }
}

async function atOnce(source) {
  const missing = tiles.filter((tile) => !source.tileIfCached(tile))
  if (missing.length > tiles.length / 100) throw new Error(`${missing.length} tiles are not in the page cache`)
}

/** Reads the data of a storage, since the kernel evicts pages that were not read lately if memory is short. */
function readAll(name) {
  const own = path.join(root, name)
  if (fs.statSync(own).isFile()) return fs.readFileSync(own)
  for (const file of fs.readdirSync(own, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) fs.readFileSync(path.join(file.parentPath, file.name))
  }
}

/** Returns the processor time of this process and its children in microseconds. */
function processorTime() {
  const { user, system } = process.cpuUsage()
  const children = fs.readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)
  const ticks = children.map((pid) => fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' '))
  return user + system + ticks.reduce((sum, stat) => sum + Number(stat[11]) + Number(stat[12]), 0) * MICROSECONDS_A_TICK
}

const found = new Map()
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const [name, source] of Object.entries(sources)) {
    for (const [way, run] of Object.entries(
      source.tileIfCached ? { tile: waited, tileIfCached: atOnce } : { tile: waited },
    )) {
      readAll(FILES[name])
      const before = processorTime()
      await run(source)
      const each = (processorTime() - before) / tiles.length
      // The first round is a warm-up.
      if (round > 0) found.set(`${name} ${way}`, [...(found.get(`${name} ${way}`) ?? []), each])
    }
  }
}
const rows = [...found].map(([name, each]) => [name, median(each).toFixed(1)])
console.log(textTable(['storage', 'µs a tile'], rows))
for (const source of Object.values(sources)) source.close()
mbtiles.close()
fs.rmSync(root, { recursive: true })
