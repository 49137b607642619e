import type { AccessToken } from '@gateway/core/access/decide.js'
import { RateLimiter } from '@gateway/core/access/rate-limiter.js'
import { createToken, tokenDigest } from '@gateway/core/access/token-format.js'
import type { AccessLog } from '@gateway/core/logging/access-log.js'
import { createLog, type Log } from '@gateway/core/logging/log.js'
import { loadSettings } from '@gateway/core/settings/load.js'
import type { Tracer } from '@gateway/core/tracing/span.js'
import { NO_TRACER } from '@gateway/core/tracing/tracer.js'
import { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import { MbtilesReaders } from '@gateway/tilesets/mbtiles/readers/readers.js'
import type { CachedReader } from '@gateway/tilesets/source.js'
import { SMALL_BYTES } from '@gateway/tilesets/source.js'
import { SignedUrls } from '../auth/signed-urls.js'
import { TokenCache } from '../auth/token-cache.js'
import { TokenUsage } from '../auth/token-usage.js'
import { DocumentCache } from '../documents/document-cache.js'
import { Turns } from '../documents/turns.js'
import type { Edge } from '../edge.js'
import { openDatabases } from '../features/open-databases.js'
import { VectorFeatures } from '../features/vector-features.js'
import { DiskGate } from '../files/disk-gate.js'
import { Access } from '../http/access.js'
import { type HttpServer, prepareServer } from '../http/server.js'
import { MapDrawer } from '../maps/map-drawer.js'
import { Counters } from '../metrics/counters.js'
import { createProcessMetrics } from '../metrics/registry.js'
import { HotTiles } from '../native/hot-tiles.js'
import { NativePublisher } from '../native/publisher.js'
import { Pictures, type PicturesNeeds } from '../pictures/pictures.js'
import { Upstream } from '../proxy/upstream.js'
import { StyleAssets } from '../styles/style-assets.js'
import { type Catalog, withNewContent } from '../sync/catalog.js'
import type { StoreLink } from '../sync/store-link.js'
import { openRemote, openUpstream } from '../tiles/open-remote.js'
import { ReadTroubles } from '../tiles/read-troubles.js'
import { TileLoader } from '../tiles/tile-loader.js'
import { TILE_SAMPLING, TileCounts } from '../usage/tile-counts.js'
import { type UsageBatch, UsageCounts, usageRows } from '../usage/usage-counts.js'
import { ZipStore } from '../zip/zip-store.js'

const TILE_MEMORY_BYTES = 128 * 1024 * 1024

export interface RunningEdge {
  readonly edge: Edge
  readonly server: HttpServer
  readonly url: string
  /** A token that may read everything. */
  readonly token: string
  /** Tokens of the store, by digest. */
  readonly storedTokens: Map<string, AccessToken>
  readonly usage: TokenUsage
  readonly tileCounts: TileCounts
}

/** Runs one edge process's server, in this process, over an unchanging catalog and a store that knows one token. */
export async function runEdge(options: {
  readonly port: number
  readonly catalog: Catalog
  readonly dataDir: string
  readonly controlPlane: string
  /** Threads of this process's pool; default: that of libuv. */
  readonly threads?: number
  /** Bytes for tiles; so few that no tile fits if each must be read. */
  readonly tileMemoryBytes?: number
  readonly accessLog?: AccessLog
  readonly tracer?: Tracer
  readonly log?: Log
  /** True if addresses of tokens are recorded, for which JavaScript sees some requests that the table could answer; default: false. */
  readonly tokenAddresses?: boolean
  /** Time after which a client that reads nothing is cut; default: that of the sender. */
  readonly stallSeconds?: number
  /** Size in bytes from which tiles are sent by reference to their file; default: no tile that is otherwise kept in memory. */
  readonly copyBelow?: number
  /** Draws pictures of styles; default: there is no renderer. */
  readonly draw?: PicturesNeeds['draw']
  /** Limits of pictures of maps; default: those of an edge. */
  readonly maps?: ConstructorParameters<typeof MapDrawer>[0]
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>
  /** how services of others are reached, in place of the store */
  readonly services?: { readonly store: Pick<StoreLink, 'query'> }
}): Promise<RunningEdge> {
  const token = createToken()
  const counters = new Counters()
  const log = options.log ?? createLog('edge', 'silent')
  const metrics = createProcessMetrics(counters, {
    appliedRevision: () => 0,
    tileBytes: () => ({ native: 0, javascript: 0 }),
    tileMemoryBytes: () => 0,
    cachedTokens: () => 0,
    openTransfers: () => 0,
    syncAgeSeconds: () => 0,
    storeUp: () => true,
    busUp: () => true,
    upstreamRequests: () => ({}),
    remote: () => edge.tiles.remote,
    upstream: () => edge.tiles.upstream,
    missingGlyphs: () => 0,
    fileTier: () => 'copy',
    version: () => '0',
  })
  const usage = new TokenUsage(options.tokenAddresses ?? false)
  const tileCounts = new TileCounts(TILE_SAMPLING)
  const native = new NativePublisher(counters, usage, () => edge.freshness.leaseExpiresAt)
  const storedTokens = new Map([[tokenDigest(token).toString('hex'), READER]])
  const mbtiles = new MbtilesReaders({ onHang: () => {}, onAnswer: () => {} })
  const disks = new DiskGate({ log, threads: options.threads ?? 4 })
  const settings = loadSettings({
    API_PORT: String(options.port),
    CONFIG_FILE: '/nonexistent',
    DATA_DIR: options.dataDir,
    // A renderer of this machine would list the pictures of every style and vector.
    RENDERING: String(options.draw !== undefined),
    ...options.env,
  })
  const freshness = {
    loaded: true,
    together: true,
    leaseExpiresAt: Number.POSITIVE_INFINITY,
    catalog: options.catalog,
  }
  const onReplaced = (contentId: number) => {
    freshness.catalog = withNewContent(freshness.catalog, contentId)
    edge.hotTiles.follow(freshness.catalog)
  }
  const turns = new Turns()
  const signed = new SignedUrls((text) => native.forgetSignature(text))
  const styleAssets = new StyleAssets(`${options.dataDir}/styles`, log, disks)
  const fontRevision = () => styleAssets.revisionOf(freshness.catalog)
  const draw = options.draw ?? (async () => 'busy' as const)
  const pictures = new Pictures({ settings, log, signed, fontRevision, draw })
  const noStore = { query: () => Promise.reject(new Error('this edge has no store')) }
  const { databases, open } = openDatabases(
    noStore,
    () => freshness.catalog,
    (code) => edge.hotTiles.dropOf(code),
  )
  const openCached = (cached: CachedReader | null) =>
    openRemote({ settings, log, counters, mbtiles, onReplaced }, cached)
  const tiles = new TileLoader({ disks, mbtiles, pictures }, undefined, openCached, open, (remote, cached) =>
    openUpstream({ settings, log, counters, store: noStore, ...options.services }, remote, cached),
  )
  const edge: Edge = {
    settings,
    log,
    counters,
    usage: new UsageCounts(tileCounts),
    access: options.accessLog === undefined ? null : new Access(options.accessLog, native, []),
    tracer: options.tracer ?? NO_TRACER,
    metrics,
    freshness,
    tokens: new TokenCache(
      async () => new Map(storedTokens),
      usage,
      (plaintext) => native.forgetToken(plaintext),
    ),
    signed,
    rates: new RateLimiter(() => Promise.reject(new Error('no bus')), 1),
    disks,
    tiles,
    readTroubles: new ReadTroubles(log),
    hotTiles: new HotTiles(native, options.tileMemoryBytes ?? TILE_MEMORY_BYTES),
    native,
    turns,
    documents: new DocumentCache(turns, disks, `${options.dataDir}/documents`),
    zips: new ZipStore(`${options.dataDir}/zips`, log, disks),
    styleAssets,
    pictures,
    maps: new MapDrawer(options.maps),
    features: new VectorFeatures({
      folder: `${options.dataDir}/derived`,
      maxBytes: settings.derivedBytes,
      tiles,
      current: (code) => freshness.catalog.vectors.get(code),
      databases,
    }),
    sender: new FileSender({
      log,
      native: settings.nativeTier,
      stallSeconds: options.stallSeconds,
      idleSeconds: settings.keepAliveSeconds,
      copyBelow: options.copyBelow ?? SMALL_BYTES + 1,
    }),
    upstream: new Upstream(options.controlPlane),
    upstreamKey: 'the edge key',
    totals: async () => 'totals',
    draining: false,
  }
  const server = await prepareServer(edge)
  await server.listen('127.0.0.1', options.port)
  return { edge, server, url: `http://127.0.0.1:${options.port}`, token, storedTokens, usage, tileCounts }
}

/** Returns the accounted usage since the last call, sorted. */
export function takeUsage({ edge }: RunningEdge): string[] {
  return sortedRows(edge.usage.take(edge.native.takeUsage(), 0))
}

/** Returns the map cells of requested tiles since the last call, sorted. */
export function takeCells({ edge, tileCounts }: RunningEdge): string[] {
  return sortedRows(tileCounts.take(edge.native.takeTiles(), edge.freshness.catalog, 0))
}

function sortedRows(batch: UsageBatch | null): string[] {
  // Without the times of refusals, which are those of the requests.
  const told = (batch === null ? [] : usageRows(batch)).map(({ refusals = {}, ...row }) => ({
    ...row,
    refusedBy: Object.entries(refusals)
      .map(([reason, { requests }]) => [reason, requests])
      .sort(),
  }))
  return told.map((row) => JSON.stringify(row)).sort()
}

export const READER: AccessToken = {
  id: 'reader',
  prefix: 'bmp_reader',
  scopes: new Set(['read']),
  basemaps: new Set(['*']),
  vectors: new Set(['*']),
  layers: new Set(['*']),
  expiresAtMs: null,
  disabled: false,
  limits: null,
}
