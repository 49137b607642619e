import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  buildFolders,
  buildSkipped,
  claimBuild,
  skipBuilds,
  VECTOR_BUILDS_CHANNEL,
} from '@gateway/store/vector-builds.js'
import { POLL_MS, runQueue } from '../jobs/run-queue.js'
import { runWork, type Work } from '../jobs/runner.js'
import type { BackgroundLoop } from '../platform/background.js'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish } from '../platform/edges/commit.js'
import { runBuild } from './run-build.js'

/** Time in ms after which a build no longer holds up the others of its lane: one of them runs at the same time. */
const PATIENCE_MS = 20_000

/** The start of the running build of each lane by `performance.now()`; null: none runs. */
interface Lanes {
  small: number | null
  large: number | null
}

/**
 * Builds vector tiles: small files in one lane, and large files in another, so that small ones do not wait. A third lane takes the files of a lane
 * whose build takes long, since that build may hang until it meets its limits.
 */
export const vectorBuildLoop: BackgroundLoop = {
  name: 'vector builds',
  async run(ctx) {
    if (!ctx.settings.vectorTiles) return runWork(ctx, skipping(ctx))
    const lanes: Lanes = { small: null, large: null }
    await Promise.all([runLane(ctx, lanes, 'small'), runLane(ctx, lanes, 'large'), runLane(ctx, lanes, 'extra')])
  },
}

const LANE_NAMES = {
  small: 'builds of small vectors',
  large: 'builds of large vectors',
  extra: 'builds next to long ones',
} as const

function runLane(ctx: ControlContext, lanes: Lanes, lane: keyof typeof LANE_NAMES): Promise<void> {
  let hasResumed = false
  return runQueue(ctx, {
    name: LANE_NAMES[lane],
    channel: VECTOR_BUILDS_CHANNEL,
    claim: async (owner, leaseSeconds) => {
      if (!hasResumed) await announcing(ctx, buildSkipped)
      hasResumed = true
      for (const isSmall of lane === 'extra' ? heldUp(lanes) : [lane === 'small']) {
        const claimed = await claimBuild(ctx.sql, owner, leaseSeconds, isSmall)
        if (claimed !== null) return claimed
      }
      return null
    },
    run: async (claimed, { held }) => {
      if (lane !== 'extra') lanes[lane] = performance.now()
      try {
        await runBuild(ctx, claimed, held)
      } finally {
        if (lane !== 'extra') lanes[lane] = null
      }
    },
  })
}

/** Returns the lanes whose build takes long, as arguments of `claimBuild`. */
function heldUp({ small, large }: Lanes): boolean[] {
  const isLong = (since: number | null) => since !== null && performance.now() - since > PATIENCE_MS
  return [...(isLong(small) ? [true] : []), ...(isLong(large) ? [false] : [])]
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

/** Time in ms for which an edge that has not applied the change yet may read an old build after the next one is ready. */
const GRACE_MS = 600_000

/** Removes builds that are no longer served, after a grace. */
export async function removeOldBuilds({ sql, settings, now }: ControlContext): Promise<void> {
  const root = settings.vectorBuildRoot
  for (const code of await namesIn(root)) {
    for (const name of await namesIn(join(root, code))) {
      const folder = join(root, code, name)
      const touched = (await stat(folder).catch(() => null))?.ctimeMs
      if (touched === undefined || touched > now() - GRACE_MS) continue
      // Read again for each folder: its build may have become the served one meanwhile.
      const served = await buildFolders(sql)
      if (!served.has(folder) && !(name.endsWith('.tmp') && touched > now() - 25 * 3_600_000))
        await rm(folder, { recursive: true, force: true })
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}
