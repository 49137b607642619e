import type { AccessToken } from '@gateway/access/decide.js'
import { createToken, tokenDigest } from '@gateway/access/token-format.js'
import { createLog } from '@gateway/logging/log.js'
import { FileSender } from '@gateway/sendfile/file-sender.js'
import { loadSettings } from '@gateway/settings/load.js'
import { TokenCache } from '../access/token-cache.js'
import { TokenUsage } from '../access/token-usage.js'
import type { Catalog } from '../catalog/catalog.js'
import type { Edge } from '../edge.js'
import { DiskGate } from '../files/disk-gate.js'
import { type HttpServer, startServer } from '../http/server.js'
import { Counters } from '../metrics/counters.js'
import { createProcessMetrics } from '../metrics/registry.js'
import { Upstream } from '../passthrough/upstream.js'
import { HotTiles } from '../tiles/hot-tiles.js'
import { NativeHot } from '../tiles/native-hot.js'
import { OpenedSets } from '../tiles/opened-sets.js'
import { TileLoader } from '../tiles/tile-loader.js'
import { ZipStore } from '../zip/zip-store.js'

export interface RunningEdge {
  readonly edge: Edge
  readonly server: HttpServer
  readonly url: string
  /** a token that may read everything */
  readonly token: string
  /** what the store knows, by digest */
  readonly storedTokens: Map<string, AccessToken>
  readonly usage: TokenUsage
}

/** One edge process's server, in this process, over a catalog that stands still and a store that knows one token. */
export async function runEdge(options: {
  readonly port: number
  readonly catalog: Catalog
  readonly dataDir: string
  readonly controlPlane: string
  /** of this process's pool; what libuv has where nobody said otherwise by default */
  readonly threads?: number
}): Promise<RunningEdge> {
  const token = createToken()
  const counters = new Counters()
  const log = createLog('edge', 'silent')
  const metrics = createProcessMetrics(counters, {
    appliedRevision: () => 0,
    hotTileBytes: () => 0,
    cachedTokens: () => 0,
    openTransfers: () => 0,
    fileTier: () => 'copy',
  })
  const usage = new TokenUsage()
  const nativeHot = new NativeHot(counters, usage, () => edge.freshness.trustedUntilMs)
  const storedTokens = new Map([[tokenDigest(token).toString('hex'), READER]])
  const sets = new OpenedSets()
  const disks = new DiskGate({ log, threads: options.threads ?? 4 })
  const edge: Edge = {
    settings: loadSettings({ API_PORT: String(options.port), CONFIG_FILE: '/nonexistent' }),
    log,
    counters,
    metrics,
    freshness: { loaded: true, together: true, trustedUntilMs: Number.POSITIVE_INFINITY, catalog: options.catalog },
    tokens: new TokenCache(
      async () => new Map(storedTokens),
      usage,
      (plaintext) => nativeHot.forgetToken(plaintext),
    ),
    sets,
    disks,
    tiles: new TileLoader(sets, disks),
    hotTiles: new HotTiles(),
    nativeHot,
    zips: new ZipStore(`${options.dataDir}/zips`, log, disks),
    sender: new FileSender({ log }),
    upstream: new Upstream(options.controlPlane),
    upstreamKey: 'the edge key',
    totals: async () => 'totals',
    draining: false,
  }
  const server = await startServer(edge, '127.0.0.1', options.port)
  return { edge, server, url: `http://127.0.0.1:${options.port}`, token, storedTokens, usage }
}

export const READER: AccessToken = {
  id: 'reader',
  prefix: 'bmp_reader',
  scopes: new Set(['read']),
  basemaps: new Set(['*']),
  vectors: new Set(['*']),
  expiresAtMs: null,
  disabled: false,
}
