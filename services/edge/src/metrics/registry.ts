import { readdirSync, readFileSync, statSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { CircuitState } from '@gateway/core/object-storage/object-store.js'
import type { RemoteSources } from '@gateway/tilesets/remote/remote-sources.js'
import type { UpstreamSources } from '@gateway/tilesets/upstream/upstream-sources.js'
import { Counter, Gauge, Registry } from 'prom-client'
import type { Counters } from './counters.js'
import { REQUEST_KINDS } from './counters.js'
import { histogram, type MetricsReport } from './durations.js'

/** Values that are read at each scrape, in addition to the counters. */
export interface Gauges {
  appliedRevision(): number
  /** Memory of tiles, by cache. */
  tileBytes(): Readonly<Record<'native' | 'javascript', number>>
  tileMemoryBytes(): number
  cachedTokens(): number
  openTransfers(): number
  /** Time in seconds since this process last knew that its state was complete. */
  syncAgeSeconds(): number
  storeUp(): boolean
  busUp(): boolean
  /** Requests that the control plane has not answered yet, by kind of connection. */
  upstreamRequests(): Readonly<Record<string, number>>
  /** Characters that no font has, in glyph ranges that were made. */
  missingGlyphs(): number
  /** undefined if no service is asked. */
  upstream(): UpstreamSources | undefined
  /** undefined if no remote source is read. */
  remote(): RemoteSources | undefined
  /** Name of the tier that sends file bytes to sockets. */
  fileTier(): string
  version(): string
}

/** One number, or a number for each value of a label. */
type Value = number | Readonly<Record<string, number>>

export interface ProcessMetrics {
  report(): Promise<MetricsReport>
}

const DURATION = 'gateway_request_duration_seconds'
const STORAGE_DURATION = 'gateway_storage_request_duration_seconds'
const SERVICE_DURATION = 'gateway_upstream_service_duration_seconds'
const DURATION_HELP =
  'Time from the end of the request head to the first byte of the response; one in 64 tiles from memory is timed and counts for all'

/**
 * Returns the Prometheus metrics of one process's counters, in addition to those of `registry`; values are copied from the plain numbers only at a
 * scrape.
 */
export function createProcessMetrics(
  counters: Counters,
  gauges: Gauges,
  registry: Registry = new Registry(),
): ProcessMetrics {
  const counter = (name: string, help: string, value: () => Value, label?: string): void => {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset()
        for (const [labels, n] of samples(value(), label)) this.inc(labels, n)
      },
    })
  }
  const gauge = (
    name: string,
    help: string,
    aggregator: 'sum' | 'min' | 'max',
    value: () => Value,
    label?: string,
  ): void => {
    new Gauge({
      name,
      help,
      aggregator,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect() {
        this.reset()
        for (const [labels, n] of samples(value(), label)) this.set(labels, n)
      },
    })
  }
  counter('gateway_requests_total', 'Requests that reached the edge', () => counters.requests)
  counter('gateway_tiles_total', 'Tile requests that returned a tile (200 or 304)', () => counters.tiles)
  counter('gateway_tile_404_total', 'Tile requests for a tile that does not exist', () => counters.missingTiles)
  counter(
    'gateway_downloads_total',
    'Vector downloads that returned content (200, 206 or 304)',
    () => counters.downloads,
  )
  counter(
    'gateway_glyphs_missing_total',
    'Characters that no font has, drawn as boxes in glyph ranges that were made',
    () => gauges.missingGlyphs(),
  )
  counter('gateway_passthrough_total', 'Requests passed on to the control plane', () => counters.passedThrough)
  counter('gateway_server_errors_total', 'Responses of the edge with a 5xx status', () => counters.serverErrors)
  counter('gateway_sent_bytes_total', 'Body bytes passed to sockets', () => counters.bytesSent)
  counter('gateway_token_cache_hits_total', 'Tokens found in memory', () => counters.tokenHits)
  counter('gateway_token_cache_misses_total', 'Tokens looked up in the store', () => counters.tokenMisses)
  counter('gateway_hot_tile_hits_total', 'Tiles served from memory', () => counters.hotTileHits)
  counter(
    'gateway_tile_cache_hits_total',
    'Tiles served from memory, by the cache: the native table or that of JavaScript',
    () => ({
      native: counters.nativeTileHits,
      javascript: counters.hotTileHits - counters.nativeTileHits,
    }),
    'cache',
  )
  const evictions = () => ({ native: counters.nativeEvictions, javascript: counters.tileEvictions })
  counter('gateway_tile_cache_evictions_total', 'Tiles that were evicted from memory', evictions, 'cache')
  counter('gateway_token_cache_evictions_total', 'Tokens that were evicted from memory', () => counters.tokenEvictions)
  counter(
    'gateway_replica_reads_total',
    'Reads for which DATABASE_READ_URL is set, by the server that responded: the replica, or the primary because the replica was behind or ' +
      'failed',
    () => ({ replica: counters.replicaReads, behind: counters.replicaBehind, failed: counters.replicaFailed }),
    'outcome',
  )
  counter(
    'gateway_tile_answers_total',
    'Tile requests that returned a tile, by its place: in memory, in the page cache, or elsewhere, so that a thread or the reader of MBTiles ' +
      'loaded it',
    () => {
      const { tiles, hotTileHits, threadedTiles } = counters
      return { memory: hotTileHits, page_cache: tiles - hotTileHits - threadedTiles, thread: threadedTiles }
    },
    'source',
  )
  counter(
    'gateway_tile_cache_misses_total',
    'Tiles that were loaded from their storage to be served',
    () => counters.tiles - counters.hotTileHits,
  )
  counter(
    'gateway_stalled_readers_total',
    'Connections cut because the client did not read',
    () => counters.stalledReaders,
  )
  counter('gateway_truncated_files_total', 'Files that ended while being sent', () => counters.truncatedFiles)
  counter(
    'gateway_threaded_tile_loads_total',
    'Tiles that were not in the memory of this machine, or are on a remote file system',
    () => counters.threadedTileLoads,
  )
  counter(
    'gateway_disk_refusals_total',
    'Requests that returned 503 because a disk did not respond',
    () => counters.diskRefusals,
  )
  counter(
    'gateway_rate_limited_total',
    'Requests that returned 429 because the limit of their token was reached',
    () => counters.rateLimited,
  )
  counter(
    'gateway_storage_refusals_total',
    'Requests that returned 503 because object storage did not respond, or refused',
    () => counters.storageRefusals,
  )
  counter(
    'gateway_upstream_service_requests_total',
    'Requests to services of others',
    () => counters.upstreamRequests,
    'status',
  )
  counter('gateway_storage_requests_total', 'Requests to object storage', () => counters.storageRequests, 'status')
  const cache = () => gauges.remote()?.cache.counts
  counter(
    'gateway_remote_cache_lookups_total',
    'Blocks of remote archives, and tiles of remote folders, that this process did not know to be on disk: found there, or fetched',
    () => ({ hit: cache()?.hits ?? 0, miss: cache()?.misses ?? 0 }),
    'result',
  )
  counter(
    'gateway_remote_cached_tiles_total',
    'Tiles of remote archives that were read from disk',
    () => counters.remoteTiles + (cache()?.servedTiles ?? 0),
  )
  counter(
    'gateway_remote_saved_bytes_total',
    'Bytes of tiles of remote archives that were read from disk and not fetched',
    () => counters.remoteTileBytes + (cache()?.servedBytes ?? 0),
  )
  counter('gateway_remote_fetched_bytes_total', 'Bytes fetched from object storage', () => cache()?.fetchedBytes ?? 0)
  counter(
    'gateway_remote_cache_evictions_total',
    'Files that were evicted from the cache on disk',
    () => cache()?.evictions ?? 0,
  )
  counter(
    'gateway_auth_failures_total',
    'Requests refused for their credentials, here or by the control plane',
    () => counters.authFailures,
    'reason',
  )
  new Counter({
    name: 'gateway_http_responses_total',
    help: 'Responses by class of route and of status; native ones included',
    labelNames: ['kind', 'status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const kind of REQUEST_KINDS) {
        const { success, redirection, clientError, serverError } = counters.answers[kind]
        this.inc({ kind, status: '2xx' }, success)
        this.inc({ kind, status: '3xx' }, redirection)
        this.inc({ kind, status: '4xx' }, clientError)
        this.inc({ kind, status: '5xx' }, serverError)
      }
    },
  })
  gauge('gateway_applied_revision', 'Lowest revision of the change log that a process has applied', 'min', () =>
    gauges.appliedRevision(),
  )
  gauge('gateway_hot_tile_bytes', 'Memory held by hot tiles', 'sum', () => {
    const { native, javascript } = gauges.tileBytes()
    return native + javascript
  })
  gauge('gateway_tile_memory_bytes', 'Maximum memory of hot tiles', 'sum', () => gauges.tileMemoryBytes())
  gauge('gateway_cached_tokens', 'Tokens held in memory', 'sum', () => gauges.cachedTokens())
  gauge('gateway_open_transfers', 'Bodies being sent from files', 'sum', () => gauges.openTransfers())
  gauge('gateway_sync_age_seconds', 'Longest time since a process knew that it holds every change', 'max', () =>
    gauges.syncAgeSeconds(),
  )
  gauge('gateway_store_up', '1 if every process reached the store when it last asked', 'min', () =>
    Number(gauges.storeUp()),
  )
  gauge('gateway_bus_up', '1 if every process hears the bus; on Postgres the bus is the store', 'min', () =>
    Number(gauges.busUp()),
  )
  counter('gateway_process_cpu_seconds_total', 'Processor time of the worker processes', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  gauge('gateway_process_open_fds', 'File descriptors that the worker processes have open', 'sum', openDescriptors)
  const most = maxOpenFiles()
  gauge('gateway_process_max_fds', 'Maximum number of open file descriptors of the worker processes', 'sum', () => most)
  gauge('gateway_resident_memory_bytes', 'Memory of the worker processes', 'sum', residentMemory())
  gauge('gateway_event_loop_delay_seconds', 'Longest delay of an event loop since the last scrape', 'max', loopDelay())
  gauge(
    'gateway_remote_cache_bytes',
    'Disk space of remote tiles when it was last counted',
    'max',
    () => cache()?.keptBytes ?? 0,
  )
  gauge(
    'gateway_remote_cache_limit_bytes',
    'Maximum disk space of remote tiles',
    'max',
    () => gauges.remote()?.cache.capacityBytes ?? 0,
  )
  gauge(
    'gateway_remote_cache_failing',
    '1 if a process could not use TILE_CACHE_DIR',
    'max',
    () => cache()?.failing ?? 0,
  )
  gauge(
    'gateway_storage_circuits',
    'Scan sources in object storage by state: not asked for now (open), tried again, or asked',
    'sum',
    () => circuits(gauges.remote()),
    'state',
  )
  gauge(
    'gateway_upstream_service_circuits',
    'Services of others by state: asked only now and then because they fail (open), or asked',
    'sum',
    () => serviceCircuits(gauges.upstream()),
    'state',
  )
  gauge('gateway_tile_cache_bytes', 'Memory held by tiles, by the cache', 'sum', () => gauges.tileBytes(), 'cache')
  gauge(
    'gateway_upstream_requests',
    'Requests to which the control plane has not responded yet, by kind of connection',
    'sum',
    () => gauges.upstreamRequests(),
    'lane',
  )
  const tier = () => ({ [gauges.fileTier()]: 1 })
  gauge('gateway_file_tier', 'Processes by the way in which file bytes reach sockets', 'sum', tier, 'tier')
  gauge('gateway_build_info', 'Worker processes by version', 'sum', () => ({ [gauges.version()]: 1 }), 'version')
  return {
    report: async () => {
      counters.beforeReading()
      const durations = REQUEST_KINDS.filter((kind) => kind !== 'other').flatMap((kind) =>
        counters.answers[kind].durations.values(DURATION, { kind }),
      )
      const storage = counters.storageDurations.values(STORAGE_DURATION, {})
      const timed = [
        histogram(DURATION, DURATION_HELP, durations),
        counters.tileTimes.report(),
        histogram(
          SERVICE_DURATION,
          'Duration of a request to a service of others',
          counters.upstreamDurations.values(SERVICE_DURATION, {}),
        ),
        histogram(STORAGE_DURATION, 'Duration of a request to object storage', storage),
      ]
      return [...(await registry.getMetricsAsJSON()), ...timed]
    },
  }
}

