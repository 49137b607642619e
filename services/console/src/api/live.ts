import type { LiveTopic } from '@gateway/contracts/console.js'
import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { setLiveState } from './live-state.js'
import { trafficQuery } from './system.js'

/** The queries that show a topic, by the first part of their keys. */
const SHOWN_IN: Readonly<Record<LiveTopic, readonly string[]>> = {
  catalog: ['basemaps', 'default-history', 'vectors', 'styles', 'tokens', 'dashboard'],
  canaries: ['default-history'],
  scans: ['scan-sources', 'dashboard'],
  deliveries: ['pushes', 'notifications', 'dashboard', 'slicing'],
  exports: ['exports'],
  seeds: ['seeds'],
  slicing: ['slicing', 'dashboard'],
  edges: ['edges'],
  traffic: [],
  usage: ['usage', 'tokens'],
  audit: ['audit', 'default-history', 'dashboard', 'tokens', 'scan-sources', 'targets', 'pushes', 'slicing'],
}
const ALL = [...Object.values(SHOWN_IN).flat(), 'traffic']

/**
 * The traffic of the last hour comes with the stream; longer ranges, and those of one process, have longer intervals between points and are read this
 * often.
 */
const READ_TRAFFIC_EVERY_MS = 60_000

/** Limit: points of the last hour; one stands for half a minute. */
const HOUR_POINTS = 121

/** The last hour with its newest point: it replaces that of the same span, or follows it. */
export function withNewest(known: TrafficHistory, { since, points, edges }: TrafficHistory): TrafficHistory {
  const [newest] = points
  const before = known.points.filter(({ at }) => at !== newest?.at)
  return { since, edges, points: [...before, ...points].slice(-HOUR_POINTS) }
}

/** Refetches the visible queries of these names; with `none`, when they are next visible. Never rejects. */
export async function refresh(
  queries: QueryClient,
  names: readonly string[],
  refetchType: 'active' | 'none' = 'active',
): Promise<void> {
  await Promise.all([...new Set(names)].map((name) => queries.invalidateQueries({ queryKey: [name], refetchType })))
}

/** Time after which a stream that the server refused is requested again. The browser itself repairs other breaks. */
const RECONNECT_MS = 5_000
/** Time after which a background tab closes its stream: browsers open only six connections to one server over all tabs. */
const HIDDEN_FOR_MS = 30_000
/** An open stream does not prove that the line works, so the service sends `alive` every second. */
const SILENT_FOR_MS = 2_500
/** Interval of probes while the stream does not prove that the service is there. */
const PROBE_EVERY_MS = 1_200
/** Longer than a slow service takes to answer. */
const PROBE_TIMEOUT_MS = 3_000
/** The control plane serves this path without credentials and without its database. */
const PROBED = '/api/v1/system'

/** Keeps every query of the page up to date, and `useLiveState` true. @param after the first page is not kept waiting for it */
export function useLive(after?: Promise<void>): void {
  const queries = useQueryClient()
  useEffect(() => {
    let live: Live | null = null
    let isClosed = false
    const begin = () => {
      if (!isClosed) live = new Live(queries)
    }
    if (after === undefined) begin()
    else void after.then(begin)
    return () => {
      isClosed = true
      live?.close()
    }
  }, [queries, after])
}

/** `late`: no response within `PROBE_TIMEOUT_MS`; `failed`: no connection, or an error of a proxy in between. */
type Probe = 'answered' | 'late' | 'failed'

async function probe(): Promise<Probe> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  return fetch(PROBED, { method: 'HEAD', cache: 'no-store', priority: 'high', signal }).then(
    ({ status }) => (status < 500 ? 'answered' : 'failed'),
    () => (signal.aborted ? 'late' : 'failed'),
  )
}

/** True if the control plane responds, through all proxies in between. */
export async function isReachable(): Promise<boolean> {
  return (await probe()) === 'answered'
}

/** Key of the query that the stream keeps up to date. */
const HOUR = trafficQuery('hour').queryKey

class Live {
  readonly #queries: QueryClient
  readonly #closed = new AbortController()
  #source: EventSource | null = null
  #last: Probe = 'answered'
  #watching = false
  #probing = false
  #probeTimer: number | undefined
  #streamTimer: number | undefined
  #trafficReadAt = performance.now()
  #heardAt = 0

