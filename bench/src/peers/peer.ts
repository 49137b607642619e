import type { DataSet } from '../data/data-set.js'
import type { Address } from '../data/traffic.js'
import type { Cores } from '../machine.js'

/** What the data set has, by the names of its basemaps. */
export type Basemap = 'mix' | 'mixmb' | 'mixpm' | 'cold' | `b${string}`

/** A server of the comparison that runs and answers. */
export interface RunningPeer {
  readonly name: string
  /** name and version of what serves, with the settings that matter */
  readonly description: string
  readonly port: number
  /** every process of the server */
  pids(): number[]
  /** null: this server does not have the basemap, or cannot serve it in this way */
  tilePath(basemap: Basemap, tile: Address): string | null
  /** null: no downloads */
  downloadPath(vector: string): string | null
  /** false: the length alone is right */
  readonly sendsStoredBytes: boolean
  /** header lines that every request carries */
  readonly headers: readonly string[]
  stop(): Promise<void>
}

export interface PeerOptions {
  readonly data: DataSet
  readonly cores: Cores | null
}

/** A server that may be on this machine. `start` answers why not where it is not. */
export interface Peer {
  readonly name: string
  start(options: PeerOptions): Promise<RunningPeer | string>
}
