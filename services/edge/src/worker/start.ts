import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import path from 'node:path'
import { RateLimiter } from '@gateway/core/access/rate-limiter.js'
import { AccessLog } from '@gateway/core/logging/access-log.js'
import type { Log } from '@gateway/core/logging/log.js'
import { dieWithParent } from '@gateway/core/processes/confinement.js'
import { keepHeapSmall } from '@gateway/core/processes/small-heap.js'
import { listenHost } from '@gateway/core/settings/address-hosts.js'
import { threadPoolSize } from '@gateway/core/settings/child-environment.js'
import { controlPlaneUrl, type Settings, trustSeconds } from '@gateway/core/settings/load.js'
import { openTracer } from '@gateway/core/tracing/tracer.js'
import { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import { openStore } from '@gateway/store/connect.js'
import { readInstanceKeys } from '@gateway/store/instance-keys.js'
import { noteTokensUsed } from '@gateway/store/tokens.js'
import { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import type { CachedReader } from '@gateway/tilesets/source.js'
import { Registry } from 'prom-client'
import { SignedUrls } from '../auth/signed-urls.js'
import { TokenCache } from '../auth/token-cache.js'
import { TokenUsage, USAGE_FLUSH_MS } from '../auth/token-usage.js'
import { DocumentCache } from '../documents/document-cache.js'
import { Turns } from '../documents/turns.js'
import type { Edge, Freshness } from '../edge.js'
import { openDatabases } from '../features/open-databases.js'
import { VectorFeatures } from '../features/vector-features.js'
import { DiskGate } from '../files/disk-gate.js'
import { Access } from '../http/access.js'
import { type HttpServer, prepareServer } from '../http/server.js'
import { MapDrawer } from '../maps/map-drawer.js'
import { Counters } from '../metrics/counters.js'
import { createProcessMetrics } from '../metrics/registry.js'
import { remoteCacheOf } from '../metrics/remote-cache.js'
import { surroundings } from '../metrics/surroundings.js'
import { Totals } from '../metrics/totals.js'
import { HotTiles } from '../native/hot-tiles.js'
import { NativePublisher } from '../native/publisher.js'
import { KeptTokens } from '../offline/kept-tokens.js'
import { ownVersion } from '../own-version.js'
import { Pictures } from '../pictures/pictures.js'
import { Upstream } from '../proxy/upstream.js'
import { StyleAssets } from '../styles/style-assets.js'
import { USAGE_INTERVAL_MS } from '../supervisor/messages.js'
import type { Catalog } from '../sync/catalog.js'
import { StoreReader } from '../sync/catalog-reader.js'
import { CatalogReplica, type FollowedTokens } from '../sync/catalog-replica.js'
import { HOST_CLOCK_OFFSET } from '../sync/host-reads.js'
import { ReplicaReads } from '../sync/replica-reads.js'
import { ReplicationLoop } from '../sync/replication-loop.js'
import { replicaLink, StoreLink } from '../sync/store-link.js'
import { openRemote, openUpstream } from '../tiles/open-remote.js'
import { ReadTroubles } from '../tiles/read-troubles.js'
import { TileLoader } from '../tiles/tile-loader.js'
import { TILE_SAMPLING, TileCounts } from '../usage/tile-counts.js'
import { UsageCounts } from '../usage/usage-counts.js'
import { ZipStore } from '../zip/zip-store.js'
import { tokenFinder } from './store-queries.js'
import type { SupervisorLink } from './supervisor-link.js'

/** Connections for polling, look-ups of tokens and presence; many processes share one database. */
const STORE_CONNECTIONS = 3

/**
 * Time in ms after which a worker that found neither the store nor a kept catalog listens without one, and returns 503, which says more than a
 * refused connection. A worker that is only slow does not listen yet: it would get its share of the connections, next to others that serve.
 */
const LISTEN_WITHOUT_CATALOG_MS = 15_000

export interface Worker {
  /** Reports as not ready, but continues to serve. */
  giveNotice(): void
  /** Finishes requests in progress and releases everything. */
  stop(): Promise<void>
}

/** Builds one edge process from its parts, which listens as soon as it can serve. */
export async function startWorker(settings: Settings, log: Log, supervisor: SupervisorLink): Promise<Worker> {
  const counters = new Counters()
  const usage = new TokenUsage(settings.tokenAddresses)
  const tileCounts = new TileCounts(TILE_SAMPLING)
  const counted = new UsageCounts(tileCounts)
  const store = new StoreLink(
    () =>
      openStore(settings.databaseUrl as string, {
        applicationName: 'gateway-edge',
        maxConnections: STORE_CONNECTIONS,
      }),
    () => loop.storeReplaced(),
  )
  const replica = replicaLink(settings, 'gateway-edge', STORE_CONNECTIONS)
  const rows = new ReplicaReads({
    primary: store,
    replica,
    known: () => follower.newest,
    counts: counters,
    log,
  })
  const trustMs = trustSeconds(settings) * 1000
  const freshness: Freshness = {
    get loaded() {
      return follower.loaded
    },
    get together() {
      return supervisor.open
    },
    get leaseExpiresAt() {
      return follower.knownCurrentAt + trustMs
    },
    get catalog() {
      return follower.catalog
    },
  }
  const native = new NativePublisher(counters, usage, () => freshness.leaseExpiresAt)
  const keptTokens = new KeptTokens(() => freshness.leaseExpiresAt)
  const tokens = new TokenCache(
    tokenFinder(store, rows),
    usage,
    (plaintext) => native.forgetToken(plaintext),
    (digest) => keptTokens.find(digest),
    () => counters.tokenEvictions++,
  )
  const signed = new SignedUrls((text) => native.forgetSignature(text))
  const followedTokens: FollowedTokens = {
    invalidate(digest) {
      keptTokens.forget(digest)
      tokens.invalidate(digest)
      supervisor.tokenForgotten(digest)
    },
    invalidateAll() {
      keptTokens.end()
      tokens.invalidateAll()
      supervisor.tokenForgotten(null)
    },
  }
  const disks = new DiskGate({ log, threads: threadPoolSize() })
  const mbtiles = new MbtilesReaders({
    onHang: ({ path }) =>
      log.error(
        { archive: path },
        'an archive does not respond; requests for its tiles that are not in memory are refused',
      ),
    onAnswer: ({ path }) => log.info({ archive: path }, 'an archive responds again'),
    prefix: () => dieWithParent('KILL'),
  })
  const onReplaced = (contentId: number) => follower.renewContent(contentId)
  const styleAssets = new StyleAssets(path.join(settings.dataDir, 'cache', 'styles'), log, disks)
  const pictures = new Pictures({
    settings,
    log,
    signed,
    fontRevision: () => styleAssets.revisionOf(follower.catalog),
    draw: (task, caller) => supervisor.draw(task, caller),
  })
  const { databases, open } = openDatabases(
    store,
    () => follower.catalog,
    (code) => hotTiles.dropOf(code),
  )
  const openCached = (cached: CachedReader | null) =>
    openRemote({ settings, log, counters, mbtiles, onReplaced }, cached)
  const tiles = new TileLoader({ disks, mbtiles, pictures }, undefined, openCached, open, (remote, cached) =>
    openUpstream({ settings, log, counters, store }, remote, cached),
  )
  const onApplied = () => {
    tiles.keepOnly(follower.catalog)
    void loop.confirm()
  }
  const hotTiles = new HotTiles(
    native,
    Math.floor(settings.tileMemoryBytes / settings.edgeWorkers),
    () => counters.tileEvictions++,
  )
  const onCatalog = (catalog: Catalog) => hotTiles.follow(catalog)
  const ownReader = new StoreReader(store, rows)
  const reader = settings.edgeWorkers > 1 ? supervisor.reader(ownReader) : ownReader
  const follower: CatalogReplica = new CatalogReplica(
    reader,
    followedTokens,
    () => performance.now(),
    onApplied,
    onCatalog,
    (secrets) => signed.setKeys(secrets),
  )
  const presenceId = randomUUID()
  let haveLoaded: (from: 'store' | 'kept') => void = () => {}
  let haveNothing: () => void = () => {}
  const loaded = new Promise<'store' | 'kept'>((resolve) => {
    haveLoaded = resolve
  })
  const waitedInVain = new Promise<void>((resolve) => {
    haveNothing = () => setTimeout(resolve, LISTEN_WITHOUT_CATALOG_MS).unref()
  })
  const loop: ReplicationLoop = new ReplicationLoop({
    store,
    follower,
    redisUrl: settings.redisUrl,
    staleMs: settings.tokenStaleSeconds * 1000,
    trustMs,
    presence: {
      id: presenceId,
      host: hostname(),
      pid: process.pid,
      version: ownVersion(),
      started_at: new Date().toISOString(),
    },
    traffic: () => ({
      ...counters.traffic(),
      remote_cache: remoteCacheOf(tiles.remote, counters),
      memory_bytes: process.memoryUsage.rss(),
    }),
    async kept() {
      const kept = await supervisor.kept()
      if (kept === null) return null
      keptTokens.begin(kept.tokens)
      return { ...kept, currentAt: kept.currentAtHostMs - HOST_CLOCK_OFFSET }
    },
    onLoaded: (from) => {
      keepHeapSmall(false)
      supervisor.loaded(presenceId)
      haveLoaded(from)
    },
    onNothingToLoad: () => haveNothing(),
    onFollowed: () => keptTokens.end(),
    log,
  })
  const sender = new FileSender({
    log,
    idleSeconds: Math.ceil(settings.keepAliveSeconds),
    native: settings.nativeTier,
  })
  const upstream = new Upstream(controlPlaneUrl(settings))
  const registry = new Registry()
  surroundings(registry, settings)
  const gauges = {
    appliedRevision: () => follower.appliedRevision,
    tileBytes: () => hotTiles.bytes,
    tileMemoryBytes: () => hotTiles.capacityBytes,
    cachedTokens: () => tokens.size,
    openTransfers: () => sender.stats().active,
    syncAgeSeconds: () => (follower.loaded ? (performance.now() - follower.knownCurrentAt) / 1000 : process.uptime()),
    storeUp: () => loop.storeUp,
    busUp: () => loop.busUp,
    upstreamRequests: () => upstream.used,
    remote: () => tiles.remote,
    upstream: () => tiles.upstream,
    missingGlyphs: () => styleAssets.missingGlyphs,
    fileTier: () => sender.tier,
    version: ownVersion,
  }
  const metrics = createProcessMetrics(counters, gauges, registry)
  const tracer = await openTracer({
    protocol: settings.tracing,
    service: 'gateway-edge',
    version: ownVersion(),
    onTrouble: (error) => log.warn({ err: error }, 'traces cannot be sent'),
  })
  const turns = new Turns()
  const edge: Edge = {
    settings,
    log,
    counters,
    usage: counted,
    access: accessOf(settings, log, native),
    tracer,
    metrics,
    freshness,
    tokens,
    signed,
    rates: new RateLimiter((requests) => loop.takePermits(requests), settings.edgeWorkers),
    disks,
    tiles,
    hotTiles,
    readTroubles: new ReadTroubles(log),
    native,
    turns,
    documents: new DocumentCache(turns, disks, path.join(settings.dataDir, 'cache', 'documents')),
    zips: new ZipStore(path.join(settings.dataDir, 'cache', 'zips'), log, disks),
    styleAssets,
    pictures,
    maps: new MapDrawer(),
    features: new VectorFeatures({
      folder: path.join(settings.dataDir, 'cache', 'derived'),
      maxBytes: settings.derivedBytes,
      tiles,
      current: (code) => freshness.catalog.vectors.get(code),
      databases,
    }),
    sender,
    upstream,
    upstreamKey: null,
    totals: () => totalsOrOwn(supervisor, metrics),
    draining: false,
  }
  supervisor.onWithdraw((ids) => loop.withdraw(ids))
  loop.start()
  const learned = learnUpstreamKey(edge, store)
  // If the store is unreachable there is no key either, and proxied requests would return 503 anyway.
  const canServe = loaded.then((from) => (from === 'store' ? learned : undefined))
  const server = await prepareServer(edge)
  supervisor.report(metrics, () => counters.traffic().requests)
  void listenAfter(Promise.race([canServe, waitedInVain]), edge, server).then(() => supervisor.listening())
  const saveUsage = (everything: boolean) => {
    native.noteUses()
    // biome-ignore lint/plugin: calendar, last_used_at
    return usage.flush((used) => store.query((sql) => noteTokensUsed(sql, used)), Date.now(), everything)
  }
  const flusher = setInterval(saveUsage, USAGE_FLUSH_MS, false)
  const tellUsage = async (): Promise<void> => {
    // biome-ignore lint/plugin: calendar, usage is by the hour and day
    const now = Date.now()
    const batches = [
      counted.take(native.takeUsage(), now, follower.catalog.canaries.length > 0),
      tileCounts.take(native.takeTiles(), follower.catalog, now),
    ]
    await Promise.all(batches.map((batch) => (batch === null ? null : supervisor.sendUsage(batch))))
  }
  const teller = setInterval(() => void tellUsage(), USAGE_INTERVAL_MS)
  return {
    giveNotice: () => server.giveNotice(),
    async stop() {
      clearInterval(flusher)
      clearInterval(teller)
      await server.drain(settings.drainSeconds)
      await supervisor.sendReport()
      await tellUsage()
      await saveUsage(true)
      if (await loop.stop()) supervisor.withdrawn()
      await Promise.allSettled([
        edge.upstream.close(),
        edge.zips.close(),
        edge.styleAssets.close(),
        store.close(),
        replica?.close(),
        tracer.close(),
      ])
      edge.features.close()
      edge.maps.close()
      tiles.closeAll()
    },
  }
}

function accessOf({ accessLogEvery, trustedProxies }: Settings, log: Log, native: NativePublisher): Access | null {
  return accessLogEvery === 0 ? null : new Access(new AccessLog(log, accessLogEvery), native, trustedProxies)
}

async function listenAfter(moment: Promise<unknown>, edge: Edge, server: HttpServer): Promise<void> {
  await moment
  const { apiHost, apiPort } = edge.settings
  if (!edge.draining) await server.listen(listenHost(apiHost), apiPort)
}

const KEY_RETRY_MS = 250

/** The key is in the store, which may start later than this process. */
async function learnUpstreamKey(edge: Edge, store: StoreLink): Promise<void> {
  while (edge.upstreamKey === null && !edge.draining) {
    try {
      edge.upstreamKey = (await store.query(readInstanceKeys)).edgeLink
    } catch {
      // Not readable yet, which the follow loop logs.
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
