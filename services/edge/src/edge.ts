import type { AccessToken } from '@gateway/core/access/decide.js'
import type { RateLimiter } from '@gateway/core/access/rate-limiter.js'
import type { Log } from '@gateway/core/logging/log.js'
import type { Settings } from '@gateway/core/settings/load.js'
import type { Tracer } from '@gateway/core/tracing/span.js'
import type { FileSender } from '@gateway/native-edge/transfer/file-sender.js'
import type { SignedUrls } from './auth/signed-urls.js'
import type { TokenCache } from './auth/token-cache.js'
import type { DocumentCache } from './documents/document-cache.js'
import type { Turns } from './documents/turns.js'
import type { VectorFeatures } from './features/vector-features.js'
import type { DiskGate } from './files/disk-gate.js'
import type { Access } from './http/access.js'
import type { MapDrawer } from './maps/map-drawer.js'
import type { Counters } from './metrics/counters.js'
import type { ProcessMetrics } from './metrics/registry.js'
import type { HotTiles } from './native/hot-tiles.js'
import type { NativePublisher } from './native/publisher.js'
import type { Pictures } from './pictures/pictures.js'
import type { Upstream } from './proxy/upstream.js'
import type { StyleAssets } from './styles/style-assets.js'
import { catalogFor } from './sync/canaries.js'
import type { Catalog } from './sync/catalog.js'
import type { ReadTroubles } from './tiles/read-troubles.js'
import type { TileLoader } from './tiles/tile-loader.js'
import type { UsageCounts } from './usage/usage-counts.js'
import type { ZipStore } from './zip/zip-store.js'

/** State of the catalog and the tokens of this process. */
export interface Freshness {
  /** True if a catalog was read at least once. */
  readonly loaded: boolean
  /** True if the other processes of this edge have read theirs too, and its control plane was seen. */
  readonly together: boolean
  /** Time of `performance.now()` until which known tokens are served; extended while the store or the bus answers. */
  readonly leaseExpiresAt: number
  readonly catalog: Catalog
}

const reached = new WeakMap<Catalog, Edge>()

/** Returns the edge for a token: unchanged, or with another catalog if a canary reaches the token. */
export function edgeFor(edge: Edge, token: Pick<AccessToken, 'id'> | null): Edge {
  const { freshness } = edge
  if (freshness.catalog.canaries.length === 0) return edge
  const catalog = catalogFor(freshness.catalog, token)
  if (catalog === freshness.catalog) return edge
  const known = reached.get(catalog)
  if (known !== undefined) return known
  const own: Freshness = {
    get loaded() {
      return freshness.loaded
    },
    get together() {
      return freshness.together
    },
    get leaseExpiresAt() {
      return freshness.leaseExpiresAt
    },
    catalog,
  }
  // All other properties, and their changes, are those of the edge.
  const made = Object.create(edge, { freshness: { value: own } }) as Edge
  reached.set(catalog, made)
  return made
}

/** Everything that the routes of one edge process use. */
export interface Edge {
  readonly settings: Settings
  readonly log: Log
  readonly counters: Counters
  /** Usage that is accounted to tokens, basemaps, versions and vectors. */
  readonly usage: UsageCounts
  /** null: only failed and slow responses are logged. */
  readonly access: Access | null
  readonly tracer: Tracer
  readonly metrics: ProcessMetrics
  readonly freshness: Freshness
  readonly tokens: TokenCache
  readonly signed: SignedUrls
  /** Rates of limited tokens, which are never in the native table. */
  readonly rates: RateLimiter
  /** All work that may wait for a disk runs through this gate, by scan source. */
  readonly disks: DiskGate
  readonly tiles: TileLoader
  readonly hotTiles: HotTiles
  /** Spreads accumulated work over several turns of the event loop. */
  readonly turns: Turns
  /** Finished documents, most of them about the catalog. */
  readonly documents: DocumentCache
  readonly readTroubles: ReadTroubles
  /** Answers hot tiles without JavaScript, if that is possible. */
  readonly native: NativePublisher
  readonly zips: ZipStore
  /** Glyph ranges and sprites. */
  readonly styleAssets: StyleAssets
  /** Pictures of styles. */
  readonly pictures: Pictures
  /** Pictures of maps. */
  readonly maps: MapDrawer
  /** Indexes and queries of vectors, and their downloads in other forms. */
  readonly features: VectorFeatures
  /** Sends file bytes to sockets by the fastest way that works here. */
  readonly sender: FileSender
  readonly upstream: Upstream
  /** Key that proves to the control plane that a request comes through an edge; null until the store was reached. */
  upstreamKey: string | null
  /** The exposition text of all edge processes of this host. */
  readonly totals: () => Promise<string>
  /** True if this process is about to end: it is not ready, and responses have `Connection: close`. */
  draining: boolean
}
