import { setTimeout as sleep } from 'node:timers/promises'
import { beginHistories } from '@gateway/store/default-history.js'
import { readCanaries, readNextSwitch } from '@gateway/store/default-switches.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish } from '../../platform/edges/commit.js'
import { beginSwitch, continueCanary } from './switch-steps.js'

/** How often the next switch is read: one that was planned by another control plane is known so soon. */
const LOOK_EVERY_MS = 500

/** Makes versions the default when their time has come. Every control plane tries; the first one to end a pending switch makes it. */
export const switchLoop: BackgroundLoop = {
  name: 'switches of default versions',
  async run(ctx) {
    await beginHistories(ctx.sql).catch((error: Error) => {
      ctx.log.warn({ err: error.message }, 'the history of defaults is begun by their next change')
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

/** Makes the switch whose time has come first, if there is one; answers after how many milliseconds to look again. */
export async function makeNextSwitch(ctx: ControlContext): Promise<number> {
  const next = await readNextSwitch(ctx.sql)
  if (next === null) return LOOK_EVERY_MS
  const leftMs = next.at.getTime() - ctx.now()
  if (leftMs > 0) return Math.min(leftMs, LOOK_EVERY_MS)
  await commitAndPublish(ctx, async (tx) => ({ result: null, changes: await beginSwitch(tx, next) }))
  return 0
}

/** Ends the canaries that are worse, or whose time is over. */
export async function continueCanaries(ctx: ControlContext): Promise<void> {
  for (const running of await readCanaries(ctx.sql)) {
    await commitAndPublish(ctx, async (tx) => ({
      result: null,
      changes: await continueCanary(tx, running, ctx.now(), ctx.settings.canaryToleranceShare),
    }))
  }
}
