import type { Environment, RunningPeer } from '../peers/peer.js'
import type { Taken } from './summary.js'
import type { Context, Sample, Workload } from './workload.js'

/** Processors in use by other programs above which a sample is repeated, in the hope of a quieter moment. */
const QUIET = 0.15
const ATTEMPTS = 2
/** Duration of the warm-up, which fills caches, opens files, and lets JIT compilers optimize. */
const WARM_UP_SECONDS = 1

/** The running servers by environment. */
export type Running = ReadonlyMap<Environment, readonly RunningPeer[]>

/** Measures every workload at every server of its environment, in rounds of alternating order, after a warm-up round that does not count. */
export async function takeRounds(
  running: Running,
  workloads: readonly Workload[],
  context: Context,
  rounds: number,
): Promise<Taken[]> {
  const taken: Taken[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const workload of workloads) {
      const peers = running.get(workload.environment ?? 'common') ?? []
      for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
        if (round === 0) {
          await workload.measure(peer, { ...context, seconds: WARM_UP_SECONDS, isWarmUp: true })
          continue
        }
        const sample = await quietest(() => workload.measure(peer, context))
        if (sample !== null) taken.push({ workload: workload.name, peer: peer.name, round, ...sample })
      }
    }
    process.stderr.write(round === 0 ? 'Warmed up.\n' : `Round ${round} of ${rounds} is done.\n`)
  }
  return taken
}

async function quietest(measure: () => Promise<Sample | null>): Promise<Sample | null> {
  let best: Sample | null = null
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const sample = await measure()
    if (sample === null) return null
    if (best === null || sample.othersBusy < best.othersBusy) best = sample
    if (best.othersBusy <= QUIET) break
  }
  return best
}
