import { Durations, histogram, type MetricsReport } from './durations.js'

/**
 * Storage of a tile: in memory, in the page cache, or elsewhere, so that a thread or the reader of MBTiles loaded it.
 */
export type TileSource = 'memory' | 'page_cache' | 'thread'

const NAME = 'gateway_tile_duration_seconds'
const HELP =
  'Time to respond with a tile, by its place, until its first bytes were passed to the socket; of those that the native code serves, one in 64 ' +
  'is timed and counts for all'

export class TileTimes {
  readonly #durations: Readonly<Record<TileSource, Durations>> = {
    memory: new Durations(),
    page_cache: new Durations(),
    thread: new Durations(),
  }

  of(source: TileSource): Durations {
    return this.#durations[source]
  }

  report(): MetricsReport[number] {
    const values = Object.entries(this.#durations).flatMap(([source, durations]) => durations.values(NAME, { source }))
    return histogram(NAME, HELP, values)
  }
}
