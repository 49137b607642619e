import type { VectorFacts } from '@gateway/contracts/vector.js'
import type { RowOrderTask } from '@gateway/tilesets/rows/find-row-order.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'

/**
 * `empty`: nothing is there. `busy`: another program has locked it. `timeout`: its file system responds, but reading it took too long.
 * `unreadable`: the reader fails on its content.
 */
export type Probed<T> =
  | { readonly state: 'ok'; readonly probe: T }
  | { readonly state: 'broken' | 'unreadable'; readonly why: string }
  | { readonly state: 'empty' }
  | { readonly state: 'busy' | 'timeout' }

export type ProbeResult = Probed<TileSetProbe>
export type GeopackageProbeResult = Probed<VectorFacts>

export interface ProbeTask {
  readonly root: string
  readonly path: string
  /** `file system`: only checks whether the file system responds; the result is then `empty` */
  readonly what: 'tile set' | 'geopackage' | 'tile tables' | 'row order' | 'file system'
  /** tile set whose row order is to be determined */
  readonly rows?: RowOrderTask
}

/** Errors lose their fields between processes, so the relevant ones are sent as a value. */
export type ProbeAnswer<T> = Probed<T> | { readonly state: 'failed'; readonly message: string }
