import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { evenDirectory } from '../data/even-set.js'
import { seededRandom } from '../data/random.js'
import { type Address, sampleEvenly } from '../data/traffic.js'
import { sampleZipf, zipfDirectory } from '../data/zipf-set.js'
import { onCore } from '../machine.js'
import { SMALL_MEMORY_BYTES } from '../peers/edge.js'
import type { Basemap } from '../peers/peer.js'
import { CONNECTIONS, SEED, tileRequests } from './requests.js'
import { type Context, plainLoad, type Workload } from './workload.js'

/** How much is asked for, in multiples of the memory for tiles. */
export const MULTIPLES = [0.5, 1, 2, 5, 20] as const
/** How the same tiles are stored, with the names of their workloads. */
export const STORAGES = { even: 'many', evenpm: 'evenpm', evenmb: 'evenmb' } as const
const STORAGE_WORDS = { even: 'files', evenpm: 'PMTiles', evenmb: 'MBTiles' } as const
const VECTOR_WORDS = { vt: 'files', vtpm: 'PMTiles', vtmb: 'MBTiles' } as const
const EVEN_REQUESTS = 200_000
const ZIPF_REQUESTS = 600_000
/** What was asked for last by another workload has left the memory by then, and what is asked for now is in it. */
const SETTLE_SECONDS = 2

const EVEN: readonly Workload[] = (Object.keys(STORAGES) as (keyof typeof STORAGES)[]).flatMap((storage) =>
  MULTIPLES.map((multiple) => {
    const basemap = STORAGES[storage]
    return even(
      `${storage}-${multiple}`,
      `${multiple} times the memory for tiles, ${STORAGE_WORDS[storage]}`,
      basemap,
      {
        tiles: ({ data }) => data.manyTiles.slice(0, Math.round((multiple * SMALL_MEMORY_BYTES) / data.meanTileBytes)),
        inMemory: ({ data }) => (storage === 'even' ? join(data.basemaps, 'many') : join(evenDirectory(), basemap)),
      },
    )
  }),
)

/** What is asked for first has come by then: blocks are kept on disk. */
const REMOTE_SETTLE_SECONDS = 10

/** Beside `evenpm-*`: the same archive over HTTP, by the cache on disk. */
const REMOTE: readonly Workload[] = [1, 5].map((multiple) =>
  even(
    `remotepm-${multiple}`,
    `${multiple} times the memory for tiles, PMTiles over HTTP, cache on disk warm`,
    'remotepm',
    {
      tiles: ({ data }) => data.manyTiles.slice(0, Math.round((multiple * SMALL_MEMORY_BYTES) / data.meanTileBytes)),
      inMemory: () => join(evenDirectory(), 'evenpm'),
      settleSeconds: REMOTE_SETTLE_SECONDS,
    },
  ),
)

const VECTOR: readonly Workload[] = (Object.keys(VECTOR_WORDS) as (keyof typeof VECTOR_WORDS)[]).map((basemap) =>
  even(basemap, `vector tiles with gzip, ${VECTOR_WORDS[basemap]}`, basemap, {
    tiles: ({ data }) => data.manyTiles.slice(0, 9_000),
    inMemory: () => join(evenDirectory(), basemap),
    header: 'Accept-Encoding: gzip',
  }),
)

const ZIPF: readonly Workload[] = (['warm', 'cold'] as const).map((pages) =>
  plainLoad(`zipf-${pages}`, `Ten million tiles of a PMTiles archive of 20 GB, by Zipf's law, page cache ${pages}`, {
    connections: CONNECTIONS,
    environment: 'small',
    leastSeconds: 5,
    requests: async (peer) => tileRequests(peer, 'zipf', sampleZipf(seededRandom(SEED), ZIPF_REQUESTS)),
    ...(pages === 'cold' && { prepare: () => forgetPages(join(zipfDirectory(), 'zipf/v1.pmtiles')) }),
    ...(pages === 'warm' && { settleSeconds: 5 }),
  }),
)

/** What most of the traffic of a large map is: tiles that are in no memory of the server, or of the machine. */
export const EVEN_WORKLOADS: readonly Workload[] = [...EVEN, ...REMOTE, ...VECTOR, ...ZIPF]

interface Evenly {
  readonly tiles: (context: Context) => readonly Address[]
  /** read before each sample: idle pages may have been reclaimed */
  readonly inMemory: (context: Context) => string
  readonly header?: string
  readonly settleSeconds?: number
}

function even(name: string, words: string, basemap: Basemap, evenly: Evenly): Workload {
  const { tiles, inMemory, header, settleSeconds = SETTLE_SECONDS } = evenly
  return plainLoad(name, `Asked for evenly: ${words}`, {
    connections: CONNECTIONS,
    environment: 'small',
    settleSeconds,
    async requests(peer, context) {
      const random = seededRandom(SEED)
      const requests = tileRequests(peer, basemap, sampleEvenly(random, tiles(context), EVEN_REQUESTS))
      if (requests === null || header === undefined) return requests
      return requests.map((request) => ({ ...request, headers: [...request.headers, header] }))
    },
    prepare: (context) => readPages(context, inMemory(context)),
  })
}

/** On the load's processor: the server's would be found busy. */
function readPages({ cores }: Context, directory: string): void {
  const [command = '', ...args] = [...onCore(cores?.load), 'find', directory, '-type', 'f', '-exec', 'cat', '{}', '+']
  spawnSync(command, args, { stdio: 'ignore' })
}

/** dd asks the kernel to drop what it holds of the file (POSIX_FADV_DONTNEED), and changes nothing of it. */
function forgetPages(file: string): void {
  const { status } = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
  if (status !== 0) throw new Error(`dd cannot drop the pages of ${file}`)
}
