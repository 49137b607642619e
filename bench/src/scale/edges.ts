/**
 * Many edges in one process: each follows the store and confirms with the code of a real edge, with separate connections to Postgres and
 * Redis. They do not serve requests. `argv[2]`: `SimulatedEdges` as JSON. Writes `ready` when all have read the catalog.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@gateway/core/logging/log.js'
import { StoreReader } from '@gateway/edge/sync/catalog-reader.js'
import { CatalogReplica } from '@gateway/edge/sync/catalog-replica.js'
import { ReplicationLoop } from '@gateway/edge/sync/replication-loop.js'
import { StoreLink } from '@gateway/edge/sync/store-link.js'
import { openStore } from '@gateway/store/connect.js'

export interface SimulatedEdges {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly count: number
}

/** Defaults of TOKEN_STALE_SECONDS and TOKEN_OFFLINE_SECONDS. */
const STALE_MS = 2_000
const TRUST_MS = 300_000

const { databaseUrl, redisUrl, count } = JSON.parse(process.argv[2] ?? '') as SimulatedEdges
const log = createLog('simulated-edges', 'error')
let loaded = 0

function startEdge(number: number): ReplicationLoop {
  const open = () =>
    openStore(databaseUrl, {
      applicationName: 'gateway-edge',
      maxConnections: 1,
    })
  const store = new StoreLink(open, () => loop.storeReplaced())
  const tokens = { invalidate: () => {}, invalidateAll: () => {} }
  const follower: CatalogReplica = new CatalogReplica(
    new StoreReader(store),
    tokens,
    () => performance.now(),
    () => void loop.confirm(),
  )
  const loop: ReplicationLoop = new ReplicationLoop({
    store,
    follower,
    redisUrl,
    staleMs: STALE_MS,
    trustMs: TRUST_MS,
    presence: {
      id: randomUUID(),
      host: `edge-${number}`,
      pid: process.pid,
      version: 'simulated',
      started_at: new Date().toISOString(),
    },
    traffic: () => undefined,
    kept: async () => null,
    onLoaded: () => {
      loaded++
      if (loaded === count) process.stdout.write('ready\n')
    },
    onNothingToLoad: () => {},
    onFollowed: () => {},
    log,
  })
  loop.start()
  return loop
}

/** Delay between two edges: a simultaneous start would measure how Postgres forks, and not how the edges follow. */
const APART_MS = 30

const loops: ReplicationLoop[] = []
process.once('SIGTERM', () => {
  void Promise.allSettled(loops.map((loop) => loop.stop())).then(() => process.exit(0))
})
for (let number = 0; number < count; number++) {
  loops.push(startEdge(number))
  await sleep(APART_MS)
}
