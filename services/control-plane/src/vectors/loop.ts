import { buildSkipped, claimBuild, skipBuilds, VECTOR_BUILDS_CHANNEL } from '@gateway/store/vector-builds.js'
import { POLL_MS, runQueue } from '../jobs/run-queue.js'
import { runWork, type Work } from '../jobs/runner.js'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish } from '../platform/edges/commit.js'
import { runBuild } from './run-build.js'

/** Builds vector tiles: small files in one lane, and large files in another, so that small ones do not wait. */
export const vectorBuildLoop: BackgroundLoop = {
  name: 'vector builds',
  async run(ctx) {
    if (!ctx.settings.vectorTiles) return runWork(ctx, skipping(ctx))
    await Promise.all([runLane(ctx, true), runLane(ctx, false)])
  },
}

function runLane(ctx: ControlContext, isSmall: boolean): Promise<void> {
  let hasResumed = false
  return runQueue(ctx, {
    name: isSmall ? 'builds of small vectors' : 'builds of large vectors',
    channel: VECTOR_BUILDS_CHANNEL,
    claim: async (owner, leaseSeconds) => {
      if (!hasResumed) await announcing(ctx, buildSkipped)
      hasResumed = true
      return claimBuild(ctx.sql, owner, leaseSeconds, isSmall)
    },
    run: (claimed, { held }) => runBuild(ctx, claimed, held),
  })
}

/** Completes all builds without tiles, since no vector has tiles with VECTOR_TILES=false. */
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
