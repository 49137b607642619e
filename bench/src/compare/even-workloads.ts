import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { evenDirectory } from '../data/even-set.js'
import { OTHERS, type Other, othersDirectory, othersTiles } from '../data/others-set.js'
import { seededRandom } from '../data/random.js'
import { type Address, sampleEvenly } from '../data/traffic.js'
import { sampleZipf, zipfDirectory } from '../data/zipf-set.js'
import { onCore } from '../machine.js'
import { SMALL_MEMORY_BYTES } from '../peers/edge.js'
import type { Basemap, Environment } from '../peers/peer.js'
import { CONNECTIONS, SEED, tileRequests } from './requests.js'
import { type Context, plainLoad, type Workload } from './workload.js'

/** Sizes of the requested set, in multiples of the memory for tiles. */
export const MULTIPLES = [0.5, 1, 2, 5, 20] as const
/** Storages of the same tiles, with the names of their workloads. */
export const STORAGES = { even: 'many', evenpm: 'evenpm', evenmb: 'evenmb' } as const
const STORAGE_WORDS = { even: 'files', evenpm: 'PMTiles', evenmb: 'MBTiles' } as const
const VECTOR_WORDS = { vt: 'files', vtpm: 'PMTiles', vtmb: 'MBTiles' } as const
const EVEN_REQUESTS = 200_000
const ZIPF_REQUESTS = 600_000
/** Time after which the tiles of the previous workload have left the memory, and those of this one are in it. */
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

/** Time after which the most requested blocks have arrived in the cache on disk. */
const REMOTE_SETTLE_SECONDS = 10

/** Counterpart of `evenpm-*`: the same archive over HTTP, through the cache on disk. */
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

/** Multiples of the memory for tiles: hot and cold. */
export const OTHER_MULTIPLES = [0.5, 5] as const

const OTHER: readonly Workload[] = (Object.keys(OTHERS) as Other[]).flatMap((basemap) =>
  OTHER_MULTIPLES.map((multiple) =>
    even(
      `${basemap}-${multiple}`,
      `${multiple} times the memory for tiles, ${basemap.slice('others-'.length)}`,
      basemap,
      {
        tiles: ({ data }) =>
          othersTiles(data).slice(0, Math.round((multiple * SMALL_MEMORY_BYTES) / data.meanTileBytes)),
        inMemory: () => join(othersDirectory(), basemap),
        environment: 'others',
      },
    ),
  ),
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

/** The main traffic of a large map: tiles that are in no memory of the server, or of the machine. */
export const EVEN_WORKLOADS: readonly Workload[] = [...EVEN, ...REMOTE, ...VECTOR, ...OTHER, ...ZIPF]

interface Evenly {
  readonly tiles: (context: Context) => readonly Address[]
  /** directory to read before each sample, since the kernel may have reclaimed idle pages */
  readonly inMemory: (context: Context) => string
  readonly header?: string
  readonly settleSeconds?: number
  readonly environment?: Environment
}

function even(name: string, words: string, basemap: Basemap, evenly: Evenly): Workload {
  const { tiles, inMemory, header, settleSeconds = SETTLE_SECONDS, environment = 'small' } = evenly
  return plainLoad(name, `Asked for evenly: ${words}`, {
    connections: CONNECTIONS,
    environment,
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

/** Runs on the load's processor, so that the server's is not busy. */
function readPages({ cores }: Context, directory: string): void {
  const [command = '', ...args] = [...onCore(cores?.load), 'find', directory, '-type', 'f', '-exec', 'cat', '{}', '+']
  spawnSync(command, args, { stdio: 'ignore' })
}

/** Makes the kernel evict the cached pages of the file through dd (POSIX_FADV_DONTNEED), without changing the file. */
function forgetPages(file: string): void {
  const { status } = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
  if (status !== 0) throw new Error(`dd cannot drop the pages of ${file}`)
}
