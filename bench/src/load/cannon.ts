import autocannon, { type CannonRequest } from 'autocannon'

export interface Shot {
  readonly url: string
  readonly connections: number
  /** the duration; exactly one of these three is set. `amount` is the total number of requests. */
  readonly seconds?: number
  readonly amount?: number
  readonly until?: Promise<void>
  /** requests per second of all connections together */
  readonly rate?: number
  /** sent in rotation; each connection starts at another position */
  readonly requests: readonly CannonRequest[]
}

/** Latencies in milliseconds. */
export interface Hits {
  readonly requests: number
  readonly seconds: number
  readonly bytes: number
  /** broken connections and requests that timed out */
  readonly failures: number
  readonly statuses: Readonly<Record<string, number>>
  readonly p50: number
  readonly p99: number
}

const SAMPLE_MS = 100
/** Duration of a load that is ended otherwise. */
const VERY_LONG_SECONDS = 3_600
/** Limit per connection, since each connection keeps the bytes of its requests. */
const MAX_REQUESTS_OF_A_CONNECTION = 1_000

/** Sends the load with autocannon in this process. Autocannon is slower than the edge and limits the rates; latencies are exact, unlike its own. */
export async function fire(shot: Shot): Promise<Hits> {
  const { url, connections, requests, amount } = shot
  const share = Math.ceil((amount ?? requests.length) / connections)
  let clients = 0
  const startedAt = performance.now()
  let endedAt = startedAt
  let bytes = 0
  const latencies: number[] = []
  const instance = autocannon({
    url,
    connections,
    sampleInt: SAMPLE_MS,
    ...(amount === undefined ? { duration: shot.seconds ?? VERY_LONG_SECONDS } : { amount }),
    ...(shot.rate !== undefined && { overallRate: shot.rate }),
    setupClient: (client) => {
      const from = share * clients++
      const size = Math.min(requests.length, amount === undefined ? MAX_REQUESTS_OF_A_CONNECTION : share)
      client.setRequests(
        Array.from({ length: size }, (_, i) => requests[(from + i) % requests.length] as CannonRequest),
      )
    },
  })
  instance.on('response', (_client: unknown, _status: number, received: number, milliseconds: number) => {
    latencies.push(milliseconds)
    bytes += received
    endedAt = performance.now()
  })
  const [result] = await Promise.all([instance, shot.until?.finally(() => instance.stop())])
  latencies.sort((a, b) => a - b)
  const at = (part: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
  return {
    requests: latencies.length,
    seconds: (endedAt - startedAt) / 1000,
    bytes,
    failures: result.errors + result.timeouts,
    statuses: Object.fromEntries(Object.entries(result.statusCodeStats).map(([code, { count }]) => [code, count])),
    p50: at(0.5),
    p99: at(0.99),
  }
}
