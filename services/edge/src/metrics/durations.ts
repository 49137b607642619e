import { ANSWER_TIME_BOUNDS } from '@gateway/contracts/traffic.js'
import type { TimedAnswers } from '@gateway/native-edge/hot-tiles/response-counts.js'
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from 'prom-client'

/** The metrics of one process in the form that prom-client passes between processes. */
export type MetricsReport = MetricObjectWithValues<MetricValue<string>>[]

/**
 * Times of responses, as plain numbers: a sampled response can count for all those that it represents, unlike in prom-client's histogram.
 */
export class Durations {
  /** By ANSWER_TIME_BOUNDS, each response in one bucket; the last bucket is for longer times. */
  readonly #counts = new Array<number>(ANSWER_TIME_BOUNDS.length + 1).fill(0)
  #seconds = 0

  /** @param weight number of responses that this sample represents */
  add(seconds: number, weight = 1): void {
    let i = 0
    while (i < ANSWER_TIME_BOUNDS.length && seconds > (ANSWER_TIME_BOUNDS[i] as number)) i++
    this.#counts[i] = (this.#counts[i] as number) + weight
    this.#seconds += seconds * weight
  }

  /** @param weight number of responses that each of these represents */
  addAll({ seconds, counts }: TimedAnswers, weight: number): void {
    this.#seconds += seconds * weight
    for (const [i, count] of counts.entries()) this.#counts[i] = (this.#counts[i] ?? 0) + count * weight
  }

  /** Counts by ANSWER_TIME_BOUNDS, each response in one bucket; the last bucket is for longer times. */
  get counts(): readonly number[] {
    return this.#counts
  }

  /** Returns the values of a Prometheus histogram of this name. */
  values(name: string, labels: Readonly<Record<string, string>>): MetricValueWithName<string>[] {
    let below = 0
    const buckets = this.#counts.map((count, i) => {
      below += count
      return { metricName: `${name}_bucket`, labels: { le: ANSWER_TIME_BOUNDS[i] ?? '+Inf', ...labels }, value: below }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#seconds },
      { metricName: `${name}_count`, labels, value: below },
    ]
  }
}

/** Returns a histogram in the form that prom-client passes between processes. */
export function histogram(name: string, help: string, values: MetricValueWithName<string>[]): MetricsReport[number] {
  // prom-client declares more properties than it passes: a name of the type, and `collect`.
  return { name, help, type: 'histogram', aggregator: 'sum', values } as unknown as MetricsReport[number]
}