  constructor(queries: QueryClient) {
    this.#queries = queries
    const { signal } = this.#closed
    document.addEventListener('visibilitychange', () => this.#onVisibility(), { signal })
    for (const event of ['online', 'offline']) window.addEventListener(event, () => void this.#probe(), { signal })
    this.#connect()
    // The stream itself is the first proof.
    this.#probeAfter(SILENT_FOR_MS)
  }

  close(): void {
    this.#closed.abort()
    window.clearTimeout(this.#probeTimer)
    window.clearTimeout(this.#streamTimer)
    this.#source?.close()
  }

  #connect(): void {
    window.clearTimeout(this.#streamTimer)
    this.#source?.close()
    this.#watching = false
    this.#source = new EventSource('/api/v1/admin/dashboard/live')
    this.#source.addEventListener('alive', () => this.#heard())
    this.#source.addEventListener('watching', () => {
      this.#watching = true
      // A new stream is a new connection.
      this.#last = 'answered'
      this.#heard()
      // Changes may have happened while there was no stream, or since the page began to read.
      for (const name of new Set(ALL)) this.#refreshOnce(name)
      this.#publish()
    })
    this.#source.addEventListener('touched', ({ data }) => {
      const topics = JSON.parse(data) as LiveTopic[]
      void refresh(
        this.#queries,
        topics.flatMap((topic) => SHOWN_IN[topic] ?? []),
      )
    })
    this.#source.addEventListener('traffic', ({ data }) => this.#onTraffic(JSON.parse(data) as TrafficHistory))
    this.#source.addEventListener('error', () => {
      this.#watching = false
      // The session may have ended, which an event stream does not report.
      void refresh(this.#queries, ['session'])
      if (this.#source?.readyState === EventSource.CLOSED) this.#connectLater(RECONNECT_MS)
      void this.#probe()
    })
  }

  #onTraffic(newest: TrafficHistory): void {
    this.#queries.setQueryData<TrafficHistory>(HOUR, (known) => known && withNewest(known, newest))
    if (performance.now() - this.#trafficReadAt < READ_TRAFFIC_EVERY_MS) return
    this.#trafficReadAt = performance.now()
    void this.#queries.invalidateQueries({
      queryKey: ['traffic'],
      predicate: ({ queryKey }) => queryKey[1] !== HOUR[1],
    })
  }

  /** Lets a read under way finish first: a read that is cancelled and begun again would take twice as long on a slow line. */
  #refreshOnce(name: string): void {
    for (const { queryKey, promise, state } of this.#queries.getQueryCache().findAll({ queryKey: [name] })) {
      const before = state.fetchStatus === 'fetching' ? promise : undefined
      const again = () => this.#queries.invalidateQueries({ queryKey, exact: true })
      void Promise.resolve(before).then(again, again)
    }
  }

  #disconnect(): void {
    this.#source?.close()
    this.#watching = false
    this.#publish()
  }

  #connectLater(ms: number): void {
    window.clearTimeout(this.#streamTimer)
    this.#streamTimer = window.setTimeout(() => this.#connect(), ms)
  }

  /**
   * The stream proves that the service is there, even if a probe has taken too long. Nothing is probed until it falls silent. After a probe that failed
   * it proves nothing: an old connection may outlive the way for new ones, by which changes are sent.
   */
  #heard(): void {
    if (!this.#watching || this.#last === 'failed') return
    this.#heardAt = performance.now()
    this.#probeAfter(SILENT_FOR_MS)
    if (this.#last === 'answered') return
    this.#last = 'answered'
    this.#publish()
  }

  #probeAfter(ms: number): void {
    window.clearTimeout(this.#probeTimer)
    this.#probeTimer = window.setTimeout(() => void this.#probe(), ms)
  }

  async #probe(): Promise<void> {
    if (this.#probing) return
    this.#probing = true
    window.clearTimeout(this.#probeTimer)
    const begun = performance.now()
    const result = await probe()
    this.#probing = false
    if (this.#closed.signal.aborted || (result !== 'failed' && this.#heardAt > begun)) return
    // The previous stream may be dead without an event.
    if (result === 'answered' && this.#last !== 'answered') this.#connect()
    this.#last = result
    this.#publish()
    if (!document.hidden) this.#probeAfter(PROBE_EVERY_MS)
  }

  #onVisibility(): void {
    window.clearTimeout(this.#streamTimer)
    if (document.hidden) {
      this.#streamTimer = window.setTimeout(() => this.#disconnect(), HIDDEN_FOR_MS)
      return
    }
    if (this.#source?.readyState !== EventSource.OPEN) this.#connect()
    void this.#probe()
  }

  #publish(): void {
    setLiveState(this.#last !== 'answered' ? 'away' : this.#watching ? 'live' : 'connecting')
  }
}
