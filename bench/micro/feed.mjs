// Measures the change feed of two PMTiles versions of many tiles, of which 1 % differ: time, processor time and memory.
//   node bench/micro/feed.mjs [--tiles 10000000] [--bytes 200] [--dir DIR]
// Writes both archives into DIR (4 GB by default), and removes them at the end.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
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
  },
})
const [count, size] = [Number(values.tiles), Number(values.bytes)]
const ZOOM = 12
/** Number of the first tile of a zoom (PMTiles 3). */
const FIRST = (4 ** ZOOM - 1) / 3
/** @type {[number, number, number, number]} */
const BOUNDS = [-180, -85, 180, 85]

function* tiles(version) {
  for (let i = 0; i < count; i++) {
    const data = Buffer.alloc(size, i & 255)
    data.writeUInt32LE(i)
    if (i % 100 === 0) data.writeUInt8(version, 4)
    yield { tileId: FIRST + i, data }
  }
}

/** @param {string} root @param {string} path @returns {import('@gateway/tilesets/compare/compare-sets.js').ComparedSet} */
const setOf = (root, path) => ({
  root,
  path,
  storage: 'pmtiles',
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
  const files = [1, 2].map((version) => join(dir, `v${version}.pmtiles`))
  for (const [i, file] of files.entries()) {
    /** @type {import('@gateway/tilesets/pmtiles/writer.js').PmtilesDescription} */
    const description = { format: 'png', encoding: 'identity', bounds: BOUNDS, metadata: {} }
    await writeSortedPmtiles(file, tiles(i + 1), description, { expected: count })
  }
  const child = fork(import.meta.filename, process.argv.slice(2), { env: { ...process.env, FEED_DIR: dir } })
  child.on('message', (result) => console.log({ tiles: count, bytes: statSync(files[0] ?? '').size, result }))
  await new Promise((resolve) => child.on('exit', resolve))
} else {
  const dir = String(process.env.FEED_DIR)
  const [left, right] = [1, 2].map((version) => setOf(dir, join(dir, `v${version}.pmtiles`)))
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
