import type { VectorFacts } from '@gateway/contracts/vector.js'
import type { RowOrderTask } from '@gateway/tilesets/rows/find-row-order.js'
import type { TileSetProbe } from '@gateway/tilesets/tile-set.js'

/**
 * `empty`: nothing there. `busy`: another program has locked it. `timeout`: its file system answers, but reading it took too long. `unreadable`:
 * its content confuses the reader.
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
  /** `file system`: only whether the one that it is on answers; the result is `empty` then */
  readonly what: 'tile set' | 'geopackage' | 'tile tables' | 'row order' | 'file system'
  /** of the tile set whose order of rows is asked for */
  readonly rows?: RowOrderTask
}

/** The fields of an error are lost between processes, so that what matters of it is sent as a value. */
export type ProbeAnswer<T> = Probed<T> | { readonly state: 'failed'; readonly message: string }
