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
  /** peak resident memory of the server's processes so far */
  readonly peakMemory: number
  /** rise of resident memory during this measurement, if it measured that */
  readonly memoryRise?: number
  /** share of the tiles that came from the server's own memory, if it reports that */
  readonly hitRate?: number
  /** processors that other programs used meanwhile, which make a sample doubtful */
  readonly othersBusy: number
}

export interface Context {
  readonly data: DataSet
  readonly generator: Generator
  readonly seconds: number
  readonly cores: Cores | null
  /** directory for files of requests */
  readonly dir: string
  /** the sample does not count, and may be shorter than otherwise allowed */
  readonly isWarmUp?: true
}

export interface Workload {
  readonly name: string
  readonly title: string
  /** configuration of the servers; default: `common` */
  readonly environment?: Environment
  /** null: the workload does not apply to this server */
  measure(peer: RunningPeer, context: Context): Promise<Sample | null>
}

/** Returns the requests of a workload at one server, created at its first use; null: the server cannot serve it. */
export type RequestsFor = (peer: RunningPeer, context: Context) => Promise<readonly Request[] | null>

/** Creates a workload that is one load on one server, and expects one status of every response. */
export function plainLoad(
  name: string,
  title: string,
  options: {
    readonly connections: number
    /** expected status of every response; if there are several, any of them */
    readonly status?: number | readonly number[]
    readonly leastSeconds?: number
    readonly requests: RequestsFor
    readonly environment?: Environment
    /** duration of the same load before each sample, which does not count: fills the memory */
    readonly settleSeconds?: number
    /** Number of requests before a sample, the last load without a 503: the first simultaneous requests of thousands may be refused. */
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
/** Maximum number of loads before a sample. */
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

/** Throws if a response has another status, or a connection broke, so that only correct responses are measured. */
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

/** Runs a load and reads the clocks of the server's processes before and after it. */
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