/** Returns a value's numbers with their labels. */
function samples(value: Value, label = ''): [labels: Record<string, string>, n: number][] {
  if (typeof value === 'number') return [[{}, value]]
  return Object.entries(value).map(([key, n]) => [{ [label]: key }, n])
}

function serviceCircuits(upstream: UpstreamSources | undefined): Record<'open' | 'closed', number> {
  const states = { closed: 0, open: 0 }
  for (const { state } of upstream?.states.values() ?? []) states[state]++
  return states
}

function circuits(remote: RemoteSources | undefined): Record<CircuitState, number> {
  const states = { closed: 0, open: 0, 'half open': 0 }
  for (const { circuit } of remote?.stores.values() ?? []) states[circuit]++
  return states
}

/**
 * Returns the number of open descriptors of this process; NaN if the system does not provide it. Linux 6.2 provides it as a size, which needs
 * no descriptor: the number is most useful when none is left.
 */
function openDescriptors(): number {
  try {
    return statSync('/proc/self/fd').size || readdirSync('/proc/self/fd').length
  } catch {
    return Number.NaN
  }
}

/** Returns the maximum number of descriptors of this process; NaN if the system does not provide it. */
function maxOpenFiles(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.NaN)
  } catch {
    return Number.NaN
  }
}

/** Node opens a file to read it: if no descriptor is left, the previous value is returned. */
function residentMemory(): () => number {
  let last = process.memoryUsage.rss()
  return () => {
    try {
      last = process.memoryUsage.rss()
    } catch {}
    return last
  }
}

/** Sampling interval of the delay in ms. Limit: with a shorter one an idle process would wake up only for this. */
const DELAY_SAMPLE_MS = 50

function loopDelay(): () => number {
  const delays = monitorEventLoopDelay({ resolution: DELAY_SAMPLE_MS })
  delays.enable()
  return () => {
    // The measured value is the time between two samples.
    const seconds = Math.max(0, delays.max / 1e9 - DELAY_SAMPLE_MS / 1000)
    delays.reset()
    return seconds
  }
}
