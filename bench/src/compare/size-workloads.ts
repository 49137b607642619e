import { seededRandom } from '../data/random.js'
import { SIZES, tilesOfSize } from '../data/size-set.js'
import { sampleEvenly } from '../data/traffic.js'
import { CONNECTIONS, SEED, tileRequests } from './requests.js'
import { plainLoad, type Workload } from './workload.js'

const REQUESTS = 20_000
/** Size above which bodies fill the socket buffers: more connections would measure the kernel's memory. */
const LARGE_KB = 128
const LARGE_CONNECTIONS = 16
/** Time in which each tile is requested often enough to be hot. */
const SETTLE_SECONDS = 1

/** Storages by the prefixes of their names. */
export const SIZE_STORAGES = { size: 'files', sizepm: 'PMTiles' } as const

/** Hot bodies of one size each, requested evenly, to find out which are better copied and which sent by reference. */
export const SIZE_WORKLOADS: readonly Workload[] = Object.entries(SIZE_STORAGES).flatMap(([storage, words]) =>
  SIZES.map((size) =>
    plainLoad(`${storage}-${size}k`, `Hot bodies of ${size} KB from ${words}`, {
      connections: size < LARGE_KB ? CONNECTIONS : LARGE_CONNECTIONS,
      environment: 'sizes',
      settleSeconds: SETTLE_SECONDS,
      requests: async (peer) =>
        tileRequests(
          peer,
          `${storage as keyof typeof SIZE_STORAGES}${size}k`,
          sampleEvenly(seededRandom(SEED), tilesOfSize(size), REQUESTS),
        ),
    }),
  ),
)
