import { AggregatorRegistry } from 'prom-client'
import type { MetricsReport } from './durations.js'

/**
 * The sums over all edge processes of a host, those that have died included: what a dead process had counted stays counted, so that no
 * sum ever falls while the supervisor lives.
 */
export class Totals {
  readonly #latest = new Map<number, MetricsReport>()
  readonly #reports = new Map<number, number>()
  #ofTheDead: MetricsReport = []

  /** The newest report of a living process; `key` is any number that names it. */
  keep(key: number, report: MetricsReport): void {
    this.#latest.set(key, report)
    this.#reports.set(key, this.reportsOf(key) + 1)
  }

  /** How many reports of a process have come. */
  reportsOf(key: number): number {
    return this.#reports.get(key) ?? 0
  }

  /** A process has ended: its counters are kept, its gauges go with it. */
  async retire(key: number): Promise<void> {
    const last = this.#latest.get(key)
    this.#latest.delete(key)
    this.#reports.delete(key)
    if (last === undefined) return
    const counted = last.filter((metric) => isCounting(metric.type))
    this.#ofTheDead = await AggregatorRegistry.aggregate([this.#ofTheDead, counted]).getMetricsAsJSON()
  }

  /** The exposition text of all sums, with what the supervisor itself knows. */
  async text(own: readonly string[]): Promise<string> {
    const sums = AggregatorRegistry.aggregate([this.#ofTheDead, ...this.#latest.values()])
    return `${(await sums.metrics()).trimEnd()}\n${own.join('\n')}\n`
  }
}

function isCounting(type: unknown): boolean {
  return type === 'counter' || type === 'histogram'
}

/** One gauge or counter without labels, in the Prometheus text format 0.0.4. */
export function exposition(type: 'gauge' | 'counter', name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}`
}
