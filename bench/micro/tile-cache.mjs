/**
 * What keeps hot tiles in the edge: lru-cache, or a plain Map with CLOCK. Both are bounded by bytes and asked for the traffic of a map;
 * the Map's entries carry a mark that a hit sets, and a hand goes round only when room is needed.
 *
 *   node bench/micro/tile-cache.mjs [--rounds 7]
 *
 * Needs `npx tsc -b bench`. Prints nanoseconds an access and the share of hits, medians of interleaved rounds.
 */
import { parseArgs } from 'node:util'
import { LRUCache } from 'lru-cache'
import { median } from '../dist/compare/summary.js'
import { Bodies } from '../dist/data/bodies.js'
import { seededRandom } from '../dist/data/random.js'
import { mapAddresses, sampleTraffic } from '../dist/data/traffic.js'
import { textTable } from '../dist/report/text-table.js'
import { ClockCache } from './clock-cache.mjs'

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const ACCESSES = 1_000_000
const TILES = 40_000

const random = seededRandom(1)
const bodies = new Bodies(random)
const tiles = mapAddresses(TILES)
const sizes = new Map(tiles.map((tile) => [pathOf(tile), bodies.tileSize()]))
const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
// Every request brings a string of its own, as the HTTP server makes one for each.
const traffic = sampleTraffic(random, tiles, ACCESSES).map((tile) => Buffer.from(pathOf(tile)))

const CACHES = {
  'lru-cache': (maxBytes) => new LRUCache({ maxSize: maxBytes, sizeCalculation: (tile) => tile.size }),
  'Map with CLOCK': (maxBytes) => new ClockCache(maxBytes, (tile) => tile.size),
}
/** The part of all tiles that fits: all of them, and what makes the cache work for its living. */
const SHARES = [1, 0.25, 0.05]

const found = new Map()
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const share of SHARES) {
    for (const [name, make] of round % 2 === 0 ? Object.entries(CACHES) : Object.entries(CACHES).toReversed()) {
      const result = measure(make(Math.ceil(total * share) + TILES))
      // The first round is for the compiler.
      if (round > 0) found.set(`${name} ${share}`, [...(found.get(`${name} ${share}`) ?? []), result])
    }
  }
}
const rows = SHARES.flatMap((share) =>
  Object.keys(CACHES).map((name) => {
    const results = found.get(`${name} ${share}`)
    const [nanoseconds, hits] = [median(results.map((one) => one.nanoseconds)), median(results.map((one) => one.hits))]
    return [name, `${share * 100} %`, nanoseconds.toFixed(0), `${(hits * 100).toFixed(1)} %`]
  }),
)
console.log(textTable(['cache', 'room for', 'ns an access', 'hits'], rows))

function measure(cache) {
  for (const path of traffic) access(cache, path.latin1Slice())
  let hits = 0
  let empty = 0
  const startedAt = process.hrtime.bigint()
  for (const path of traffic) hits += access(cache, path.latin1Slice())
  const took = Number(process.hrtime.bigint() - startedAt)
  // What the strings alone cost is nobody's.
  const baseAt = process.hrtime.bigint()
  for (const path of traffic) empty += path.latin1Slice().length
  const base = Number(process.hrtime.bigint() - baseAt)
  return { nanoseconds: (took - base) / ACCESSES, hits: hits / ACCESSES, empty }
}

function access(cache, path) {
  if (cache.get(path) !== undefined) return 1
  cache.set(path, { size: sizes.get(path) })
  return 0
}

function pathOf({ z, x, y }) {
  return `/tiles/mix/v1/${z}/${x}/${y}.png`
}
