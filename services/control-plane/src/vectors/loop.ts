import { randomUUID } from 'node:crypto'
import {
  type BuildLease,
  buildSkipped,
  claimBuild,
  renewBuild,
  skipBuilds,
  VECTOR_BUILDS_CHANNEL,
} from '@gateway/store/vector-builds.js'
import { LeaseKeeper, type LeaseTimes } from '../jobs/leases.js'
import { runWork, type Work } from '../jobs/runner.js'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish } from '../platform/edges/commit.js'
import { runBuild } from './run-build.js'

/** A build whose builder died is found at the latest this long after its lease has expired; a new one is announced. */
const POLL_MS = 5000

/** A vector that changes ends its build with the next renewal. */
const LEASE: LeaseTimes = { leaseSeconds: 12, renewMs: 2000 }

/** Builds vector tiles: small files in one lane, and large ones in another, so that the small ones need not wait. */
export const vectorBuildLoop: BackgroundLoop = {
  name: 'vector builds',
  async run(ctx) {
    if (!ctx.settings.vectorTiles) return runWork(ctx, skipping(ctx))
    await Promise.all([runWork(ctx, lane(ctx, true)), runWork(ctx, lane(ctx, false))])
  },
}

function lane(ctx: ControlContext, isSmall: boolean): Work {
  const { sql, shutdown } = ctx
  const owner = randomUUID()
  let hasResumed = false
  const claim = async () => {
    if (!hasResumed) await announcing(ctx, buildSkipped)
    hasResumed = true
    const claimedAt = performance.now()
    const claimed = await claimBuild(sql, owner, LEASE.leaseSeconds, isSmall)
    if (claimed === null) return false
    const keeper = new LeaseKeeper<BuildLease>(LEASE, async () => {
      const kept = await renewBuild(sql, claimed.lease, LEASE.leaseSeconds)
      return new Set(kept ? [claimed.lease.id] : [])
    })
    const stop = () => keeper.stopAll()
    const held = keeper.hold(claimed.lease, claimedAt)
    shutdown.addEventListener('abort', stop)
    if (shutdown.aborted) stop()
    try {
      await runBuild(ctx, claimed, held)
    } finally {
      shutdown.removeEventListener('abort', stop)
      keeper.close()
    }
    return true
  }
  const name = isSmall ? 'builds of small vectors' : 'builds of large vectors'
  return { name, channel: VECTOR_BUILDS_CHANNEL, claim, msToNext: async () => POLL_MS }
}

/** With VECTOR_TILES=false no vector has tiles, and none waits for them. */
function skipping(ctx: ControlContext): Work {
  const claim = async () => {
    await announcing(ctx, skipBuilds)
    return false
  }
  return { name: 'vector builds', channel: VECTOR_BUILDS_CHANNEL, claim, msToNext: async () => POLL_MS }
}

async function announcing(ctx: ControlContext, change: typeof skipBuilds): Promise<void> {
  await commitAndPublish(ctx, async (tx) => {
    const codes = await change(tx)
    return { result: null, changes: codes.map((key) => ({ kind: 'vector', key })) }
  })
}
