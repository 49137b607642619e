import { setTimeout as sleep } from 'node:timers/promises'
import { beginHistories } from '@gateway/store/default-history.js'
import { readCanaries, readNextSwitch } from '@gateway/store/default-switches.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish } from '../../platform/edges/commit.js'
import { beginSwitch, continueCanary } from './default-switch-steps.js'

/** Interval of reading the next switch, which another control plane may have planned. */
const LOOK_EVERY_MS = 500

/** Makes versions the default at their planned time. Every control plane tries, and the first one to end a pending switch makes it. */
export const switchLoop: BackgroundLoop = {
  name: 'switches of default versions',
  async run(ctx) {
    await beginHistories(ctx.sql).catch((error: Error) => {
      ctx.log.warn(
        { err: error.message },
        'the history of the default versions cannot be started now; the next change starts it',
      )
    })
    while (!ctx.shutdown.aborted) {
      const waitMs = await makeNextStep(ctx).catch((error: Error) => {
        ctx.log.warn({ err: error.message }, 'a switch of a default version cannot be made now')
        return LOOK_EVERY_MS
      })
      await sleep(waitMs, undefined, { signal: ctx.shutdown }).catch(() => {})
    }
  },
}

async function makeNextStep(ctx: ControlContext): Promise<number> {
  await continueCanaries(ctx)
  return await makeNextSwitch(ctx)
}

/** Makes the pending switch with the earliest time, if that has come. Returns the milliseconds until the next look. */
export async function makeNextSwitch(ctx: ControlContext): Promise<number> {
  const next = await readNextSwitch(ctx.sql)
  if (next === null) return LOOK_EVERY_MS
  const leftMs = next.at.getTime() - ctx.now()
  if (leftMs > 0) return Math.min(leftMs, LOOK_EVERY_MS)
  await commitAndPublish(ctx, async (tx) => ({ result: null, changes: await beginSwitch(tx, next) }))
  return 0
}

/** Ends canaries that are worse, or whose time has ended. */
export async function continueCanaries(ctx: ControlContext): Promise<void> {
  for (const running of await readCanaries(ctx.sql)) {
    await commitAndPublish(ctx, async (tx) => ({
      result: null,
      changes: await continueCanary(tx, running, ctx.now(), ctx.settings.canaryToleranceShare),
    }))
  }
}
