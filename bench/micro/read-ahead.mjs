/**
 * The savings of read-ahead from an archive in object storage: simulated maps zoom in and pan over a PMTiles archive (tiles in Hilbert order),
 * against blocks of 128 KiB that are cached once they arrived. Counts only, without a network; each policy gets the same walk. `misses`: blocks
 * that a caller waits for, per tile; `requests`: including those ahead of need; `bytes`: fetched per requested tile; `unused`: the share of
 * blocks fetched ahead that were never requested; `ms`: average wait of a view, if a response starts after 30 ms and concurrent requests share a
 * line of 1 Gbit/s or 100 Mbit/s.
 *
 *   node bench/micro/read-ahead.mjs [--sessions 200] [--kilobytes 12]
 */
import { parseArgs } from 'node:util'
import { zxyToTileId } from 'pmtiles'
import { textTable } from '../dist/report/text-table.js'

const { values: options } = parseArgs({
  options: { sessions: { type: 'string', default: '200' }, kilobytes: { type: 'string', default: '12' } },
})
const BLOCK = 128 * 1024
const DEEPEST = 9
const FIRST = 3
const COLUMNS = 6
const ROWS = 4

/** Returns a generator of numbers from 0 to 1, the same in every run. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const tileCount = zxyToTileId(DEEPEST + 1, 0, 0)
const offsets = new Float64Array(tileCount + 1)
const size = randomFrom(1)
// Exponential sizes: many small tiles, a few large ones.
for (let id = 0; id < tileCount; id++)
  offsets[id + 1] = offsets[id] + 300 - Math.log(1 - size()) * Number(options.kilobytes) * 1024

/** Yields tiles in the order in which maps request them: a view at each zoom towards a place, then pans. */
function* walk() {
  const random = randomFrom(2)
  const places = Array.from({ length: 300 }, () => [random(), 0.2 + random() * 0.6])
  for (let session = 0; session < Number(options.sessions); session++) {
    // Some places are requested far more often than others.
    let [x, y] = places[Math.floor(places.length * random() ** 3)]
    for (let zoom = FIRST; zoom <= DEEPEST; zoom++) yield* view(zoom, x, y)
    for (let pan = 0; pan < 8; pan++) {
      const angle = random() * 2 * Math.PI
      x += (Math.cos(angle) * 3) / 2 ** DEEPEST
      y += (Math.sin(angle) * 3) / 2 ** DEEPEST
      yield* view(DEEPEST, x, y)
    }
  }
}

let views = 0

function* view(zoom, x, y) {
  const side = 2 ** zoom
  const [left, top] = [Math.floor(x * side - COLUMNS / 2), Math.floor(y * side - ROWS / 2)]
  for (let row = top; row < top + ROWS; row++)
    for (let column = left; column < left + COLUMNS; column++)
      if (row >= 0 && row < side) yield { z: zoom, x: ((column % side) + side) % side, y: row, view: views }
  views++
}

const blocksOf = (id) => [Math.floor(offsets[id] / BLOCK), Math.floor((offsets[id + 1] - 1) / BLOCK)]
const childrenOf = ({ z, x, y }) => (z >= DEEPEST ? [] : blocksOf(zxyToTileId(z + 1, 2 * x, 2 * y)).slice(0, 1))

/** The blocks to fetch together with a missing block, by policy. */
const POLICIES = {
  none: () => [],
  'next block': (block) => [block + 1],
  'next block, where the one before is here': (block, _, has) => (has(block - 1) ? [block + 1] : []),
  'next two blocks': (block) => [block + 1, block + 2],
  'block before and after': (block) => [block - 1, block + 1],
  'the other of a pair (blocks of 256 KiB)': (block) => [block ^ 1],
  'the other three of four (blocks of 512 KiB)': (block) => [0, 1, 2, 3].map((i) => (block & ~3) + i),
  'block of the first child': (_, tile) => childrenOf(tile),
}

const rows = Object.entries(POLICIES).map(([name, ahead]) => {
  const here = new Set()
  const unused = new Set()
  views = 0
  const counts = { tiles: 0, misses: 0, waiting: 0, requests: 0, blocks: 0, ahead: 0 }
  let waited = -1
  const fetched = () => counts.blocks * BLOCK
  const last = Math.floor((offsets[tileCount] - 1) / BLOCK)
  for (const tile of walk()) {
    counts.tiles++
    const [from, to] = blocksOf(zxyToTileId(tile.z, tile.x, tile.y))
    for (let block = from; block <= to; block++) {
      unused.delete(block)
      if (here.has(block)) continue
      here.add(block)
      counts.misses++
      if (waited !== tile.view) counts.waiting++
      waited = tile.view
      counts.requests++
      counts.blocks++
      for (const more of ahead(block, tile, (other) => here.has(other))) {
        if (here.has(more) || more < 0 || more > last) continue
        here.add(more)
        unused.add(more)
        counts.ahead++
        counts.blocks++
        // Adjacent blocks are one longer request with a later end.
        if (Math.abs(more - block) > 3) counts.requests++
      }
    }
  }
  const each = (count) => (count / counts.tiles).toFixed(3)
  return [
    name,
    `${Math.round((100 * counts.waiting) / views)} %`,
    ...[1000, 100].map((megabits) => ((counts.waiting * 30 + (fetched() * 8) / megabits / 1000) / views).toFixed(1)),
    each(counts.misses),
    each(counts.requests),
    `${Math.round((counts.blocks * BLOCK) / 1024 / counts.tiles)} KiB`,
    counts.ahead === 0 ? '' : `${Math.round((100 * unused.size) / counts.ahead)} %`,
  ]
})
console.info(
  textTable(
    ['ahead', 'views that wait', 'ms, 1 Gbit/s', 'ms, 100 Mbit/s', 'misses', 'requests', 'bytes', 'unused'],
    rows,
  ),
)
