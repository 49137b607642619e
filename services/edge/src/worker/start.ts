import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Log } from '@gateway/logging/log.js'
import { FileSender } from '@gateway/sendfile/file-sender.js'
import { controlPlaneUrl, type Settings } from '@gateway/settings/load.js'
import { threadPoolSize } from '@gateway/settings/thread-pool.js'
import { openStore } from '@gateway/store/connect.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import { noteTokensUsed } from '@gateway/store/tokens.js'
import { TokenCache } from '../access/token-cache.js'
import { TokenUsage, USAGE_FLUSH_MS } from '../access/token-usage.js'
import type { Catalog } from '../catalog/catalog.js'
import { FollowLoop } from '../catalog/follow-loop.js'
import { Follower } from '../catalog/follower.js'
import { StoreLink } from '../catalog/store-link.js'
import type { Edge, Freshness } from '../edge.js'
import { DiskGate } from '../files/disk-gate.js'
import { startServer } from '../http/server.js'
import { Counters } from '../metrics/counters.js'
import { createProcessMetrics } from '../metrics/registry.js'
import { Totals } from '../metrics/totals.js'
import { Upstream } from '../passthrough/upstream.js'
import { bareHost } from '../supervisor/bare-host.js'
import { HotTiles } from '../tiles/hot-tiles.js'
import { NativeHot } from '../tiles/native-hot.js'
import { OpenedSets } from '../tiles/opened-sets.js'
import { TileLoader } from '../tiles/tile-loader.js'
import { ZipStore } from '../zip/zip-store.js'
import { followedStore, tokenFinder } from './store-queries.js'
import type { SupervisorLink } from './supervisor-link.js'

/** Polling, look-ups of tokens and presence share these; many processes share one database. */
const STORE_CONNECTIONS = 3

export interface Worker {
  /** Finishes what is under way and gives everything back. */
  stop(): Promise<void>
}

/** Builds one edge process out of its parts and lets it listen. It serves at once what needs no store, and the rest as soon as it can. */
export async function startWorker(settings: Settings, log: Log, supervisor: SupervisorLink): Promise<Worker> {
  const counters = new Counters()
  const usage = new TokenUsage()
  const store = new StoreLink(
    () =>
      openStore(settings.databaseUrl as string, {
        applicationName: 'gateway-edge',
        maxConnections: STORE_CONNECTIONS,
      }),
    () => loop.storeReplaced(),
  )
  const trustMs = Math.max(settings.tokenOfflineSeconds, settings.tokenStaleSeconds) * 1000
  const freshness: Freshness = {
    get loaded() {
      return follower.loaded
    },
    get together() {
      return supervisor.open
    },
    get trustedUntilMs() {
      return follower.knownCurrentAt + trustMs
    },
    get catalog() {
      return follower.catalog
    },
  }
  const nativeHot = new NativeHot(counters, usage, () => freshness.trustedUntilMs)
  const tokens = new TokenCache(tokenFinder(store), usage, (plaintext) => nativeHot.forgetToken(plaintext))
  const sets = new OpenedSets()
  const disks = new DiskGate({ log, threads: threadPoolSize() })
  const onApplied = () => {
    sets.keepOnly(follower.catalog)
    loop.announce()
  }
  const onCatalog = (catalog: Catalog) => nativeHot.follow(catalog)
  const follower: Follower = new Follower(followedStore(store), tokens, Date.now, onApplied, onCatalog)
  const loop: FollowLoop = new FollowLoop({
    store,
    follower,
    redisUrl: settings.redisUrl,
    staleMs: settings.tokenStaleSeconds * 1000,
    presence: {
      id: randomUUID(),
      host: hostname(),
      pid: process.pid,
      version: ownVersion(),
      started_at: new Date().toISOString(),
    },
    traffic: () => counters.traffic(),
    onLoaded: () => supervisor.loaded(),
    log,
  })
  const hotTiles = new HotTiles()
  const sender = new FileSender({ log })
  const metrics = createProcessMetrics(counters, {
    appliedRevision: () => follower.appliedRevision,
    hotTileBytes: () => hotTiles.bytes + nativeHot.bytes,
    cachedTokens: () => tokens.size,
    openTransfers: () => sender.stats().active,
    fileTier: () => sender.tier,
  })
  const edge: Edge = {
    settings,
    log,
    counters,
    metrics,
    freshness,
    tokens,
    sets,
    disks,
    tiles: new TileLoader(sets, disks),
    hotTiles,
    nativeHot,
    zips: new ZipStore(path.join(settings.dataDir, 'cache', 'zips'), log, disks),
    sender,
    upstream: new Upstream(controlPlaneUrl(settings)),
    upstreamKey: null,
    totals: () => totalsOrOwn(supervisor, metrics),
    draining: false,
  }
  loop.start()
  const server = await startServer(edge, bareHost(settings.apiHost), settings.apiPort)
  supervisor.report(metrics)
  supervisor.listening()
  const saveUsage = (everything: boolean) => {
    nativeHot.noteUses()
    return usage.flush((used) => store.query((sql) => noteTokensUsed(sql, used)), Date.now(), everything)
  }
  const flusher = setInterval(saveUsage, USAGE_FLUSH_MS, false)
  void learnUpstreamKey(edge, store)
  return {
    async stop() {
      clearInterval(flusher)
      await server.drain(settings.drainSeconds)
      await supervisor.sendReport()
      await saveUsage(true)
      await loop.stop()
      await Promise.allSettled([edge.upstream.close(), edge.zips.close(), store.close()])
      sets.closeAll()
    },
  }
}

const KEY_RETRY_MS = 250

/** The key is in the store, which may come later than this process. */
async function learnUpstreamKey(edge: Edge, store: StoreLink): Promise<void> {
  while (edge.upstreamKey === null && !edge.draining) {
    try {
      edge.upstreamKey = (await store.query(readInstanceKeys)).edgeLink
    } catch {
      // Not there yet, which the follow loop logs.
      await new Promise((resolve) => setTimeout(resolve, KEY_RETRY_MS))
    }
  }
}

async function totalsOrOwn(supervisor: SupervisorLink, metrics: Edge['metrics']): Promise<string> {
  try {
    return await supervisor.totals()
  } catch {
    const own = new Totals()
    own.keep(0, await metrics.report())
    return own.text([])
  }
}

function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
