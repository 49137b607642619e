import { setTimeout } from 'node:timers/promises'
import type { IssuedToken } from '@gateway/contracts/token.js'
import { type Gateway, startGateway } from '../gateway/gateway.js'
import { fire } from '../load/cannon.js'
import { type Probe, probeEachProcess } from './probe.js'
import { bearer, type Context, type Figures, mixPaths, type Scenario, tilePath } from './scenario.js'

const PROCESSES = 4
const DISABLES = 120
/** Number of first disables that do not count, because new processes still compile their code. */
const WARM_UP = 20
/** Valid traffic meanwhile: enough that no process is idle, little enough not to saturate a small machine. */
const LOAD_RATE = 1_000
const LOAD_CONNECTIONS = 16
/** Pause between two requests to one process: four clients without a pause would distort the measurement. */
const PROBE_PAUSE_MS = 1

export const disableByNotify = disableScenario('disable-notify', 'Postgres NOTIFY', false)
export const disableByRedis = disableScenario('disable-redis', 'Redis', true)

function disableScenario(name: string, bus: string, redis: boolean): Scenario {
  return {
    name,
    title: `a token disabled under load, until the last of ${PROCESSES} processes refuses it, over ${bus}`,
    async run(context) {
      // Four processes may use all processors.
      const options = { workers: PROCESSES, cores: null, basemaps: [context.data.basemaps], redis }
      const gateway = await startGateway(options)
      try {
        return await disableMany(gateway, context)
      } finally {
        await gateway.stop()
      }
    },
  }
}

/** Times of one disable, in milliseconds since its call. */
interface Disabled {
  /** time until the last process refused the token */
  readonly refused: number
  /** time until the response to the call */
  readonly answered: number
  /** processes that accepted the token in a request sent after the response: a breach */
  readonly tooLate: number
  /** processes that the response does not list as confirmed */
  readonly pending: number
}

async function disableMany(gateway: Gateway, { data }: Context): Promise<Figures> {
  const valid = await gateway.admin.issueToken()
  const tokens = await gateway.admin.issueTokens(WARM_UP + DISABLES)
  const probes = await probeEachProcess(gateway)
  const path = tilePath('mix', data.hotTile)
  const all: Disabled[] = []
  const disabling = async (): Promise<void> => {
    for (const token of tokens) all.push(await disableOnce(gateway, probes, path, token))
  }
  await fire({
    url: gateway.url,
    connections: LOAD_CONNECTIONS,
    rate: LOAD_RATE,
    until: disabling(),
    requests: mixPaths(data).map((tile) => ({ path: tile, headers: bearer(valid.token) })),
  })
  for (const probe of probes) probe.close()
  const results = all.slice(WARM_UP)
  const sorted = (figure: keyof Disabled): number[] => results.map((one) => one[figure]).toSorted((a, b) => a - b)
  const sum = (figure: keyof Disabled): number => results.reduce((total, one) => total + one[figure], 0)
  const at = (values: readonly number[], share: number): number =>
    values[Math.ceil(values.length * share) - 1] as number
  return {
    'p50 ms': at(sorted('refused'), 0.5),
    'p99 ms': at(sorted('refused'), 0.99),
    'worst ms': at(sorted('refused'), 1),
    'call p50 ms': at(sorted('answered'), 0.5),
    'call p99 ms': at(sorted('answered'), 0.99),
    'accepted too late': sum('tooLate'),
    'not confirmed': sum('pending'),
    disables: results.length,
  }
}

async function disableOnce(
  gateway: Gateway,
  probes: readonly Probe[],
  path: string,
  { id, token }: IssuedToken,
): Promise<Disabled> {
  for (const probe of probes) {
    const status = await probe.ask(path, token)
    if (status !== 200) throw new Error(`a fresh token was answered with ${status}`)
  }
  const calledAt = performance.now()
  let answeredAt = Number.POSITIVE_INFINITY
  const call = gateway.admin.disableToken(id).then((answer) => {
    answeredAt = performance.now()
    return answer
  })
  const seen = await Promise.all(
    probes.map(async (probe) => {
      let tooLate = 0
      for (;;) {
        const askedAt = performance.now()
        if ((await probe.ask(path, token)) === 401) return { refusedAt: performance.now(), tooLate }
        if (askedAt > answeredAt) tooLate = 1
        await setTimeout(PROBE_PAUSE_MS)
      }
    }),
  )
  const answer = await call
  return {
    refused: Math.max(...seen.map(({ refusedAt }) => refusedAt)) - calledAt,
    answered: answeredAt - calledAt,
    tooLate: seen.reduce((sum, one) => sum + one.tooLate, 0),
    pending: answer.pending.length,
  }
}
