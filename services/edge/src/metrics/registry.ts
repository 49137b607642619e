import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { Counters } from './counters.js'
import { AUTH_FAILURES } from './counters.js'

/** The metrics of one process as prom-client hands them from process to process. */
export type MetricsReport = MetricObjectWithValues<MetricValue<string>>[]

/** What the exposition asks for at each scrape, beside the counters. */
export interface Gauges {
  appliedRevision(): number
  hotTileBytes(): number
  tileMemoryBytes(): number
  cachedTokens(): number
  openTransfers(): number
  /** since this process last knew that it held everything, in seconds */
  syncAgeSeconds(): number
  /** the way in which file bytes reach sockets */
  fileTier(): string
  version(): string
}

export type RequestKind = 'tile' | 'download' | 'catalog' | 'passthrough'

/** Seconds to the first byte of an answer: from a tile out of memory to a zip that had to be built. */
const DURATION_BUCKETS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

export interface ProcessMetrics {
  report(): Promise<MetricsReport>
  observe(kind: RequestKind, seconds: number): void
}

/** The Prometheus face of one process's counters; values are copied from the plain numbers at a scrape alone. */
export function createProcessMetrics(counters: Counters, gauges: Gauges): ProcessMetrics {
  const registry = new Registry()
  const counter = (name: string, help: string, value: () => number): void => {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(value())
      },
    })
  }
  const gauge = (name: string, help: string, aggregator: 'sum' | 'min' | 'max', value: () => number): void => {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  }
  counter('gateway_requests_total', 'Requests that reached the edge', () => counters.requests)
  counter('gateway_tiles_total', 'Tile requests answered with a tile (200 or 304)', () => counters.tiles)
  counter('gateway_tile_404_total', 'Tile requests for a tile that does not exist', () => counters.missingTiles)
  counter('gateway_downloads_total', 'Vector downloads answered (200, 206 or 304)', () => counters.downloads)
  counter('gateway_passthrough_total', 'Requests handed on to the control plane', () => counters.passedThrough)
  counter('gateway_server_errors_total', 'Answers of the edge with a 5xx status', () => counters.serverErrors)
  counter('gateway_sent_bytes_total', 'Body bytes handed to sockets', () => counters.bytesSent)
  counter('gateway_token_cache_hits_total', 'Tokens found in memory', () => counters.tokenHits)
  counter('gateway_token_cache_misses_total', 'Tokens asked of the store', () => counters.tokenMisses)
  counter('gateway_hot_tile_hits_total', 'Tiles served from memory', () => counters.hotTileHits)
  new Counter({
    name: 'gateway_tile_cache_hits_total',
    help: 'Tiles served from memory, by the cache: the native table or that of JavaScript',
    labelNames: ['cache'],
    registers: [registry],
    collect() {
      this.reset()
      this.inc({ cache: 'native' }, counters.nativeTileHits)
      this.inc({ cache: 'javascript' }, counters.hotTileHits - counters.nativeTileHits)
    },
  })
  new Counter({
    name: 'gateway_tile_answers_total',
    help: 'Tile requests answered with a tile, by where it was: in memory, in the page cache, or elsewhere, so that a thread or the reader of MBTiles loaded it',
    labelNames: ['source'],
    registers: [registry],
    collect() {
      this.reset()
      const { tiles, hotTileHits, threadedTiles } = counters
      this.inc({ source: 'memory' }, hotTileHits)
      this.inc({ source: 'page_cache' }, tiles - hotTileHits - threadedTiles)
      this.inc({ source: 'thread' }, threadedTiles)
    },
  })
  counter(
    'gateway_tile_cache_misses_total',
    'Tiles that were loaded from their storage to be served',
    () => counters.tiles - counters.hotTileHits,
  )
  counter('gateway_stalled_readers_total', 'Connections cut because nobody read', () => counters.stalledReaders)
  counter('gateway_truncated_files_total', 'Files that ended while being sent', () => counters.truncatedFiles)
  counter(
    'gateway_threaded_tile_loads_total',
    'Tiles that were not in the memory of this machine, or are on a file system of another',
    () => counters.threadedTileLoads,
  )
  counter(
    'gateway_disk_refusals_total',
    'Requests answered 503 because a disk did not answer',
    () => counters.diskRefusals,
  )
  new Counter({
    name: 'gateway_auth_failures_total',
    help: 'Requests refused for their credentials, here or by the control plane',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const reason of AUTH_FAILURES) this.inc({ reason }, counters.authFailures[reason])
    },
  })
  gauge('gateway_applied_revision', 'Lowest revision of the change log that a process has applied', 'min', () =>
    gauges.appliedRevision(),
  )
  gauge('gateway_hot_tile_bytes', 'Memory held by hot tiles', 'sum', () => gauges.hotTileBytes())
  gauge('gateway_tile_memory_bytes', 'Memory that hot tiles may take', 'sum', () => gauges.tileMemoryBytes())
  gauge('gateway_cached_tokens', 'Tokens held in memory', 'sum', () => gauges.cachedTokens())
  gauge('gateway_open_transfers', 'Bodies being sent from files', 'sum', () => gauges.openTransfers())
  gauge('gateway_sync_age_seconds', 'Longest time since a process knew that it holds every change', 'max', () =>
    gauges.syncAgeSeconds(),
  )
  gauge('gateway_resident_memory_bytes', 'Memory of the worker processes', 'sum', () => process.memoryUsage.rss())
  gauge('gateway_event_loop_delay_seconds', 'Longest delay of an event loop since the last scrape', 'max', loopDelay())
  const labelled = (name: string, help: string, label: string, value: () => string): void => {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        this.reset()
        this.set({ [label]: value() }, 1)
      },
    })
  }
  labelled('gateway_file_tier', 'Processes by the way in which file bytes reach sockets', 'tier', gauges.fileTier)
  labelled('gateway_build_info', 'Worker processes by version', 'version', gauges.version)
  const duration = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time to the first byte of an answer; tiles out of memory are sampled, one in 64, or not timed where no JavaScript runs for them',
    labelNames: ['kind'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  })
  return {
    report: async () => {
      counters.beforeReading()
      return [...(await registry.getMetricsAsJSON()), counters.tileTimes.report()]
    },
    observe: (kind, seconds) => duration.observe({ kind }, seconds),
  }
}

/** How often the delay is sampled. Limit: finer, and an idle process wakes up for nothing else. */
const DELAY_SAMPLE_MS = 50

function loopDelay(): () => number {
  const delays = monitorEventLoopDelay({ resolution: DELAY_SAMPLE_MS })
  delays.enable()
  return () => {
    // What is measured is the time between two samples.
    const seconds = Math.max(0, delays.max / 1e9 - DELAY_SAMPLE_MS / 1000)
    delays.reset()
    return seconds
  }
}
