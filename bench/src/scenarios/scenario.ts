import type { CannonRequest } from 'autocannon'
import type { DataSet } from '../data/data-set.js'
import { seededRandom } from '../data/random.js'
import { type Address, sampleTraffic } from '../data/traffic.js'
import type { Gateway } from '../gateway/gateway.js'
import { fire, type Shot } from '../load/cannon.js'
import { type Cores, cpuSeconds } from '../machine.js'

export interface Context {
  readonly data: DataSet
  readonly cores: Cores | null
  readonly seconds: number
  /** one edge process with all sources scanned; shared by the scenarios without their own gateway */
  readonly gateway: Gateway
  /** a token that may read everything */
  readonly token: string
}

/** Figures by name; the name contains the unit. */
export type Figures = Readonly<Record<string, number>>

export interface Scenario {
  readonly name: string
  readonly title: string
  run(context: Context): Promise<Figures>
}

const SEED = 7
const WARM_UP_SECONDS = 1
const MIX_REQUESTS = 20_000
export const CONNECTIONS = 32

export function tilePath(basemap: string, { z, x, y }: Address): string {
  return `/tiles/${basemap}/v1/${z}/${x}/${y}.png`
}

export function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

/** Returns paths of the mix in the order in which a map's visitors would request them. */
export function mixPaths(data: DataSet): string[] {
  return sampleTraffic(seededRandom(SEED), data.tiles, MIX_REQUESTS).map((tile) => tilePath('mix', tile))
}

/**
 * Sends a load to the shared gateway and expects this status of all responses; throws otherwise. A second of the same load is the warm-up,
 * unless the number of requests is given, which is for events that happen once.
 */
export async function shoot(
  { gateway, seconds }: Context,
  requests: readonly CannonRequest[],
  options: Partial<Pick<Shot, 'connections' | 'amount'>> & { readonly status?: number } = {},
): Promise<Figures> {
  const { status = 200, ...more } = options
  const shot = { url: gateway.url, connections: CONNECTIONS, requests, ...more }
  if (shot.amount === undefined) await fire({ ...shot, seconds: WARM_UP_SECONDS })
  const pids = gateway.edgePids()
  const before = cpuSeconds(pids)
  const hits = await fire({ ...shot, seconds })
  const cpu = cpuSeconds(pids) - before
  if (hits.failures > 0 || Object.keys(hits.statuses).some((seen) => seen !== String(status))) {
    throw new Error(`answers were ${JSON.stringify(hits.statuses)}, ${hits.failures} requests failed`)
  }
  return {
    'req/s': hits.requests / hits.seconds,
    'MB/s': hits.bytes / hits.seconds / 1e6,
    'cpu s/100k': (cpu / hits.requests) * 100_000,
    'p50 ms': hits.p50,
    'p99 ms': hits.p99,
  }
}
