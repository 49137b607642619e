import type { ErrorCode } from '@gateway/contracts/errors.js'
import type { TrafficCounters } from '@gateway/contracts/traffic.js'
import { Durations } from './durations.js'
import { TileTimes } from './tile-times.js'

/**
 * Refusals that are counted as authentication failures, including those of the control plane; the code is the label `reason`.
 */
const AUTH_FAILURES = [
  'token_missing',
  'token_malformed',
  'token_unknown',
  'token_expired',
  'token_disabled',
  'conflicting_tokens',
  'signature_wrong',
  'signature_expired',
  'outside_bounds',
  'origin_not_allowed',
  'network_not_allowed',
  'scope_missing',
  'resource_not_granted',
  'admin_credentials_missing',
  'admin_credentials_wrong',
  'admin_remote_off',
  'admin_host_unknown',
  'cross_site',
] as const satisfies readonly ErrorCode[]
export type AuthFailure = (typeof AUTH_FAILURES)[number]

/**
 * Classes of routes. `tile`: all addresses below /tiles/, WMTS, TMS and OGC API, including their documents; `catalog`: the
 * catalog's lists; `other`: probes, preflights, and requests that are refused by their method or length.
 */
export const REQUEST_KINDS = ['tile', 'download', 'catalog', 'passthrough', 'other'] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

/** Responses by the first digit of their status, and their times to the first byte. */
class Answers {
  success = 0
  redirection = 0
  clientError = 0
  serverError = 0
  readonly durations = new Durations()

  count(status: number): void {
    if (status >= 500) this.serverError++
    else if (status >= 400) this.clientError++
    else if (status >= 300) this.redirection++
    else this.success++
  }
}

/** Counts of one edge process since its start. Plain numbers, because the hot path only adds to them. */
export class Counters {
  requests = 0
  tiles = 0
  missingTiles = 0
  downloads = 0
  passedThrough = 0
  serverErrors = 0
  bytesSent = 0
  /** Requests to the console and its API, and their bytes, among `requests` and `bytesSent`. They are no traffic of maps. */
  adminRequests = 0
  adminBytes = 0
  tokenHits = 0
  tokenMisses = 0
  /** Tiles that were in memory. */
  hotTileHits = 0
  /** Tiles among hotTileHits that the native table sent. */
  nativeTileHits = 0
  /** Tiles that the native tier read from their folder or archive. */
  nativeColdTiles = 0
  /** Tiles that were evicted from JavaScript's cache and from the native table. */
  tileEvictions = 0
  nativeEvictions = 0
  tokenEvictions = 0
  /** See `ReplicaCounts`. */
  replicaReads = 0
  replicaBehind = 0
  replicaFailed = 0
  stalledReaders = 0
  truncatedFiles = 0
  threadedTileLoads = 0
  /** Tiles that a thread, or the reader of MBTiles, had to load first. */
  threadedTiles = 0
  diskRefusals = 0
  rateLimited = 0
  /** Requests that returned 503 because object storage did not answer, or refused. */
  storageRefusals = 0
  /** Tiles of remote archives that were found on this host's disk, and their bytes. */
  remoteTiles = 0
  remoteTileBytes = 0
  /** Requests to object storage, by the first digit of their status; `none`: no response. */
  readonly storageRequests = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 }
  readonly storageDurations = new Durations()
  /** Requests to services of others, likewise. */
  readonly upstreamRequests = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 }
  readonly upstreamDurations = new Durations()
  readonly tileTimes = new TileTimes()
  readonly answers = Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, new Answers()])) as Record<
    RequestKind,
    Answers
  >
  readonly authFailures = Object.fromEntries(AUTH_FAILURES.map((code) => [code, 0])) as Record<AuthFailure, number>

  /** Counts a refusal by its code from this process or the control plane, if it is an authentication failure. */
  countRefusal(code: string): void {
    if (code === 'rate_limited') this.rateLimited++
    else if (Object.hasOwn(this.authFailures, code)) this.authFailures[code as AuthFailure]++
  }

  /** @param status null if there was no response */
  storageRequest(status: number | null, seconds: number): void {
    const known = `${Math.floor((status ?? 0) / 100)}xx` as keyof Counters['storageRequests']
    this.storageRequests[known in this.storageRequests ? known : 'none']++
    this.storageDurations.add(seconds)
  }

  /** @param status null if there was no response */
  upstreamRequest(status: number | null, seconds: number): void {
    const known = `${Math.floor((status ?? 0) / 100)}xx` as keyof Counters['upstreamRequests']
    this.upstreamRequests[known in this.upstreamRequests ? known : 'none']++
    this.upstreamDurations.add(seconds)
  }

  /** Times of the responses that this process itself sends to map clients. */
  #durations(): number[] {
    const { tile, download, catalog } = this.answers
    return tile.durations.counts.map(
      (n, i) => n + (download.durations.counts[i] ?? 0) + (catalog.durations.counts[i] ?? 0),
    )
  }

  /** Called before these numbers are read: adds the counts of requests without JavaScript. */
  beforeReading: () => void = () => {}

  /** Returns the counts that are announced with this process's presence. */
  traffic(): TrafficCounters {
    this.beforeReading()
    // Every browser first requests the console without credentials, in order to learn that it needs them. That is not a
    // failure.
    const { admin_credentials_missing: _, ...failures } = this.authFailures
    return {
      requests: this.requests - this.adminRequests,
      tiles: this.tiles,
      tiles_missing: this.missingTiles,
      memory_hits: this.hotTileHits,
      downloads: this.downloads,
      auth_failures: Object.values(failures).reduce((sum, n) => sum + n, 0),
      server_errors: this.serverErrors,
      bytes_sent: this.bytesSent - this.adminBytes,
      durations: this.#durations(),
    }
  }
}
