import type { Log } from '@gateway/logging/log.js'
import type { FileSender } from '@gateway/sendfile/file-sender.js'
import type { Settings } from '@gateway/settings/load.js'
import type { TokenCache } from './access/token-cache.js'
import type { Catalog } from './catalog/catalog.js'
import type { DiskGate } from './files/disk-gate.js'
import type { Counters } from './metrics/counters.js'
import type { ProcessMetrics } from './metrics/registry.js'
import type { Upstream } from './passthrough/upstream.js'
import type { HotTiles } from './tiles/hot-tiles.js'
import type { NativeHot } from './tiles/native-hot.js'
import type { OpenedSets } from './tiles/opened-sets.js'
import type { TileLoader } from './tiles/tile-loader.js'
import type { ZipStore } from './zip/zip-store.js'

/** How far the catalog and the tokens of this process can be relied upon. */
export interface Freshness {
  /** whether a catalog was ever read */
  readonly loaded: boolean
  /** whether the other processes of this edge have read theirs as well, and its control plane was seen */
  readonly together: boolean
  /** until when known tokens are served, milliseconds since 1970; moves on while the store or the bus answers */
  readonly trustedUntilMs: number
  readonly catalog: Catalog
}

/** What the routes of one edge process work with. */
export interface Edge {
  readonly settings: Settings
  readonly log: Log
  readonly counters: Counters
  readonly metrics: ProcessMetrics
  readonly freshness: Freshness
  readonly tokens: TokenCache
  readonly sets: OpenedSets
  /** what may wait for a disk goes through here, by scan source */
  readonly disks: DiskGate
  readonly tiles: TileLoader
  readonly hotTiles: HotTiles
  /** answers hot tiles without JavaScript, where that is possible */
  readonly nativeHot: NativeHot
  readonly zips: ZipStore
  /** carries file bytes to sockets by the fastest way that works here */
  readonly sender: FileSender
  readonly upstream: Upstream
  /** proves to the control plane that a request comes through an edge; null until the store was reached */
  upstreamKey: string | null
  /** the exposition text of all edge processes of this host */
  readonly totals: () => Promise<string>
  /** answers say `Connection: close` from now on */
  draining: boolean
}
