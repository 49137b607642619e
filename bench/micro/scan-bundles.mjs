/**
 * Time and memory of a scan's look at an Esri compact cache of 1,000 bundles with 10,000 tiles each (ten million tiles of 100 bytes, in sparse files).
 *
 *   node bench/micro/scan-bundles.mjs [--bundles 1000] [--rounds 3]
 *
 * Needs `npx tsc -b`. Prints the seconds of each round and by how much the process grew in all. The first round opens each file for the first time.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { probeTileSet } from '@gateway/tilesets/probe.js'
import { MERCATOR_LEVELS, makeBundles, makeConf, writeFiles } from '@gateway/tilesets/testing/esri-caches.js'

const { values: options } = parseArgs({
  options: { bundles: { type: 'string', default: '1000' }, rounds: { type: 'string', default: '3' } },
})
const LEVEL = 14
const SIDE = 128
const TILES = 10_000
const TILE_BYTES = 100
const HEAD_BYTES = 64
const ROW_OF_BUNDLES = 32

const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'scan-bundles-'))
try {
  const data = Buffer.alloc(TILE_BYTES, '\x89PNG\r\n\x1a\n', 'latin1')
  const [start = Buffer.alloc(0)] = [...makeBundles([{ level: LEVEL, row: 0, column: 0, data }]).values()]
  for (let i = 0; i < TILES; i++) {
    start.writeUIntLE(start.length - TILE_BYTES + i * (TILE_BYTES + 4), HEAD_BYTES + i * 8, 5)
    start.writeUIntLE(TILE_BYTES, HEAD_BYTES + i * 8 + 5, 3)
  }
  writeFiles(root, [['conf.xml', makeConf({ levels: MERCATOR_LEVELS })]])
  const hex = (/** @type {number} */ n) => (n * SIDE).toString(16).padStart(4, '0')
  for (let i = 0; i < Number(options.bundles); i++) {
    const name = `_alllayers/L14/R${hex(Math.floor(i / ROW_OF_BUNDLES))}C${hex(i % ROW_OF_BUNDLES)}.bundle`
    writeFiles(root, [[name, start]])
    fs.truncateSync(path.join(root, name), start.length + TILES * (TILE_BYTES + 4))
  }
  const before = process.memoryUsage.rss()
  let most = before
  for (let round = 0; round < Number(options.rounds); round++) {
    const startMs = performance.now()
    const probe = await probeTileSet(root, root)
    const seconds = (performance.now() - startMs) / 1000
    most = Math.max(most, process.memoryUsage.rss())
    if (probe?.maxZoom !== LEVEL) throw new Error('the cache was not found')
    console.log(`${seconds.toFixed(2)} s`)
  }
  console.log(`${Math.round((most - before) / 1e6)} MB more than the ${Math.round(before / 1e6)} MB before`)
} finally {
  fs.rmSync(root, { recursive: true })
}
