import type { MetricsReport } from './durations.js'

/**
 * The sums over all edge processes of a host, including those that have died: their counts stay, so that no sum ever decreases while
 * the supervisor lives.
 */
export class Totals {
  readonly #latest = new Map<number, MetricsReport>()
  readonly #reports = new Map<number, number>()
  #ofTheDead: MetricsReport = []

  /** Stores the newest report of a living process; `key` is any number that identifies it. */
  keep(key: number, report: MetricsReport): void {
    this.#latest.set(key, report)
    this.#reports.set(key, this.reportsOf(key) + 1)
  }

  /** Returns the number of reports of a process. */
  reportsOf(key: number): number {
    return this.#reports.get(key) ?? 0
  }

  /** Must be called when a process has ended: keeps its counters, and drops its gauges. */
  async retire(key: number): Promise<void> {
    const last = this.#latest.get(key)
    this.#latest.delete(key)
    this.#reports.delete(key)
    if (last === undefined) return
    const counted = last.filter((metric) => isCounting(metric.type))
    this.#ofTheDead = await (await sumOf(() => [this.#ofTheDead, counted])).getMetricsAsJSON()
  }

  /** Returns the exposition text of all sums, with the supervisor's own values. */
  async text(own: readonly string[]): Promise<string> {
    const sums = await sumOf(() => [this.#ofTheDead, ...this.#latest.values()])
    return `${(await sums.metrics()).trimEnd()}\n${own.join('\n')}\n`
  }
}

/** Loads the registry with the first sum: the supervisor needs it only for a scrape, or when a worker has ended. */
async function sumOf(reports: () => MetricsReport[]) {
  const { AggregatorRegistry } = await import('prom-client')
  return AggregatorRegistry.aggregate(reports())
}

function isCounting(type: unknown): boolean {
  return type === 'counter' || type === 'histogram'
}

/** Returns one gauge or counter without labels, in the Prometheus text format 0.0.4. */
export function exposition(type: 'gauge' | 'counter', name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}`
}
