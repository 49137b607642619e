// Measures the change feed of two versions of many tiles, of which 1 % differ: time, processor time and memory.
//   node bench/micro/feed.mjs [--storage pmtiles|xyz] [--tiles 10000000] [--bytes 200] [--files 0] [--linked] [--dir DIR]
// Writes both versions into DIR (4 GB of PMTiles by default), and removes them at the end.
// --files: number of files of each folder whose names are the tiles (hard links within the version), to save inodes; 0: a file for each tile.
// --linked: tiles of the second folder that have not changed are hard links to those of the first.
import { fork } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { changedTiles } from '@gateway/tilesets/compare/changed-tiles.js'
import { writeSortedPmtiles } from '@gateway/tilesets/pmtiles/writer.js'

const { values } = parseArgs({
  options: {
    tiles: { type: 'string', default: '10000000' },
    bytes: { type: 'string', default: '200' },
    dir: { type: 'string', default: tmpdir() },
    storage: { type: 'string', default: 'pmtiles' },
    files: { type: 'string', default: '0' },
    linked: { type: 'boolean', default: false },
  },
})
const [count, size] = [Number(values.tiles), Number(values.bytes)]
const ZOOM = 12
/** Number of the first tile of a zoom (PMTiles 3). */
const FIRST = (4 ** ZOOM - 1) / 3
/** @type {[number, number, number, number]} */
const BOUNDS = [-180, -85, 180, 85]

/** @param {number} i @param {number} version */
function tile(i, version) {
  const data = Buffer.alloc(size, i & 255)
  data.writeUInt32LE(i)
  if (i % 100 === 0) data.writeUInt8(version, 4)
  return data
}

/** @param {number} version */
function* tiles(version) {
  for (let i = 0; i < count; i++) yield { tileId: FIRST + i, data: tile(i, version) }
}

/** Maximum number of names of one file on ext4 is 65,000. */
const NAMES_OF_A_FILE = 60_000
const COLUMN = 4096
const files = Number(values.files)

/** @param {string} folder @param {number} version @param {string} older */
function writeFolder(folder, version, older) {
  const names = new Map()
  mkdirSync(join(folder, '12'), { recursive: true })
  mkdirSync(join(folder, 'pool'))
  for (let i = 0; i < count; i++) {
    const [x, y] = [Math.floor(i / COLUMN), i % COLUMN]
    const path = `12/${x}/${y}.png`
    if (y === 0) mkdirSync(join(folder, `12/${x}`))
    if (values.linked && version > 1 && i % 100 !== 0) linkSync(join(older, path), join(folder, path))
    else if (files === 0) writeFileSync(join(folder, path), tile(i, version))
    else {
      // The content of a file and its number of names; equal in both versions, except for the tiles that differ.
      const content = i % 100 === 0 ? `changed-${i % files}` : `same-${i % files}`
      const used = names.get(content) ?? 0
      names.set(content, used + 1)
      const file = join(folder, 'pool', `${content}-${Math.floor(used / NAMES_OF_A_FILE)}`)
      if (used % NAMES_OF_A_FILE === 0) writeFileSync(file, tile(i % 100 === 0 ? 0 : (i % files) * 100 + 1, version))
      linkSync(file, join(folder, path))
    }
  }
}

/** @param {string} root @param {string} path @returns {import('@gateway/tilesets/compare/compare-sets.js').ComparedSet} */
const setOf = (root, path) => ({
  root,
  path,
  storage: values.storage === 'xyz' ? 'xyz' : 'pmtiles',
  rowsFromNorth: true,
  format: 'png',
  extension: 'png',
  minZoom: ZOOM,
  maxZoom: ZOOM,
  bounds: BOUNDS,
})

if (process.send === undefined) {
  const dir = mkdtempSync(join(values.dir, 'gateway-feed-'))
  process.on('exit', () => rmSync(dir, { recursive: true }))
  const places = [1, 2].map((version) => join(dir, `v${version}.${values.storage}`))
  for (const [i, place] of places.entries()) {
    if (values.storage === 'xyz') {
      writeFolder(place, i + 1, String(places[0]))
      continue
    }
    /** @type {import('@gateway/tilesets/tile-to-write.js').PmtilesDescription} */
    const description = { format: 'png', encoding: 'identity', bounds: BOUNDS, metadata: {} }
    await writeSortedPmtiles(place, tiles(i + 1), description, { expected: count })
  }
  const child = fork(import.meta.filename, process.argv.slice(2), { env: { ...process.env, FEED_DIR: dir } })
  child.on('message', (result) => console.log({ tiles: count, bytes: statSync(places[0] ?? '').size, result }))
  await new Promise((resolve) => child.on('exit', resolve))
} else {
  const dir = String(process.env.FEED_DIR)
  const [left, right] = [1, 2].map((version) => setOf(dir, join(dir, `v${version}.${values.storage}`)))
  const began = performance.now()
  let changes = 0
  /** @type {import('@gateway/tilesets/compare/changed-tiles.js').ChangesTask} */
  const task = { left, right, tileMatrixSet: 'WebMercatorQuad', tileMatrices: null, area: null }
  for await (const _ of changedTiles(task)) changes++
  const { user, system } = process.cpuUsage()
  process.send({
    changes,
    seconds: (performance.now() - began) / 1000,
    processorSeconds: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1024,
  })
}
