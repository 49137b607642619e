import { TILE_TIME_BOUNDS, type TimedAnswers } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from 'prom-client'

/** Where a tile was: in memory, in the page cache, or elsewhere, so that a thread or the reader of MBTiles loaded it. */
export type TileSource = 'memory' | 'page_cache' | 'thread'

const NAME = 'gateway_tile_duration_seconds'
const HELP =
  'Time to answer with a tile, by where it was, until its first bytes were handed to the socket; of tiles in memory, and of those that no JavaScript answers, one in 64 is timed and counts for all'

/** As plain numbers, since a timed answer counts for all that it stands for, which prom-client's histogram cannot. */
export class TileTimes {
  readonly #times: Readonly<Record<TileSource, { seconds: number; readonly counts: number[] }>> = {
    memory: none(),
    page_cache: none(),
    thread: none(),
  }

  /** @param weight of how many answers this one is a sample */
  add(source: TileSource, seconds: number, weight = 1): void {
    const times = this.#times[source]
    const bucket = TILE_TIME_BOUNDS.findIndex((bound) => seconds <= bound)
    const at = bucket < 0 ? TILE_TIME_BOUNDS.length : bucket
    times.seconds += seconds * weight
    times.counts[at] = (times.counts[at] ?? 0) + weight
  }

  addAll(source: TileSource, { seconds, counts }: TimedAnswers, weight: number): void {
    const times = this.#times[source]
    times.seconds += seconds * weight
    for (const [at, count] of counts.entries()) times.counts[at] = (times.counts[at] ?? 0) + count * weight
  }

  /** A Prometheus histogram as prom-client hands it from process to process. */
  report(): MetricObjectWithValues<MetricValue<string>> {
    const values = Object.entries(this.#times).flatMap(([source, { seconds, counts }]) => {
      let below = 0
      const buckets: MetricValueWithName<string>[] = counts.map((count, i) => {
        below += count
        const le = TILE_TIME_BOUNDS[i] ?? '+Inf'
        return { metricName: `${NAME}_bucket`, labels: { le, source }, value: below }
      })
      const sum = { metricName: `${NAME}_sum`, labels: { source }, value: seconds }
      return [...buckets, sum, { metricName: `${NAME}_count`, labels: { source }, value: below }]
    })
    // Its declaration says more of what is handed over than there is: a name of the type, and no collect.
    return { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values } as unknown as ReturnType<
      TileTimes['report']
    >
  }
}

function none() {
  return { seconds: 0, counts: new Array<number>(TILE_TIME_BOUNDS.length + 1).fill(0) }
}
