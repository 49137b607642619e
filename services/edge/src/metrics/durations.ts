import { ANSWER_TIME_BOUNDS } from '@gateway/contracts/traffic.js'
import type { TimedAnswers } from '@gateway/native-edge/hot-tiles/response-table.js'
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from 'prom-client'

/** The metrics of one process as prom-client hands them from process to process. */
export type MetricsReport = MetricObjectWithValues<MetricValue<string>>[]

/** How long answers took, as plain numbers: a sampled answer can count for all that it stands for, which prom-client's histogram cannot. */
export class Durations {
  /** by ANSWER_TIME_BOUNDS, each answer in one; the last is for those beyond */
  readonly #counts = new Array<number>(ANSWER_TIME_BOUNDS.length + 1).fill(0)
  #seconds = 0

  /** @param weight of how many answers this one is a sample */
  add(seconds: number, weight = 1): void {
    let i = 0
    while (i < ANSWER_TIME_BOUNDS.length && seconds > (ANSWER_TIME_BOUNDS[i] as number)) i++
    this.#counts[i] = (this.#counts[i] as number) + weight
    this.#seconds += seconds * weight
  }

  /** @param weight of how many answers each of these is a sample */
  addAll({ seconds, counts }: TimedAnswers, weight: number): void {
    this.#seconds += seconds * weight
    for (const [i, count] of counts.entries()) this.#counts[i] = (this.#counts[i] ?? 0) + count * weight
  }

  /** By ANSWER_TIME_BOUNDS, each answer in one; the last is for those beyond. */
  get counts(): readonly number[] {
    return this.#counts
  }

  /** As a Prometheus histogram of this name tells them. */
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

/** A histogram as prom-client hands it from process to process. */
export function histogram(name: string, help: string, values: MetricValueWithName<string>[]): MetricsReport[number] {
  // Its declaration says more of what is handed over than there is: a name of the type, and no collect.
  return { name, help, type: 'histogram', aggregator: 'sum', values } as unknown as MetricsReport[number]
}
