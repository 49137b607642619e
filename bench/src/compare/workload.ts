import { join } from 'node:path'
import type { DataSet } from '../data/data-set.js'
import { type Generator, type Load, type LoadResult, type Request, writeRequests } from '../load/load.js'
import { busySeconds, type Cores, cpuSeconds, memory, ownCpuSeconds } from '../machine.js'
import type { Environment, RunningPeer } from '../peers/peer.js'

/** One measurement of one server. Latencies in milliseconds, memory in bytes, processor time in seconds. */
export interface Sample {
  readonly requestsPerSecond: number
  readonly cpuPer100k: number
  readonly cpuPerGb: number
  readonly megabytesPerSecond: number
  readonly p50: number
  readonly p99: number
  /** the most resident memory that the server's processes have had so far */
  readonly peakMemory: number
  /** by how much resident memory rose during this measurement, where that is what was measured */
  readonly memoryRise?: number
  /** the part of the tiles that came out of the server's own memory, where it tells */
  readonly hitRate?: number
  /** processors that others kept busy meanwhile: what makes a sample doubtful */
  readonly othersBusy: number
}

export interface Context {
  readonly data: DataSet
  readonly generator: Generator
  readonly seconds: number
  readonly cores: Cores | null
  /** for files of requests */
  readonly dir: string
  /** the sample does not count, and may be shorter than it must be otherwise */
  readonly isWarmUp?: true
}

export interface Workload {
  readonly name: string
  readonly title: string
  /** what the servers are set up with; default: `common` */
  readonly environment?: Environment
  /** null: it does not apply to this server */
  measure(peer: RunningPeer, context: Context): Promise<Sample | null>
}

/** The paths of a workload at one server, made at its first use; null: the server cannot serve it. */
export type RequestsFor = (peer: RunningPeer, context: Context) => Promise<readonly Request[] | null>

/** A workload that is one load on one server, every answer of which has the expected status. */
export function plainLoad(
  name: string,
  title: string,
  options: {
    readonly connections: number
    /** of every answer; of several any */
    readonly status?: number | readonly number[]
    readonly leastSeconds?: number
    readonly requests: RequestsFor
    readonly environment?: Environment
    /** of the same load before each sample, which do not count: for what must first find its way into memory */
    readonly settleSeconds?: number
    /** So many are answered before, and none of the last load with 503: what thousands ask for at once for the first time may be refused. */
    readonly settleRequests?: number
    /** called before each sample */
    readonly prepare?: (context: Context) => void
  },
): Workload {
  const file = requestFile(name, options.requests)
  const {
    connections,
    status = 200,
    leastSeconds = 0,
    settleSeconds = 0,
    settleRequests = 0,
    environment,
    prepare,
  } = options
  return {
    name,
    title,
    ...(environment && { environment }),
    async measure(peer, context) {
      const requests = await file(peer, context)
      if (requests === null) return null
      const run = (seconds: number, more: readonly number[] = []) =>
        load(peer, { ...context, seconds }, { requests, connections }, [status, more].flat())
      prepare?.(context)
      if (settleRequests > 0) await settle(() => run(settleSeconds, [UNAVAILABLE]), settleRequests)
      else if (settleSeconds > 0 && !context.isWarmUp) await run(settleSeconds)
      const before = await peer.tileCounts?.()
      const sample = await measured(peer, () => run(secondsOf(context, leastSeconds)))
      const after = await peer.tileCounts?.()
      if (before === undefined || after === undefined || after.tiles === before.tiles) return sample
      return { ...sample, hitRate: (after.hits - before.hits) / (after.tiles - before.tiles) }
    },
  }
}

const UNAVAILABLE = 503
/** Limit: loads before a sample. */
const SETTLE_ATTEMPTS = 20

async function settle(run: () => Promise<LoadResult>, requests: number): Promise<void> {
  let answered = 0
  for (let attempt = 0; attempt < SETTLE_ATTEMPTS; attempt++) {
    const { statuses, requests: all } = await run()
    const refused = statuses[UNAVAILABLE] ?? 0
    answered += all - refused
    if (refused === 0 && answered >= requests) return
  }
  throw new Error(`it did not settle in ${SETTLE_ATTEMPTS} loads: ${answered} of ${requests} requests were answered`)
}

export function secondsOf({ seconds, isWarmUp }: Context, least: number): number {
  return isWarmUp ? seconds : Math.max(seconds, least)
}

/** Writes the file of requests of each server once. */
export function requestFile(
  name: string,
  requests: RequestsFor,
): (peer: RunningPeer, context: Context) => Promise<string | null> {
  const files = new Map<string, Promise<string | null>>()
  return (peer, context) => {
    const known = files.get(peer.name)
    if (known !== undefined) return known
    const made = requests(peer, context).then((list) =>
      list === null ? null : writeRequests(join(context.dir, `${name}-${peer.name}`), list),
    )
    files.set(peer.name, made)
    return made
  }
}

/** Throws where an answer has another status, or a connection broke: what is not right is not measured. */
export async function load(
  peer: RunningPeer,
  context: Context,
  what: Pick<Load, 'requests' | 'connections' | 'rate'>,
  status: number | readonly number[] = 200,
): Promise<LoadResult> {
  const { generator, seconds, cores } = context
  const result = await generator({
    port: peer.port,
    isEncrypted: peer.isEncrypted ?? false,
    seconds,
    core: cores?.load,
    ...what,
  })
  const expected = [status].flat().map(String)
  if (Object.keys(result.statuses).some((seen) => !expected.includes(seen)) || result.failures > 0) {
    throw new Error(`${peer.name} answered ${JSON.stringify(result.statuses)}, ${result.failures} connections broke`)
  }
  return result
}

/** Wraps a load in looks at the clocks of the server's processes. */
export async function measured(peer: RunningPeer, run: () => Promise<LoadResult>): Promise<Sample> {
  const pids = peer.pids()
  const before = { server: cpuSeconds(pids), own: ownCpuSeconds(), busy: busySeconds(), at: performance.now() }
  const result = await run()
  const elapsed = (performance.now() - before.at) / 1000
  const server = cpuSeconds(pids) - before.server
  const others = busySeconds() - before.busy - server - (ownCpuSeconds() - before.own)
  return {
    requestsPerSecond: result.requests / result.seconds,
    cpuPer100k: (server / result.requests) * 100_000,
    cpuPerGb: (server / result.bytes) * 1e9,
    megabytesPerSecond: result.bytes / result.seconds / 1e6,
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    peakMemory: memory(pids, 'peak'),
    othersBusy: Math.max(0, others / elapsed),
  }
}
